/**
 * The end of an output: indexes of the chunks of rows, then what the template says of the first input. Its beginning, the
 * superblock, names the places of both. All of it follows from the spec and from the chunks that are there.
 */
import { VerificationError } from '../../errors.js';
import { lookup3 } from './checksums.js';
import { ChunkTree, type TreeEntry } from './chunk-tree.js';
import { encodeChunk } from './filters.js';
import { encodeShape, readFilters } from './messages.js';
import { HDF5_SIGNATURE, MESSAGE } from './object-header.js';
import { gridOf, type RowsDataset } from './rows-spec.js';
import { type StagedRows, storedUnits } from './stored-units.js';
import type { Piece, Template, TemplateMessage, TemplateObject } from './template.js';

export const SUPERBLOCK_BYTES = 48;
const NO_ADDRESS = 2n ** 64n - 1n;
/** A heap has entries with numbers of 16 bits. */
const MOST_HEAP_ENTRIES = 60_000;
const LEAST_HEAP_BYTES = 4096;
const HEAP_HEAD_BYTES = 16;

export interface FileEnd {
  readonly superblock: Uint8Array;
  pieces(): Generator<Uint8Array, void>;
}

export function fileEndOf(
  datasets: readonly RowsDataset[],
  template: Template,
  staged: Omit<StagedRows, 'headerBytes'>,
): FileEnd {
  return new EndMaker(template, rowsOf(datasets, staged), staged.byteLength).make();
}

/** The rows of a dataset in the file. */
interface WrittenDataset {
  readonly dataset: RowsDataset;
  readonly rows: number;
  readonly addresses: Float64Array;
  readonly chunkBytes: Float64Array;
}

function rowsOf(datasets: readonly RowsDataset[], staged: Omit<StagedRows, 'headerBytes'>): readonly WrittenDataset[] {
  const units = storedUnits({ ...staged, headerBytes: SUPERBLOCK_BYTES });
  const rows = units.reduce((sum, unit) => sum + unit.rows, 0);
  const chunksIn = (dataset: RowsDataset, count: number) =>
    gridOf(dataset).reduce((product, length) => product * length, Math.ceil(count / (dataset.chunkLengths[0] ?? 1)));
  const written = datasets.map((dataset) => {
    const count = units.reduce((sum, unit) => sum + chunksIn(dataset, unit.rows), 0);
    return { dataset, rows, addresses: new Float64Array(count), chunkBytes: new Float64Array(count) };
  });
  const next = datasets.map(() => 0);
  for (const { start, rows: unitRows, chunkBytes } of units) {
    let [address, chunk] = [start, 0];
    for (const [i, each] of written.entries()) {
      for (let left = chunksIn(each.dataset, unitRows); left > 0; left--) {
        const byteLength = chunkBytes[chunk++] ?? 0;
        const at = next[i] ?? 0;
        each.addresses[at] = address;
        each.chunkBytes[at] = byteLength;
        next[i] = at + 1;
        address += byteLength;
      }
    }
    if (chunk !== chunkBytes.length)
      throw new VerificationError(
        `${staged.path}: ${unitRows} rows have ${chunkBytes.length} chunks, expected ${chunk}`,
      );
  }
  return written;
}

interface PlacedChunks {
  readonly tree: ChunkTree | undefined;
  readonly lengths: readonly number[];
  readonly elementBytes: number;
}

class EndMaker {
  readonly #template: Template;
  readonly #rows: readonly WrittenDataset[];
  #end: number;
  readonly #trees: ChunkTree[] = [];
  readonly #heapPlaces: { readonly address: number; readonly index: number }[] = [];
  readonly #objectPlaces: number[] = [];

  constructor(template: Template, rows: readonly WrittenDataset[], start: number) {
    this.#template = template;
    this.#rows = rows;
    this.#end = start;
  }

