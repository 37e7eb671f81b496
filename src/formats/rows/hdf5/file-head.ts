/**
 * The head of an output: all that it has of the first input beside rows, which is groups, links, attributes, types, and the
 * datasets that have no rows. Messages of objects stay as they are, with other addresses. The head is the same in all
 * outputs, but for the numbers of rows and the places of the indexes of their chunks.
 */
import { collectionOf, foreignReferenceProblem, openAttribute, SCALE_USERS, sequenceAt } from './attributes.js';
import { gridOf, placesIn, productOf } from './chunk-box.js';
import { chunkTree, type TreeEntry } from './chunk-tree.js';
import { type Dataset, findChunksOf, readDataset } from './dataset.js';
import type { Datatype } from './datatype.js';
import { decodeChunk } from './filters/chunk-filters.js';
import { HDF5_SIGNATURE } from './find-start.js';
import { attributesOf, type FoundObject, linksOf } from './groups.js';
import { Cursor, type Hdf5Bytes, Hdf5Problem, packFields, withChecksum } from './hdf5-bytes.js';
import { MESSAGE, type Message, SHARED, sharedAt, TRACKS_ORDER } from './object-header.js';
import { readFill } from './object-messages.js';
import type { FileHead, RowsDataset, RowsHead } from './rows-spec.js';

/** The spec holds what is copied. */
const MOST_COPIED_BYTES = 16 * 2 ** 20;
const COPIED_MESSAGES: ReadonlySet<number> = new Set([
  MESSAGE.DATASPACE,
  MESSAGE.DATATYPE,
  MESSAGE.OLD_FILL,
  MESSAGE.FILL,
  MESSAGE.FILTERS,
  MESSAGE.COMMENT,
  MESSAGE.TIME,
]);
/** The messages that a dataset with other rows gets anew. */
const OF_OLD_ROWS: ReadonlySet<number> = new Set([MESSAGE.DATASPACE, MESSAGE.TIME]);
const MOST_MESSAGE_BYTES = 65_535;
/** Flags of a header: it notes the order of attributes, and has an index of it. */
const ORDER_FLAGS = TRACKS_ORDER | 0x08;
/** Flag of a header: the length of its messages has 4 bytes. */
const LONG = 2;
const HEADER_HEAD_BYTES = 10;
/** The bytes that it takes to look for a chunk and to note it. */
const CHUNK_ENTRY_BYTES = 64;
/** The message that stands for a missing one about links or attributes: it says nothing. */
const NO_INFO = Buffer.of(0, 0);
/** Flag of a message: libraries may cache it for good. */
const CONSTANT = 1;
export const SUPERBLOCK_BYTES = 48;
/** A heap has entries with numbers of 16 bits. */
const MOST_HEAP_ENTRIES = 60_000;

interface HeadRequest {
  readonly file: Hdf5Bytes;
  readonly objects: readonly FoundObject[];
  readonly datasets: readonly RowsDataset[];
  /** Their numbers, by where they lie in the file. */
  readonly rows: ReadonlyMap<number, number>;
  /** The paths of datasets that the output does not have. */
  readonly leftOut: ReadonlySet<string>;
}

/** The places that a head refers to. */
interface Places {
  readonly objects: number[];
  readonly heaps: number[];
  /** How many links, and types of attributes and datasets, lead to each object. */
  readonly links: number[];
}

/**
 * Makes the head of a file. Its addresses follow from lengths, never lengths from addresses: so it is made again until all
 * addresses are those of the last time.
 */
export function makeHead(request: HeadRequest): FileHead {
  let [places, before]: Places[] = [];
  for (;;) {
    const maker: HeadMaker = new HeadMaker(request, places ?? { objects: [], heaps: [], links: [] });
    const head = maker.make();
    [places, before] = [maker.places, places];
    if (JSON.stringify(places) === JSON.stringify(before)) return head;
  }
}

class HeadMaker {
  readonly #request: HeadRequest;
  readonly #file: Hdf5Bytes;
  readonly #known: Places;
  readonly #numberOf: ReadonlyMap<number, number>;
  readonly #leftOutAt: ReadonlyMap<number, string>;
  readonly #pieces: Uint8Array[] = [];
  readonly #rows: RowsHead[] = [];
  readonly #heap: Buffer[] = [];
  readonly places: Places = { objects: [], heaps: [], links: [] };
  #end = SUPERBLOCK_BYTES;
  #copiedBytes = 0;

