/**
 * All that an output has of the first input beside rows: its groups, attributes, types, and the datasets that have no rows.
 * Messages of objects are kept as they are; where they hold addresses, patches say what these lead to. Plain data: it is
 * sealed in the spec, and the end of an output is made of it.
 */

import { placesIn } from './chunk-box.js';
import { chunkBytesOf, openChunkIndex } from './chunk-index.js';
import type { Dataset } from './dataset.js';
import { readDataset } from './dataset.js';
import { type Datatype, readDatatype } from './datatype.js';
import { decodeChunk, requireKnownFilters } from './filters.js';
import { attributesOf, type FoundObject, linksOf } from './groups.js';
import { Cursor, type Hdf5Bytes, Hdf5Problem } from './hdf5-bytes.js';
import { encodeAttribute, readAttribute, readShape } from './messages.js';
import { MESSAGE, type Message, messageIn, sharedBody } from './object-header.js';

/** Bytes in which addresses are missing. */
export interface Piece {
  /** Base64. */
  readonly bytes: string;
  /** Where an address goes, and that of which object; or that of which entry of the heap, and its number behind it. */
  readonly patches?: readonly (readonly [at: number, to: 'object' | 'heap', which: number])[] | undefined;
}

export interface TemplateMessage {
  readonly type: number;
  readonly flags: number;
  readonly order: number;
  readonly body: Piece;
}

export interface TemplateChunk {
  readonly place: readonly number[];
  readonly mask: number;
  /** As it is stored; with patches, it goes through its filters when they are applied. */
  readonly bytes: Piece;
}

export interface TemplateObject {
  /** Of its header: how the order of attributes is noted. */
  readonly flags: number;
  readonly messages: readonly TemplateMessage[];
  /** It gets rows: which of the datasets it is. */
  readonly rows?: number | undefined;
  /** The bytes of a dataset that is copied. */
  readonly data?:
    | { readonly kind: 'compact' | 'contiguous'; readonly bytes: Piece }
    | { readonly kind: 'chunks'; readonly lengths: readonly number[]; readonly chunks: readonly TemplateChunk[] }
    | undefined;
}

export interface Template {
  /** The root group is the first one. */
  readonly objects: readonly TemplateObject[];
  /** What sequences of variable length refer to. */
  readonly heap: readonly Piece[];
}

/** The spec holds what is copied. */
const MOST_COPIED_BYTES = 16 * 2 ** 20;
const KEPT: ReadonlySet<number> = new Set([
  MESSAGE.DATASPACE,
  MESSAGE.DATATYPE,
  MESSAGE.OLD_FILL,
  MESSAGE.FILL,
  MESSAGE.GROUP_INFO,
  MESSAGE.FILTERS,
  MESSAGE.COMMENT,
  MESSAGE.TIME,
]);
const MOST_MESSAGE_BYTES = 65_535;
/** Flags of a header: it notes the order of attributes, and has an index of it. */
const ORDER_FLAGS = 0x0c;
/** What a dataset with other rows has anew. */
const OF_OLD_ROWS: ReadonlySet<number> = new Set([MESSAGE.DATASPACE, MESSAGE.TIME]);
/** So much it takes to look for a chunk and to note it. */
const CHUNK_ENTRY_BYTES = 64;
/** What an object without such a message would say of its links or attributes: nothing. */
const NO_INFO = Buffer.of(0, 0);
/** Of a message: libraries may keep it for good. */
const CONSTANT = 1;

interface TemplateRequest {
  readonly file: Hdf5Bytes;
  readonly objects: readonly FoundObject[];
  /** The addresses of the datasets that get rows, in their order. */
  readonly rows: readonly number[];
  /** The paths of datasets that the output does not have. */
  readonly leftOut: ReadonlySet<string>;
}

export function makeTemplate(request: TemplateRequest): Template {
  return new TemplateMaker(request).make();
}

class TemplateMaker {
  readonly #file: Hdf5Bytes;
  readonly #request: TemplateRequest;
  readonly #objects: readonly FoundObject[];
  readonly #numberOf = new Map<number, number>();
  readonly #heap: Piece[] = [];
  readonly #heapNumberOf = new Map<string, number>();
  #copiedBytes = 0;