  make(): FileEnd {
    const { objects, heap } = this.#template;
    const rowTrees = this.#rows.map((rows) => this.#placeRows(rows));
    const copied = objects.map((object) => copiedChunks(object));
    const copiedTrees = copied.map(
      (chunks) => chunks && this.#placeTree(chunks.entries.length, chunks, (i) => chunks.entries[i]),
    );
    const heaps = collectionsOf(heap);
    const heapStart = this.#end;
    for (const { first, entries, byteLength } of heaps) {
      for (const [i] of entries.entries()) this.#heapPlaces[first + i] = { address: this.#end, index: i + 1 };
      this.#end += byteLength;
    }
    const linkCounts = linkCountsOf(objects);
    const messagesOf = objects.map((object, i) => {
      const at = object.rows;
      const [rows, tree] = at === undefined ? [] : [this.#rows[at], rowTrees[at]];
      return { object, rows, placed: tree ?? copiedTrees[i], linkCount: linkCounts.get(i) ?? 1 };
    });
    const sizes = messagesOf.map((each) => headerBytesOf(each.object, messagesOfObject(each, 0)));
    const objectStart = this.#end;
    for (const size of sizes) {
      this.#objectPlaces.push(this.#end);
      this.#end += size;
    }
    // Data come last: chunks with addresses in them have another length when these are known.
    const data: Uint8Array[] = [];
    const put = (bytes: Uint8Array) => {
      const address = this.#end;
      data.push(bytes);
      this.#end += bytes.byteLength;
      return address;
    };
    const dataAt = objects.map((object, i) => {
      const chunks = copied[i];
      for (const [n, entry] of (chunks?.entries ?? []).entries()) {
        const piece = chunks?.pieces[n];
        if (piece === undefined || chunks === undefined) continue;
        const bytes = this.#patched(piece);
        const stored = piece.patches === undefined ? bytes : encodeChunk(bytes, chunks.filters);
        entry.byteLength = stored.byteLength;
        entry.address = put(stored);
      }
      return object.data?.kind === 'contiguous' ? put(this.#patched(object.data.bytes)) : 0;
    });
    const headers = messagesOf.map((each, i) => this.#header(each.object, messagesOfObject(each, dataAt[i] ?? 0)));
    const trees = this.#trees;
    const heapBytes = heaps.map((collection) => this.#collection(collection));
    if (heapStart + sum(heapBytes) !== objectStart) throw new RangeError('heaps have another length than planned');
    return {
      superblock: superblockOf(this.#objectPlaces[0] ?? 0, this.#end),
      *pieces() {
        for (const tree of trees) yield* tree.nodes();
        yield* heapBytes;
        yield* headers;
        yield* data;
      },
    };
  }

  #placeRows({ dataset, addresses, chunkBytes }: WrittenDataset): PlacedChunks {
    const { chunkLengths: lengths, elementBytes } = dataset;
    const grid = gridOf(dataset);
    const startOf = (i: number) => {
      let rest = i;
      const start = lengths.map(() => 0);
      for (let dimension = grid.length; dimension > 0; dimension--) {
        const length = grid[dimension - 1] ?? 1;
        start[dimension] = (rest % length) * (lengths[dimension] ?? 1);
        rest = Math.floor(rest / length);
      }
      start[0] = rest * (lengths[0] ?? 1);
      return start;
    };
    return this.#placeTree(addresses.length, { lengths, elementBytes }, (i) => {
      return { start: startOf(i), byteLength: chunkBytes[i] ?? 0, mask: 0, address: addresses[i] ?? 0 };
    });
  }

  #placeTree(
    count: number,
    { lengths, elementBytes }: Omit<PlacedChunks, 'tree'>,
    entryOf: (i: number) => TreeEntry | undefined,
  ): PlacedChunks {
    const entryAt = (i: number) => {
      const entry = entryOf(i);
      if (entry === undefined) throw new RangeError(`there is no chunk ${i}`);
      return entry;
    };
    const tree = count === 0 ? undefined : new ChunkTree({ count, lengths, elementBytes, entryAt }, this.#end);
    if (tree !== undefined) this.#trees.push(tree);
    this.#end += tree?.byteLength ?? 0;
    return { tree, lengths, elementBytes };
  }

  #patched({ bytes, patches = [] }: Piece): Buffer {
    const result = Buffer.from(bytes, 'base64');
    for (const [at, to, which] of patches) {
      const place = this.#heapPlaces[which];
      const address = to === 'object' ? this.#objectPlaces[which] : place?.address;
      if (address === undefined) throw new RangeError(`there is no ${to} ${which}`);
      result.writeBigUInt64LE(BigInt(address), at);
      if (to === 'heap') result.writeUInt32LE(place?.index ?? 0, at + 8);
    }
    return result;
  }

  #header({ flags }: TemplateObject, messages: readonly TemplateMessage[]): Buffer {
    const bodies = messages.map((message) => {
      const body = this.#patched(message.body);
      const head = Buffer.alloc((flags & 4) === 0 ? 4 : 6);
      head.set([message.type, body.byteLength & 0xff, body.byteLength >> 8, message.flags]);
      if ((flags & 4) !== 0) head.writeUInt16LE(message.order, 4);
      return Buffer.concat([head, body]);
    });
    const start = Buffer.alloc(10);
    start.write('OHDR', 'latin1');
    // The length of the messages has 4 bytes.
    start.set([2, flags | 2], 4);
    start.writeUInt32LE(sum(bodies), 6);
    return withChecksum(Buffer.concat([start, ...bodies]));
  }

