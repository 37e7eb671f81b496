/** The superblock, which begins a file, and object headers, which hold messages: of a dataset its type, shape, layout. */
import { HDF5_SIGNATURE } from './find-start.js';
import { CHECKSUM_BYTES, Cursor, type Hdf5Bytes, Hdf5Problem, sharedTableProblem } from './hdf5-bytes.js';

/** Types of messages. */
export const MESSAGE = {
  NIL: 0x00,
  DATASPACE: 0x01,
  LINK_INFO: 0x02,
  DATATYPE: 0x03,
  OLD_FILL: 0x04,
  FILL: 0x05,
  LINK: 0x06,
  EXTERNAL: 0x07,
  LAYOUT: 0x08,
  GROUP_INFO: 0x0a,
  FILTERS: 0x0b,
  ATTRIBUTE: 0x0c,
  COMMENT: 0x0d,
  CONTINUATION: 0x10,
  SYMBOLS: 0x11,
  TIME: 0x12,
  ATTRIBUTE_INFO: 0x15,
  LINK_COUNT: 0x16,
} as const;

/** @returns the address of the root group. */
export function readSuperblock(file: Hdf5Bytes): number {
  const cursor = file.upTo(0, 96).expect(HDF5_SIGNATURE);
  const version = cursor.u8();
  if (version > 3) throw new Hdf5Problem(`its superblock has version ${version}, expected 0 to 3`, false);
  const isOld = version < 2;
  if (isOld) cursor.skip(4);
  const [addressBytes, lengthBytes] = [cursor.u8(), cursor.u8()];
  if (addressBytes !== 8 || lengthBytes !== 8)
    throw new Hdf5Problem(
      `its addresses have ${addressBytes} bytes and its lengths ${lengthBytes}, expected 8; write it again with h5repack`,
      false,
    );
  cursor.skip(isOld ? 9 + 4 * version : 1);
  const base = cursor.u64();
  cursor.skip(8);
  // Addresses count from the superblock on, wherever the file had it once.
  const end = cursor.u64() - base;
  if (end > file.byteLength)
    throw new Hdf5Problem(`it has ${file.byteLength} bytes, and by its superblock ${end}: it is cut off`);
  return cursor.skip(isOld ? 16 : 0).u64();
}

export interface Message {
  readonly type: number;
  readonly flags: number;
  readonly body: Buffer;
  /** The order of an attribute, if its object notes in which order they came. */
  readonly order: number;
}

export interface ObjectHeader {
  /** The flags of the header; 0 in version 1. */
  readonly flags: number;
  readonly messages: readonly Message[];
}

/** More are those of a damaged file. */
const MOST_BLOCKS = 65_536;
/** Flag of a message that another object has. */
export const SHARED = 2;
/** Flag of a header that notes the order of attributes. */
export const TRACKS_ORDER = 0x04;

export function readObject(file: Hdf5Bytes, address: number): ObjectHeader {
  const isNew = file.at(address, 4).take(4).toString('latin1') === 'OHDR';
  const { flags, first } = isNew ? newStart(file, address) : oldStart(file, address);
  const messages: Message[] = [];
  const blocks = [first];
  for (const cursor of blocks) {
    if (blocks.length > MOST_BLOCKS) throw new Hdf5Problem(`the object at byte ${address} has no end`);
    for (const message of messagesIn(cursor, isNew, flags)) {
      if (message.type === MESSAGE.CONTINUATION) {
        const place = new Cursor(message.body);
        const [position, byteLength] = [place.u64(), place.u64()];
        blocks.push(isNew ? file.checked(position, byteLength).expect('OCHK') : file.at(position, byteLength));
      } else if (message.type !== MESSAGE.NIL) messages.push(message);
    }
  }
  return { flags, messages };
}

function oldStart(file: Hdf5Bytes, address: number): { flags: number; first: Cursor } {
  const cursor = file.at(address, 16);
  if (cursor.u8() !== 1) throw new Hdf5Problem(`byte ${address} does not begin an object`);
  return { flags: 0, first: file.at(address + 16, cursor.skip(7).u32()) };
}

function newStart(file: Hdf5Bytes, address: number): { flags: number; first: Cursor } {
  const cursor = file.upTo(address, 64).skip(4);
  if (cursor.u8() !== 2) throw new Hdf5Problem(`the object at byte ${address} has an unknown version`);
  const flags = cursor.u8();
  cursor.skip(((flags & 0x20) === 0 ? 0 : 16) + ((flags & 0x10) === 0 ? 0 : 4));
  const byteLength = cursor.uint(1 << (flags & 3));
  return { flags, first: file.checked(address, cursor.at + byteLength + CHECKSUM_BYTES).skip(cursor.at) };
}

function* messagesIn(cursor: Cursor, isNew: boolean, headerFlags: number): Generator<Message> {
  const hasOrder = (headerFlags & TRACKS_ORDER) !== 0;
  const headBytes = isNew ? (hasOrder ? 6 : 4) : 8;
  while (cursor.left >= headBytes) {
    const type = isNew ? cursor.u8() : cursor.u16();
    const byteLength = cursor.u16();
    const flags = cursor.u8();
    const order = isNew ? (hasOrder ? cursor.u16() : 0) : cursor.skip(3) && 0;
    yield { type, flags, order, body: cursor.take(byteLength) };
  }
}

/** The one message of this type; undefined: there is none. A type may lie in an object of its own. */
export function messageIn(file: Hdf5Bytes, { messages }: ObjectHeader, type: number): Buffer | undefined {
  const message = messages.find((each) => each.type === type);
  return message === undefined || (message.flags & SHARED) === 0 ? message?.body : sharedType(file, message.body);
}

/** Returns where a shared message has the address of the object that it stands for. */
export function sharedAt(body: Buffer): number {
  const [version = 0, kind] = body;
  if (version < 3 || kind === 2) return version === 1 ? 8 : 2;
  throw sharedTableProblem();
}

/** Returns the type that a shared message stands for: other ones lie only in tables. */
export function sharedType(file: Hdf5Bytes, body: Buffer): Buffer {
  const { messages } = readObject(file, new Cursor(body).skip(sharedAt(body)).u64());
  const found = messages.find(({ type, flags }) => type === MESSAGE.DATATYPE && (flags & SHARED) === 0);
  if (found === undefined) throw new Hdf5Problem('a shared type is missing');
  return found.body;
}