  constructor(request: TemplateRequest) {
    this.#file = request.file;
    this.#request = request;
    this.#objects = request.objects.filter(({ path }) => !request.leftOut.has(path));
    for (const [i, { address }] of this.#objects.entries()) this.#numberOf.set(address, i);
  }

  make(): Template {
    const objects = this.#objects.map((object) => this.#objectOf(object));
    return { objects, heap: this.#heap };
  }

  #objectOf(object: FoundObject): TemplateObject {
    const { header, kind, path, address } = object;
    const flags = header.flags & ORDER_FLAGS;
    const found = this.#request.rows.indexOf(address);
    const rows = found < 0 ? undefined : found;
    const dataset = kind === 'dataset' && rows === undefined ? readDataset(this.#file, object) : undefined;
    const attributes = attributesOf(this.#file, header).map((message) => this.#attribute(message, path));
    // Libraries count attributes only where this message is.
    const isCounted = header.messages.some(({ type }) => type === MESSAGE.ATTRIBUTE_INFO) || attributes.length === 0;
    const messages = [
      ...header.messages.flatMap((message) => this.#keptMessage(message, object, rows !== undefined)),
      ...(isCounted
        ? []
        : [{ type: MESSAGE.ATTRIBUTE_INFO, flags: 0, order: 0, body: piece(withoutAddresses(NO_INFO, 2)) }]),
      ...(kind === 'group' ? this.#linkMessages(object) : []),
      ...attributes,
    ];
    const large = messages.find(({ body }) => Buffer.byteLength(body.bytes, 'base64') > MOST_MESSAGE_BYTES);
    if (large !== undefined)
      throw new Hdf5Problem(
        `${path} has an attribute or a type of more than 64 KiB, which pileshuf does not write`,
        false,
      );
    return { flags, messages, rows, data: dataset && this.#dataOf(dataset) };
  }

  #keptMessage({ type, flags, body, order }: Message, object: FoundObject, hasRows: boolean): TemplateMessage[] {
    if (type === MESSAGE.ATTRIBUTE_INFO) return [{ type, flags: 0, order, body: piece(withoutAddresses(body, 2)) }];
    if (!KEPT.has(type) || (hasRows && OF_OLD_ROWS.has(type))) return [];
    const whole = (flags & 2) === 0 ? body : messageIn(this.#file, object.header, type);
    if (whole === undefined) return [];
    return [{ type, flags: flags & CONSTANT, order, body: piece(whole) }];
  }

  #linkMessages({ header }: FoundObject): TemplateMessage[] {
    const info = header.messages.find(({ type }) => type === MESSAGE.LINK_INFO)?.body ?? NO_INFO;
    const messages: TemplateMessage[] = [
      { type: MESSAGE.LINK_INFO, flags: 0, order: 0, body: piece(withoutAddresses(info, 8)) },
    ];
    if (!header.messages.some(({ type }) => type === MESSAGE.GROUP_INFO))
      messages.push({ type: MESSAGE.GROUP_INFO, flags: CONSTANT, order: 0, body: piece(Buffer.of(0, 0)) });
    for (const { address, body } of linksOf(this.#file, header)) {
      const to = address === undefined ? undefined : this.#numberOf.get(address);
      if (address !== undefined && to === undefined) continue;
      const patches = to === undefined ? undefined : [[body.byteLength - 8, 'object', to] as const];
      messages.push({ type: MESSAGE.LINK, flags: 0, order: 0, body: piece(body, patches) });
    }
    return messages;
  }

  #attribute({ flags, body, order }: Message, path: string): TemplateMessage {
    if ((flags & 2) !== 0)
      throw new Hdf5Problem(
        `${path} has an attribute in a table of shared messages, which pileshuf does not read`,
        false,
      );
    const attribute = readAttribute(body);
    const { shape, data } = attribute;
    const type = attribute.isTypeShared
      ? sharedBody(this.#file, new Cursor(attribute.type), MESSAGE.DATATYPE)
      : attribute.type;
    const read = readDatatype(new Cursor(type));
    const { lengths, isNull } = readShape(shape);
    const count = isNull ? 0 : lengths.reduce((product, length) => product * length, 1);
    const before = encodeAttribute({ ...attribute, type });
    const bytes = data.subarray(0, count * read.byteLength);
    const { patches, copy } = this.#relocated(read, bytes, `an attribute of ${path}`);
    const moved = patches.map(([at, to, which]) => [at + before.byteLength, to, which] as const);
    return { type: MESSAGE.ATTRIBUTE, flags: 0, order, body: piece(Buffer.concat([before, copy]), moved) };
  }

  /** A copy of elements, whose pointers lead to objects and heap entries of the template. */
  #relocated({ pointers, byteLength }: Datatype, bytes: Uint8Array, where: string) {
    const copy = Buffer.from(bytes);
    const patches: (readonly [number, 'object' | 'heap', number])[] = [];
    if (pointers.length === 0) return { copy, patches };
    for (let start = 0; start + byteLength <= copy.byteLength; start += byteLength) {
      for (const { offset, to } of pointers) {
        const at = start + offset;
        if (to === 'other')
          throw new Hdf5Problem(`${where} refers to a region or another file, which pileshuf does not copy`, false);
        const cursor = new Cursor(copy.subarray(at));
        if (to === 'object') {
          const number = this.#numberOf.get(cursor.u64OrNone() ?? 0);
          copy.fill(0, at, at + 8);
          if (number !== undefined) patches.push([at, 'object', number]);
          continue;
        }
        const count = cursor.u32();
        const [address, index] = [cursor.u64OrNone() ?? 0, cursor.u32()];
        copy.fill(0, at + 4, at + 16);
        if (count > 0 && address > 0) patches.push([at + 4, 'heap', this.#heapEntry(to, count, address, index, where)]);
      }
    }
    return { copy, patches };
  }

  #heapEntry(type: Datatype, count: number, address: number, index: number, where: string): number {
    const name = `${address} ${index}`;
    const known = this.#heapNumberOf.get(name);
    if (known !== undefined) return known;
    const bytes = heapObject(this.#file, address, index).subarray(0, count * type.byteLength);
    this.#count(bytes.byteLength, where);
    const { copy, patches } = this.#relocated(type, bytes, where);
    const number = this.#heap.push(piece(copy, patches)) - 1;
    this.#heapNumberOf.set(name, number);
    return number;
  }

  #count(byteLength: number, path: string): void {
    this.#copiedBytes += byteLength;
    if (this.#copiedBytes > MOST_COPIED_BYTES)
      throw new Hdf5Problem(
        `the datasets without rows have more than the 16 MiB that pileshuf copies, with ${path}; put it into another file`,
        false,
      );
  }

  #dataOf(dataset: Dataset): TemplateObject['data'] {
    const { layout, type, shape, filters, path } = dataset;
    const elements = shape.isNull ? 0 : shape.lengths.reduce((product, length) => product * length, 1);
    const byteLength = elements * type.byteLength;
    this.#count(layout.kind === 'chunks' ? 0 : byteLength, path);
    const relocated = (bytes: Uint8Array) => {
      const { copy, patches } = this.#relocated(type, bytes, path);
      return piece(copy, patches);
    };
    if (layout.kind === 'compact') return { kind: 'compact', bytes: relocated(layout.bytes) };
    if (layout.kind === 'contiguous') {
      const isThere = layout.address !== undefined && byteLength > 0;
      const bytes = isThere ? this.#file.bytes(layout.address ?? 0, byteLength) : new Uint8Array();
      return { kind: 'contiguous', bytes: relocated(bytes) };
    }
    requireKnownFilters(filters);
    const elementBytes = type.byteLength;
    const index = openChunkIndex({ file: this.#file, layout, shape, elementBytes, isFiltered: filters.length > 0 });
    const chunkBytes = chunkBytesOf({ layout, elementBytes });
    const chunks: TemplateChunk[] = [];
    this.#count(CHUNK_ENTRY_BYTES * index.grid.reduce((product, length) => product * length, 1), path);
    for (const place of placesIn(index.grid)) {
      const stored = index.find(place);
      if (stored === undefined) continue;
      this.#count(stored.byteLength, path);
      const bytes = this.#file.bytes(stored.address, stored.byteLength);
      const isEdge = place.some((each, i) => (each + 1) * (layout.lengths[i] ?? 1) > (shape.lengths[i] ?? 0));
      const mask = layout.plainEdges && isEdge ? 2 ** filters.length - 1 : stored.mask;
      if (type.pointers.length === 0) chunks.push({ place, mask, bytes: piece(bytes) });
      else chunks.push({ place, mask: 0, bytes: relocated(decodeChunk(bytes, filters, mask, chunkBytes)) });
    }
    return { kind: 'chunks', lengths: layout.lengths, chunks };
  }
}

function piece(bytes: Uint8Array, patches?: Piece['patches']): Piece {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
  return patches === undefined || patches.length === 0 ? { bytes: text } : { bytes: text, patches };
}

/** Links and attributes become messages: there is no heap of them. @param orderBytes of the number of the next one. */
function withoutAddresses(info: Buffer, orderBytes: number): Buffer {
  const flags = (info[1] ?? 0) & 3;
  const noted = info.subarray(2, (flags & 1) === 0 ? 2 : 2 + orderBytes);
  return Buffer.concat([Buffer.of(0, flags), noted, Buffer.alloc((flags & 2) === 0 ? 16 : 24, 0xff)]);
}

const ENTRY_HEAD_BYTES = 16;

/** An entry of a global heap: a collection of numbered bytes. */
function heapObject(file: Hdf5Bytes, address: number, index: number): Buffer {
  const byteLength = file.at(address, 16).expect('GCOL').skip(4).u64();
  const cursor = file.at(address, byteLength).skip(16);
  while (cursor.left >= ENTRY_HEAD_BYTES) {
    const number = cursor.u16();
    const bytes = cursor.skip(6).u64();
    if (number === 0) break;
    const entry = cursor.take(bytes);
    if (number === index) return entry;
    cursor.skip(Math.min(cursor.left, (8 - (bytes % 8)) % 8));
  }
  throw new Hdf5Problem(`the heap at byte ${address} has no entry ${index}`);
}