  #collection({ entries, byteLength }: HeapCollection): Buffer {
    const result = Buffer.alloc(byteLength);
    result.write('GCOL', 'latin1');
    result[4] = 1;
    result.writeBigUInt64LE(BigInt(byteLength), 8);
    let at = HEAP_HEAD_BYTES;
    for (const [i, piece] of entries.entries()) {
      const bytes = this.#patched(piece);
      result.writeUInt16LE(i + 1, at);
      result.writeUInt16LE(1, at + 2);
      result.writeBigUInt64LE(BigInt(bytes.byteLength), at + 8);
      result.set(bytes, at + HEAP_HEAD_BYTES);
      at += entryBytesOf(piece);
    }
    // The rest is free.
    if (byteLength - at >= HEAP_HEAD_BYTES) result.writeBigUInt64LE(BigInt(byteLength - at), at + 8);
    return result;
  }
}

interface CopiedChunks extends Omit<PlacedChunks, 'tree'> {
  readonly entries: { start: readonly number[]; mask: number; byteLength: number; address: number }[];
  readonly pieces: readonly Piece[];
  readonly filters: ReturnType<typeof readFilters>;
}

function copiedChunks({ data, messages }: TemplateObject): CopiedChunks | undefined {
  if (data?.kind !== 'chunks') return undefined;
  const { lengths, chunks } = data;
  const bodyOf = (type: number) => {
    const body = messages.find((message) => message.type === type)?.body.bytes;
    return body === undefined ? undefined : Buffer.from(body, 'base64');
  };
  return {
    lengths,
    elementBytes: bodyOf(MESSAGE.DATATYPE)?.readUInt32LE(4) ?? 1,
    filters: readFilters(bodyOf(MESSAGE.FILTERS)),
    pieces: chunks.map(({ bytes }) => bytes),
    entries: chunks.map(({ place, mask }) => {
      return { start: place.map((each, i) => each * (lengths[i] ?? 1)), mask, byteLength: 0, address: 0 };
    }),
  };
}

interface MadeObject {
  readonly object: TemplateObject;
  readonly rows: WrittenDataset | undefined;
  readonly placed: PlacedChunks | undefined;
  readonly linkCount: number;
}

