/** The links of groups, and the attributes of objects, wherever a file stores them. */
import { MOST_LEVELS, treeNode } from './b-trees.js';
import { messagesInHeap } from './fractal-heap.js';
import { Cursor, type Hdf5Bytes, Hdf5Problem } from './hdf5-bytes.js';
import { MESSAGE, type Message, type ObjectHeader, readObject, readSuperblock } from './object-header.js';
import { type Link, readLink, symbolTableLink } from './object-messages.js';

export type ObjectKind = 'group' | 'dataset' | 'type';

export function kindOf({ messages }: ObjectHeader): ObjectKind {
  const has = (type: number) => messages.some((message) => message.type === type);
  if (has(MESSAGE.LAYOUT)) return 'dataset';
  return has(MESSAGE.DATATYPE) ? 'type' : 'group';
}

/**
 * The place of the id of a link in records of the tree of names: after a hash of 4 bytes. The id of an attribute comes
 * first.
 */
const LINK_ID_AT = 4;
const ATTRIBUTE_ID_AT = 0;

/** Returns the links of a group in the order of the file: of creation, if it notes that, else of names. Others have none. */
export function linksOf(file: Hdf5Bytes, { messages }: ObjectHeader): readonly Link[] {
  const links: Link[] = [];
  for (const { type, body } of messages) {
    if (type === MESSAGE.LINK) links.push(readLink(body));
    else if (type === MESSAGE.SYMBOLS) for (const link of symbolsOf(file, new Cursor(body))) links.push(link);
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
      attributes.push({ type: MESSAGE.ATTRIBUTE, flags: record.u8() & 3, body: attribute, order: record.u32() });
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

/** Lists a group in an old file: a B-tree of nodes of symbols, whose names lie in a heap. */
function* symbolsOf(file: Hdf5Bytes, cursor: Cursor): Generator<Link> {
  const [tree, heap] = [cursor.u64(), cursor.u64()];
  const heapHead = file.at(heap, 32).expect('HEAP').skip(4);
  const heapBytes = heapHead.u64();
  const names = file.at(heapHead.skip(8).u64(), heapBytes);
  const textAt = (offset: number) => {
    names.at = Math.min(offset, heapBytes);
    return names.text();
  };
  for (const node of leavesOf(file, tree, 0)) {
    const count = file.at(node, 8).expect('SNOD').skip(2).u16();
    const symbols = file.at(node + 8, count * SYMBOL_BYTES);
    for (let i = 0; i < count; i++) {
      const [name, address, kind] = [textAt(symbols.u64()), symbols.u64OrNone(), symbols.u32()];
      const scratch = new Cursor(symbols.skip(4).take(16));
      if (kind === SOFT) yield symbolTableLink(name, 0, textAt(scratch.u32()));
      else if (address !== undefined) yield symbolTableLink(name, address, undefined);
    }
  }
}

function* leavesOf(file: Hdf5Bytes, address: number, depth: number): Generator<number> {
  if (depth > MOST_LEVELS) throw new Hdf5Problem(`the B-tree at byte ${address} has no end`);
  const { level, count, entries } = treeNode(file, address, 0, 8);
  for (let i = 0; i < count; i++) {
    const child = entries.skip(8).u64();
    if (level > 0) yield* leavesOf(file, child, depth + 1);
    else yield child;
  }
}

/** An object that a file holds; each comes once for each path. */
export interface FoundObject {
  /** The path from the root, such as `/images/X`. */
  readonly path: string;
  readonly address: number;
  readonly header: ObjectHeader;
  readonly kind: ObjectKind;
}

/** All objects that hard links lead to, groups before what they hold, each by its first path in the order of names. */
export function objectsIn(file: Hdf5Bytes): readonly FoundObject[] {
  const root = found(file, '/', readSuperblock(file));
  const seen = new Set([root.address]);
  const objects = [root];
  for (const { path, header } of objects) {
    const links = linksOf(file, header);
    // The path of an object with several links does not depend on what the file notes of their order.
    for (const { name, address, softPath } of links.toSorted((a, b) => Buffer.compare(a.name, b.name))) {
      const linkPath = pathIn(path, name);
      if (address === undefined && softPath === undefined)
        throw new Hdf5Problem(`${linkPath} is a link to another file; copy what it leads to into this one`, false);
      if (address === undefined || seen.has(address)) continue;
      seen.add(address);
      objects.push(found(file, linkPath, address));
    }
  }
  return objects;
}

export function pathIn(group: string, name: Buffer): string {
  return `${group === '/' ? '' : group}/${name}`;
}

function found(file: Hdf5Bytes, path: string, address: number): FoundObject {
  const header = readObject(file, address);
  return { path, address, header, kind: kindOf(header) };
}

/**
 * @param known objects, which are not looked for.
 * @returns a finder of objects by their paths; undefined: no hard link leads there.
 */
export function openPaths(
  file: Hdf5Bytes,
  known: readonly FoundObject[] = [],
): (path: string) => FoundObject | undefined {
  const knownAt = new Map(known.map((object) => [object.path, object]));
  const root = readSuperblock(file);
  const groups = new Map<number, ReadonlyMap<string, number | undefined>>();
  const linksAt = (address: number) => {
    const known = groups.get(address);
    if (known !== undefined) return known;
    const links = linksOf(file, readObject(file, address));
    const group = new Map(links.map((link) => [link.name.toString(), link.address]));
    groups.set(address, group);
    return group;
  };
  return (path) => {
    const object = knownAt.get(path);
    if (object !== undefined) return object;
    let address: number | undefined = root;
    for (const name of path.split('/')) if (name !== '' && address !== undefined) address = linksAt(address).get(name);
    return address === undefined ? undefined : found(file, path, address);
  };
}