  /** @param known places of the last time. */
  constructor(request: HeadRequest, known: Places) {
    this.#request = request;
    this.#file = request.file;
    this.#known = known;
    const written = request.objects.filter(({ path }) => !request.leftOut.has(path));
    this.#numberOf = new Map(written.map(({ address }, i) => [address, i]));
    const leftOut = request.objects.filter(({ path }) => request.leftOut.has(path));
    this.#leftOutAt = new Map(leftOut.map(({ address, path }) => [address, path]));
  }

  make(): FileHead {
    for (const object of this.#request.objects)
      if (this.#numberOf.has(object.address)) this.places.objects.push(this.#object(object));
    for (let first = 0; first < this.#heap.length; first += MOST_HEAP_ENTRIES)
      this.places.heaps.push(this.#put(collectionOf(this.#heap.slice(first, first + MOST_HEAP_ENTRIES))));
    const superblock = packFields(
      ...[Buffer.from(HDF5_SIGNATURE, 'latin1'), Buffer.of(2, 8, 8, 0)],
      ...[0, undefined, this.#end, this.places.objects[0]].map((address) => [address, 8] as const),
    );
    const bytes = Buffer.concat([withChecksum(superblock), ...this.#pieces]);
    return { bytes: bytes.toString('base64'), byteLength: bytes.byteLength, rows: this.#rows };
  }

  /** @returns its address. */
  #put(bytes: Uint8Array): number {
    this.#pieces.push(bytes);
    this.#end += bytes.byteLength;
    return this.#end - bytes.byteLength;
  }

  #object(object: FoundObject): number {
    const { header, kind, path, address } = object;
    const flags = header.flags & ORDER_FLAGS;
    const at = this.#request.rows.get(address) ?? -1;
    const rows = this.#request.datasets[at];
    const links = this.#known.links[this.places.objects.length] ?? 0;
    const made: (readonly [type: number, body: Buffer, flags?: number, order?: number])[] = [];
    if (rows !== undefined) {
      made.push([MESSAGE.DATASPACE, dataspaceOf(rows)]);
      made.push([MESSAGE.LAYOUT, chunkLayout(undefined, rows.chunkLengths, rows.elementBytes)]);
    }
    const dataset = rows === undefined ? readDataset(this.#file, object) : undefined;
    if (dataset !== undefined) made.push([MESSAGE.LAYOUT, this.#dataOf(dataset)]);
    if (links > 1) made.push([MESSAGE.LINK_COUNT, packFields([0, 1], [links, 4])]);
    for (const message of header.messages) {
      if (!COPIED_MESSAGES.has(message.type) || (rows !== undefined && OF_OLD_ROWS.has(message.type))) continue;
      const { type, body, flags } = message;
      let moved = (flags & SHARED) === 0 ? body : this.#shared(body, sharedAt(body), path);
      if (dataset !== undefined && (type === MESSAGE.FILL || type === MESSAGE.OLD_FILL)) {
        moved = Buffer.from(body);
        const fill = type === MESSAGE.FILL ? readFill(moved, undefined) : readFill(undefined, moved);
        this.#relocate(dataset.type, fill ?? Buffer.alloc(0), `the fill value of ${path}`);
      }
      made.push([type, moved, flags & (CONSTANT | SHARED)]);
    }
    const infoOf = (type: number) => header.messages.find((message) => message.type === type)?.body ?? NO_INFO;
    made.push([MESSAGE.ATTRIBUTE_INFO, withoutAddresses(infoOf(MESSAGE.ATTRIBUTE_INFO), 2)]);
    for (const message of attributesOf(this.#file, header))
      made.push([MESSAGE.ATTRIBUTE, this.#attribute(message, path), 0, message.order]);
    if (kind === 'group') {
      made.push([MESSAGE.LINK_INFO, withoutAddresses(infoOf(MESSAGE.LINK_INFO), 8)]);
      made.push([MESSAGE.GROUP_INFO, infoOf(MESSAGE.GROUP_INFO), CONSTANT]);
      for (const { address: to, body } of linksOf(this.#file, header)) {
        if (to === undefined) made.push([MESSAGE.LINK, body]);
        else if (this.#numberOf.has(to))
          made.push([MESSAGE.LINK, packFields(body.subarray(0, -8), [this.#linked(to, path), 8])]);
      }
    }
    for (const [, body] of made) requireWritable(body, path);
    const headBytes = (flags & TRACKS_ORDER) === 0 ? 4 : 6;
    const messages = made.map(([type, body, ofMessage = 0, order = 0]) =>
      packFields(
        [type, 1],
        [body.byteLength, 2],
        [ofMessage, 1],
        packFields([order, 2]).subarray(0, headBytes - 4),
        body,
      ),
    );
    const all = Buffer.concat(messages);
    const start = this.#put(
      withChecksum(packFields(Buffer.from('OHDR'), [2, 1], [flags | LONG, 1], [all.byteLength, 4], all)),
    );
    const shapeAt = start + HEADER_HEAD_BYTES + headBytes;
    if (rows !== undefined)
      this.#rows[at] = {
        start,
        end: this.#end,
        countAt: shapeAt + 4,
        treeAt: shapeAt + (made[0]?.[1].byteLength ?? 0) + headBytes + 3,
      };
    return start;
  }

  /** Counts a link. @returns the new address of its object. */
  #linked(address: number, path: string): number {
    const number = this.#numberOf.get(address);
    if (number === undefined)
      throw new Hdf5Problem(`${path} has a type without a name, which pileshuf does not copy`, false);
    this.places.links[number] = (this.places.links[number] ?? 0) + 1;
    return this.#known.objects[number] ?? 0;
  }

  /** A copy of bytes that have the address of a type. */
  #shared(bytes: Uint8Array, at: number, path: string): Buffer {
    const address = new Cursor(bytes).skip(at).u64();
    return packFields(bytes.subarray(0, at), [this.#linked(address, path), 8], bytes.subarray(at + 8));
  }

  #attribute(message: Message, path: string): Buffer {
    const { name, isTypeShared, type, typeAt, datatype, data, dataAt } = openAttribute(this.#file, message);
    const { body } = message;
    const copy = isTypeShared ? this.#shared(body, typeAt + sharedAt(type), path) : Buffer.from(body);
    const values = new Cursor(copy).skip(dataAt).take(data.byteLength);
    this.#relocate(datatype, values, `the attribute ${name} of ${path}`, name === SCALE_USERS);
    return copy.subarray(0, dataAt + data.byteLength);
  }

  /** Makes the pointers of elements lead to objects and heap entries of the output. @param mayLose what is left out. */
  #relocate({ pointers, byteLength }: Datatype, bytes: Buffer, where: string, mayLose = false): void {
    for (let start = 0; pointers.length > 0 && start + byteLength <= bytes.byteLength; start += byteLength) {
      for (const { offset, to } of pointers) {
        const at = start + offset;
        if (to === 'other') throw foreignReferenceProblem(where);
        if (to === 'object') {
          const address = new Cursor(bytes).skip(at).u64OrNone() ?? 0;
          const number = this.#numberOf.get(address);
          const lost = mayLose ? undefined : this.#leftOutAt.get(address);
          if (lost !== undefined)
            throw new Hdf5Problem(
              `${where} refers to ${lost}, which is left out; name ${lost} with \`hdf5\`, too`,
              false,
            );
          bytes.set(packFields([number === undefined ? 0 : (this.#known.objects[number] ?? 0), 8]), at);
        } else {
          const sequence = sequenceAt(this.#file, to, bytes.subarray(at));
          bytes.set(sequence === undefined ? Buffer.alloc(12) : this.#heapEntry(to, sequence, where, mayLose), at + 4);
        }
      }
    }
  }

  /** @returns the place of a copied entry: the address of its heap, and its number. */
  #heapEntry(type: Datatype, sequence: Buffer, where: string, mayLose: boolean): Buffer {
    const bytes = Buffer.from(sequence);
    this.#count(bytes.byteLength, where);
    this.#relocate(type, bytes, where, mayLose);
    const number = this.#heap.push(bytes) - 1;
    const heap = this.#known.heaps[Math.floor(number / MOST_HEAP_ENTRIES)] ?? 0;
    return packFields([heap, 8], [1 + (number % MOST_HEAP_ENTRIES), 4]);
  }

  #count(byteLength: number, path: string): void {
    this.#copiedBytes += byteLength;
    if (this.#copiedBytes > MOST_COPIED_BYTES)
      throw new Hdf5Problem(
        `the datasets without rows have more than the 16 MiB that pileshuf copies, with ${path}; put it into another file`,
        false,
      );
  }

  /** Writes what a dataset without rows holds. @returns its layout. */
  #dataOf(dataset: Dataset): Buffer {
    const { layout, type, shape, filters, path, chunkBytes } = dataset;
    const byteLength = shape.isNull ? 0 : productOf(shape.lengths, type.byteLength);
    if (dataset.chunkLengths === undefined) this.#count(byteLength, path);
    if (layout.kind === 'compact') {
      const bytes = Buffer.from(layout.bytes);
      this.#relocate(type, bytes, path);
      return packFields(Buffer.of(3, 0), [bytes.byteLength, 2], bytes);
    }
    if (layout.kind === 'contiguous') {
      const isThere = layout.address !== undefined && byteLength > 0;
      const bytes = isThere ? this.#file.at(layout.address ?? 0, byteLength).take(byteLength) : Buffer.alloc(0);
      this.#relocate(type, bytes, path);
      return packFields(Buffer.of(3, 1), [isThere ? this.#put(bytes) : undefined, 8], [byteLength, 8]);
    }
    const { lengths: chunkLengths } = layout;
    const find = findChunksOf(this.#file, dataset, layout);
    const grid = gridOf(shape.lengths, chunkLengths);
    this.#count(productOf(grid, CHUNK_ENTRY_BYTES), path);
    const entries: TreeEntry[] = [];
    for (const place of placesIn(grid)) {
      const chunk = find(place);
      if (chunk === undefined) continue;
      this.#count(chunk.byteLength, path);
      let [bytes, { mask }] = [this.#file.at(chunk.address, chunk.byteLength).take(chunk.byteLength), chunk];
      if (type.pointers.length > 0) {
        // Filtered, it would have another length with other addresses.
        bytes = Buffer.from(decodeChunk(bytes, filters, mask, chunkBytes));
        mask = 2 ** filters.length - 1;
        this.#relocate(type, bytes, path);
      }
      entries.push({ place, address: this.#put(bytes), byteLength: bytes.byteLength, mask });
    }
    const entryAt = (i: number) => {
      const entry = entries[i];
      if (entry === undefined) throw new RangeError(`there is no chunk ${i}`);
      return entry;
    };
    const tree = chunkTree({ count: entries.length, chunkLengths, elementBytes: type.byteLength, entryAt }, this.#end);
    for (const node of tree.nodes()) this.#put(node);
    return chunkLayout(tree.root, chunkLengths, type.byteLength);
  }
}

function requireWritable({ byteLength }: Buffer, path: string): void {
  if (byteLength <= MOST_MESSAGE_BYTES) return;
  throw new Hdf5Problem(`${path} has an attribute or a type of more than 64 KiB, which pileshuf does not write`, false);
}

/** Returns the shape of a dataset that has no rows yet. */
function dataspaceOf({ rowShape, mostLengths }: RowsDataset): Buffer {
  const lengths = [0, ...rowShape].map((length) => [length, 8] as const);
  const most = mostLengths.map((length) => [length ?? undefined, 8] as const);
  return packFields(Buffer.of(2, lengths.length, 1, 1), ...lengths, ...most);
}

function chunkLayout(root: number | undefined, chunkLengths: readonly number[], elementBytes: number): Buffer {
  const lengths = [...chunkLengths, elementBytes].map((length) => [length, 4] as const);
  return packFields(Buffer.of(3, 2, lengths.length), [root, 8], ...lengths);
}

/** Links and attributes become messages: there is no heap of them. @param orderBytes of the number of the next one. */
function withoutAddresses(info: Buffer, orderBytes: number): Buffer {
  const flags = (info[1] ?? 0) & 3;
  const noted = info.subarray(2, (flags & 1) === 0 ? 2 : 2 + orderBytes);
  return packFields(Buffer.of(0, flags), noted, Buffer.alloc((flags & 2) === 0 ? 16 : 24, 0xff));
}