/** @param dataAddress of a contiguous dataset. */
function messagesOfObject(
  { object, rows, placed, linkCount }: MadeObject,
  dataAddress: number,
): readonly TemplateMessage[] {
  const made: TemplateMessage[] = [];
  const add = (type: number, body: Buffer, patches?: Piece['patches']) =>
    made.push({ type, flags: 0, order: 0, body: { bytes: body.toString('base64'), patches } });
  if (rows !== undefined) {
    const { rowShape, mostLengths } = rows.dataset;
    const [most = null, ...others] = mostLengths;
    const lengths = [rows.rows, ...rowShape];
    add(
      MESSAGE.DATASPACE,
      encodeShape({ lengths, mostLengths: [most === null ? null : Math.max(most, rows.rows), ...others] }),
    );
  }
  if (placed !== undefined) {
    const { tree, lengths, elementBytes } = placed;
    const body = Buffer.alloc(11 + 4 * (lengths.length + 1));
    body.set([3, 2, lengths.length + 1]);
    body.writeBigUInt64LE(tree === undefined ? NO_ADDRESS : BigInt(tree.root), 3);
    for (const [i, length] of [...lengths, elementBytes].entries()) body.writeUInt32LE(length, 11 + 4 * i);
    add(MESSAGE.LAYOUT, body);
  }
  const { data } = object;
  if (data !== undefined && data.kind !== 'chunks') {
    const byteLength = Buffer.byteLength(data.bytes.bytes, 'base64');
    const head = Buffer.alloc(data.kind === 'compact' ? 4 : 18);
    head.set([3, data.kind === 'compact' ? 0 : 1]);
    if (data.kind === 'compact') {
      head.writeUInt16LE(byteLength, 2);
      const patches = data.bytes.patches?.map(([at, to, which]) => [at + 4, to, which] as const);
      add(MESSAGE.LAYOUT, Buffer.concat([head, Buffer.from(data.bytes.bytes, 'base64')]), patches);
    } else {
      head.writeBigUInt64LE(byteLength === 0 ? NO_ADDRESS : BigInt(dataAddress), 2);
      head.writeBigUInt64LE(BigInt(byteLength), 10);
      add(MESSAGE.LAYOUT, head);
    }
  }
  if (linkCount > 1) {
    const body = Buffer.alloc(5);
    body.writeUInt32LE(linkCount, 1);
    add(MESSAGE.LINK_COUNT, body);
  }
  return [...made, ...object.messages];
}

/** How many links lead to each object. */
function linkCountsOf(objects: readonly TemplateObject[]): ReadonlyMap<number, number> {
  const counts = new Map<number, number>();
  for (const { messages } of objects) {
    for (const { type, body } of messages) {
      const [patch] = type === MESSAGE.LINK ? (body.patches ?? []) : [];
      if (patch !== undefined) counts.set(patch[2], (counts.get(patch[2]) ?? 0) + 1);
    }
  }
  return counts;
}

function headerBytesOf({ flags }: TemplateObject, messages: readonly TemplateMessage[]): number {
  const headBytes = (flags & 4) === 0 ? 4 : 6;
  return messages.reduce((total, { body }) => total + headBytes + Buffer.byteLength(body.bytes, 'base64'), 14);
}

interface HeapCollection {
  /** Of all entries. */
  readonly first: number;
  readonly entries: readonly Piece[];
  readonly byteLength: number;
}

function collectionsOf(heap: readonly Piece[]): readonly HeapCollection[] {
  const collections: HeapCollection[] = [];
  for (let first = 0; first < heap.length; first += MOST_HEAP_ENTRIES) {
    const entries = heap.slice(first, first + MOST_HEAP_ENTRIES);
    const byteLength = entries.reduce((total, piece) => total + entryBytesOf(piece), HEAP_HEAD_BYTES);
    collections.push({ first, entries, byteLength: Math.max(LEAST_HEAP_BYTES, byteLength) });
  }
  return collections;
}

function entryBytesOf({ bytes }: Piece): number {
  return HEAP_HEAD_BYTES + Math.ceil(Buffer.byteLength(bytes, 'base64') / 8) * 8;
}

function superblockOf(root: number, end: number): Buffer {
  const body = Buffer.alloc(SUPERBLOCK_BYTES - 4);
  body.write(HDF5_SIGNATURE, 'latin1');
  body.set([2, 8, 8, 0], 8);
  body.writeBigUInt64LE(NO_ADDRESS, 20);
  body.writeBigUInt64LE(BigInt(end), 28);
  body.writeBigUInt64LE(BigInt(root), 36);
  return withChecksum(body);
}

function withChecksum(body: Buffer): Buffer {
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32LE(lookup3(body));
  return Buffer.concat([body, checksum]);
}

function sum(pieces: readonly Uint8Array[]): number {
  return pieces.reduce((total, { byteLength }) => total + byteLength, 0);
}
