/** The links of groups, and the attributes of objects, wherever a file keeps them. */
import { messagesInHeap } from './fractal-heap.js';
import { Cursor, type Hdf5Bytes, Hdf5Problem } from './hdf5-bytes.js';
import { type Link, oldLink, readLink } from './messages.js';
import { MESSAGE, type Message, type ObjectHeader, readObject } from './object-header.js';

export type ObjectKind = 'group' | 'dataset' | 'type';

export function kindOf({ messages }: ObjectHeader): ObjectKind {
  const has = (type: number) => messages.some((message) => message.type === type);
  if (has(MESSAGE.LAYOUT)) return 'dataset';
  return has(MESSAGE.DATATYPE) ? 'type' : 'group';
}

/** Of records in the tree of names: a hash of 4 bytes is before the id of a link; that of an attribute comes first. */
const LINK_ID_AT = 4;
const ATTRIBUTE_ID_AT = 0;

/** In the order of the file: of creation, if it notes that, else of names. */
export function linksOf(file: Hdf5Bytes, { messages }: ObjectHeader): readonly Link[] {
  const links: Link[] = [];
  for (const { type, body } of messages) {
    if (type === MESSAGE.LINK) links.push(readLink(body));
    else if (type === MESSAGE.SYMBOLS) links.push(...symbolsOf(file, new Cursor(body)));
    else if (type === MESSAGE.LINK_INFO) {
      for (const message of inHeap(file, body, 8, LINK_ID_AT)) links.push(readLink(message.body));
    }
  }
  return links.sort((a, b) => a.order - b.order || Buffer.compare(a.name, b.name));
}

export function attributesOf(file: Hdf5Bytes, { messages }: ObjectHeader): readonly Message[] {
  const attributes = messages.filter(({ type }) => type === MESSAGE.ATTRIBUTE);
  for (const { type, body } of messages) {
    if (type !== MESSAGE.ATTRIBUTE_INFO) continue;
    for (const { body: attribute, record } of inHeap(file, body, 2, ATTRIBUTE_ID_AT))
      attributes.push({ type: MESSAGE.ATTRIBUTE, flags: record.u8() & 1, body: attribute, order: record.u32() });
  }
  return attributes;
}

/** @param orderBytes of the number that the message has if it notes the order of creation. */
function* inHeap(file: Hdf5Bytes, info: Buffer, orderBytes: number, idAt: number) {
  const cursor = new Cursor(info);
  const flags = cursor.skip(1).u8();
  if ((flags & 1) !== 0) cursor.skip(orderBytes);
  const [heap, tree] = [cursor.u64OrNone(), cursor.u64OrNone()];
  if (heap !== undefined && tree !== undefined) yield* messagesInHeap(file, heap, tree, idAt);
}

const SYMBOL_BYTES = 40;
const SOFT = 2;
const MOST_LEVELS = 64;

/** Of a group in an old file: a B-tree of nodes of symbols, whose names lie in a heap. */
function* symbolsOf(file: Hdf5Bytes, cursor: Cursor): Generator<Link> {
  const [tree, heap] = [cursor.u64(), cursor.u64()];
  const heapHead = file.at(heap, 32).expect('HEAP').skip(4);
  const [heapBytes, names] = [heapHead.u64(), heapHead.skip(8).u64()];
  const textAt = (offset: number) => file.at(names + offset, heapBytes - offset).text();
  for (const node of leavesOf(file, tree, 0)) {
    const head = file.at(node, 8).expect('SNOD').skip(2);
    const count = head.u16();
    const symbols = file.at(node + 8, count * SYMBOL_BYTES);
    for (let i = 0; i < count; i++) {
      const [name, address, kind] = [textAt(symbols.u64()), symbols.u64OrNone(), symbols.u32()];
      const scratch = new Cursor(symbols.skip(4).take(16));
      if (kind === SOFT) yield oldLink(name, 0, textAt(scratch.u32()));
      else if (address !== undefined) yield oldLink(name, address, undefined);
    }
  }
}

function* leavesOf(file: Hdf5Bytes, address: number, depth: number): Generator<number> {
  if (depth > MOST_LEVELS) throw new Hdf5Problem(`the B-tree at byte ${address} has no end`);
  const head = file.at(address, 24).expect('TREE').skip(1);
  const [level, count] = [head.u8(), head.u16()];
  const entries = file.at(address + 24, 16 * count + 8);
  for (let i = 0; i < count; i++) {
    const child = entries.skip(8).u64();
    if (level > 0) yield* leavesOf(file, child, depth + 1);
    else yield child;
  }
}

/** What a file holds, each object once for each path. */
export interface FoundObject {
  /** From the root, such as `/images/X`. */
  readonly path: string;
  readonly address: number;
  readonly header: ObjectHeader;
  readonly kind: ObjectKind;
}

const MOST_OBJECTS = 1_000_000;

/** All objects that hard links lead to, groups before what they hold, each by its first path. */
export function* objectsIn(file: Hdf5Bytes, root: number): Generator<FoundObject> {
  const seen = new Set([root]);
  const waiting: FoundObject[] = [found(file, '/', root)];
  for (let i = 0; i < waiting.length; i++) {
    const object = waiting[i];
    if (object === undefined || i > MOST_OBJECTS) return;
    yield object;
    if (object.kind !== 'group') continue;
    for (const { name, address } of linksOf(file, object.header)) {
      if (address === undefined || seen.has(address)) continue;
      seen.add(address);
      waiting.push(found(file, `${object.path === '/' ? '' : object.path}/${name}`, address));
    }
  }
}

function found(file: Hdf5Bytes, path: string, address: number): FoundObject {
  const header = readObject(file, address);
  return { path, address, header, kind: kindOf(header) };
}

/** @returns undefined: no hard link leads there. */
export function objectAt(file: Hdf5Bytes, root: number, path: string): FoundObject | undefined {
  let object = found(file, '/', root);
  for (const name of path.split('/').filter((part) => part !== '')) {
    const link = linksOf(file, object.header).find((each) => each.name.toString() === name);
    if (link?.address === undefined) return undefined;
    object = found(file, path, link.address);
  }
  return object;
}
