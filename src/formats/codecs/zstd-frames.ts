/**
 * Walks over zstd frames (RFC 8878) without decoding them: a frame header, and the three bytes before each block, say
 * where the next one lies. So the ends of frames and truncated files are found without a decoder, some of which
 * silently drop what follows the first frame or a skippable one.
 *
 *     frame       magic 28 B5 2F FD | header, 2 to 14 bytes | blocks | checksum, 0 or 4 bytes
 *     block       3 bytes, little-endian: last (1 bit), type (2), size (21) | content
 *     skippable   magic 5x 2A 4D 18 | size of the content, 4 bytes | content
 */
import { corruptInputError, type InputError } from '../../errors.js';
import type { StoredBytes } from '../codec.js';

export interface ZstdFrameHeader {
  readonly storedOffset: number;
  readonly contentBytes: number | undefined;
  /** Decoded bytes that a decoder must hold. */
  readonly windowBytes: number;
}

const MAGIC = 0xfd2fb528;
const MAGIC_BYTES = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);
const SKIPPABLE_MAGIC = 0x184d2a50;
const SKIPPABLE_MASK = 0xfffffff0;

const MOST_BLOCK_BYTES = 128 * 1024;
/** A block that repeats one byte has 4 bytes with its header. */
export const MOST_ZSTD_EXPANSION = MOST_BLOCK_BYTES / 4;
/** `zstd --long=31`, the largest that any decoder takes. */
const MOST_WINDOW_BYTES = 2 ** 31;

const RLE_BLOCK = 1;
const RESERVED_BLOCK = 3;

/** Lengths of the fields, by the two flags of the descriptor. */
const DICTIONARY_ID_BYTES = [0, 1, 2, 4] as const;
const CONTENT_SIZE_BYTES = [0, 2, 4, 8] as const;
const CHECKSUM_BYTES = 4;

/** A few bytes that the walk must see next. Those before them need not be looked at. */
export interface ZstdField {
  readonly offset: number;
  readonly byteLength: number;
  /** True if a frame or a skippable one begins with the field, or the input ends before it. */
  readonly isBetweenFrames: boolean;
  /** The frame whose blocks are next; undefined between frames and inside a header. */
  readonly frame: ZstdFrameHeader | undefined;
}

export function beginsZstd(head: Uint8Array): boolean {
  if (head.byteLength < 4) return false;
  const magic = littleEndian(head, 0, 4);
  return magic === MAGIC || isSkippable(magic);
}

/** Returns the position of the first frame that is not skippable. It may lie after the head. */
export function firstFrameIn(head: Uint8Array): number {
  let at = 0;
  while (at + 8 <= head.byteLength && isSkippable(littleEndian(head, at, 4))) at += 8 + littleEndian(head, at + 4, 4);
  return at;
}

/**
 * Yields the fields of all frames; the caller passes the bytes of each to `next`. Throws where the bytes break RFC
 * 8878, or need more than decoders can do.
 */
export function* walkZstd(path: string, start: number): Generator<ZstdField, never, Uint8Array> {
  let offset = start;
  const inHeader = (byteLength: number) => ({ offset, byteLength, isBetweenFrames: false, frame: undefined });
  const corrupt = (problem: string) =>
    corruptInputError(
      path,
      `the zstd data is corrupt at byte ${offset} (compressed): ${problem}; check it with \`zstd -t\``,
    );
  for (;;) {
    const storedOffset = offset;
    const magic = littleEndian(yield { ...inHeader(4), isBetweenFrames: true }, 0, 4);
    if (isSkippable(magic)) {
      offset += 4;
      offset += 4 + littleEndian(yield inHeader(4), 0, 4);
      continue;
    }
    if (magic !== MAGIC) throw trailingBytesError(path, offset);
    offset += 4;

    const [descriptor = 0] = yield inHeader(1);
    if ((descriptor & 0x08) !== 0) throw corrupt('a reserved bit of the frame header is set');
    offset += 1;

    const layout = layoutOf(descriptor);
    const bytes = yield inHeader(layout.byteLength);
    const contentBytes = contentBytesIn(bytes, layout);
    if (contentBytes !== undefined && !Number.isSafeInteger(contentBytes)) {
      // Only a field of eight bytes holds such a number.
      const claimed = Buffer.from(bytes).readBigUInt64LE(layout.idOffset + layout.idBytes);
      throw corrupt(`the frame claims to hold ${claimed} bytes`);
    }
    const windowBytes = layout.idOffset === 0 ? (contentBytes ?? 0) : windowOf(bytes[0] ?? 0);
    const beyond = beyondDecoders(littleEndian(bytes, layout.idOffset, layout.idBytes), windowBytes);
    if (beyond !== undefined)
      throw corruptInputError(path, `the zstd frame at byte ${storedOffset} (compressed) ${beyond}`);
    offset += layout.byteLength;

    const frame = { storedOffset, contentBytes, windowBytes };
    const mostBytes = Math.min(windowBytes, MOST_BLOCK_BYTES);
    for (let isLast = false; !isLast; ) {
      const header = littleEndian(yield { ...inHeader(3), frame }, 0, 3);
      isLast = (header & 1) !== 0;
      const type = (header >>> 1) & 3;
      const size = header >>> 3;
      if (type === RESERVED_BLOCK) throw corrupt('a block is of the reserved type');
      if (size > mostBytes) throw corrupt(`a block of ${size} bytes is longer than the ${mostBytes} allowed`);
      offset += 3 + (type === RLE_BLOCK ? 1 : size);
    }
    if ((descriptor & 0x04) !== 0) offset += CHECKSUM_BYTES;
  }
}

/** Says what a frame needs that no decoder here has. @param dictionaryId 0: it needs no dictionary. */
function beyondDecoders(dictionaryId: number, windowBytes: number): string | undefined {
  if (dictionaryId !== 0)
    return `needs the dictionary ${dictionaryId}, which pileshuf cannot be given; decompress it with \`zstd -d -D DICTIONARY\` first`;
  if (windowBytes <= MOST_WINDOW_BYTES) return undefined;
  return `has a window of ${windowBytes} bytes, more than the ${MOST_WINDOW_BYTES} that zstd can decode; compress the data again, with --long=31 at most`;
}

/** Throws unless the input ends between two frames. @param rest the bytes of the next `field` that the input has. */
export function requireEnd(path: string, field: ZstdField, storedBytes: number, rest: Uint8Array): void {
  if (field.isBetweenFrames && field.offset <= storedBytes) {
    if (rest.byteLength === 0) return;
    if (!beginsMagic(rest)) throw trailingBytesError(path, field.offset);
  }
  throw corruptInputError(
    path,
    `the zstd data ends at byte ${storedBytes} (compressed) inside a frame: the file is truncated; copy or make it again`,
  );
}

function trailingBytesError(path: string, offset: number): InputError {
  return corruptInputError(
    path,
    `byte ${offset} (compressed) lies after the last zstd frame and begins no other; expected the end of the file`,
  );
}

/** Enough for the fields before the first block, or for a block header. */
const WINDOW_BYTES = 32;

/**
 * The frames of a file that hold data, each as soon as its header is read. Reads only a few bytes for each frame and
 * each of its blocks, which hold 128 KiB at most.
 */
export function* listZstdFrames(path: string, file: Omit<StoredBytes, 'path'>): Generator<ZstdFrameHeader, void> {
  const walk = walkZstd(path, 0);
  let window: Uint8Array = new Uint8Array();
  let windowOffset = 0;
  let field = walk.next(window).value;
  while (field.offset < file.byteLength) {
    const { offset, byteLength, frame } = field;
    if (offset + byteLength > windowOffset + window.byteLength) {
      windowOffset = offset;
      window = file.read(windowOffset, WINDOW_BYTES);
    }
    const bytes = window.subarray(offset - windowOffset, offset - windowOffset + byteLength);
    if (bytes.byteLength < byteLength) return requireEnd(path, field, offset + bytes.byteLength, bytes);
    field = walk.next(bytes).value;
    if (frame === undefined && field.frame !== undefined) yield field.frame;
  }
  requireEnd(path, field, file.byteLength, new Uint8Array());
}

/** Returns whether these bytes, fewer than four, may begin magic bytes. */
function beginsMagic(bytes: Uint8Array): boolean {
  const magics = [MAGIC, SKIPPABLE_MAGIC | ((bytes[0] ?? 0) & 0xf)];
  return magics.some((magic) => bytes.every((byte, i) => byte === ((magic >>> (8 * i)) & 255)));
}

function isSkippable(magic: number): boolean {
  return (magic & SKIPPABLE_MASK) >>> 0 === SKIPPABLE_MAGIC;
}

/** The header fields after the descriptor: window (unless single segment), dictionary id, content size. */
interface HeaderLayout {
  readonly idOffset: 0 | 1;
  readonly idBytes: number;
  readonly sizeBytes: number;
  readonly byteLength: number;
}

function layoutOf(descriptor: number): HeaderLayout {
  const isSingleSegment = (descriptor & 0x20) !== 0;
  const idOffset = isSingleSegment ? 0 : 1;
  const idBytes = DICTIONARY_ID_BYTES[(descriptor & 3) as 0 | 1 | 2 | 3];
  const sizeBytes = CONTENT_SIZE_BYTES[(descriptor >>> 6) as 0 | 1 | 2 | 3] || (isSingleSegment ? 1 : 0);
  return { idOffset, idBytes, sizeBytes, byteLength: idOffset + idBytes + sizeBytes };
}

function contentBytesIn(header: Uint8Array, { idOffset, idBytes, sizeBytes }: HeaderLayout): number | undefined {
  if (sizeBytes === 0) return undefined;
  const size = littleEndian(header, idOffset + idBytes, sizeBytes);
  return sizeBytes === 2 ? size + 256 : size;
}

/** A power of two from 1 KiB on, and 0 to 7 eighths of it on top. */
function windowOf(descriptor: number): number {
  const base = 2 ** (10 + (descriptor >>> 3));
  return base + (base / 8) * (descriptor & 7);
}

function littleEndian(bytes: Uint8Array, offset: number, byteLength: number): number {
  let value = 0;
  for (let i = byteLength - 1; i >= 0; i--) value = value * 256 + (bytes[offset + i] ?? 0);
  return value;
}

/** The declared length of a frame; undefined: it declares none, or the bytes are not one frame. */
export function zstdContentBytes(frame: Uint8Array): number | undefined {
  try {
    const [first, ...others] = listZstdFrames('', {
      byteLength: frame.byteLength,
      read: (position, byteLength) => frame.subarray(position, position + byteLength),
    });
    return others.length === 0 ? first?.contentBytes : undefined;
  } catch {
    return undefined;
  }
}

export function zstdClaimedBytes(first: Uint8Array): number | undefined {
  if (first.byteLength < 5 || littleEndian(first, 0, 4) !== MAGIC) return undefined;
  const layout = layoutOf(first[4] ?? 0);
  return first.byteLength < 5 + layout.byteLength ? undefined : contentBytesIn(first.subarray(5), layout);
}

export function findZstdFrame(bytes: Uint8Array): number {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).indexOf(MAGIC_BYTES);
}

/**
 * How far the whole blocks reach in the first bytes of a file.
 * @param decodedBytes stops where blocks of the largest size would decode to so many bytes. Absent: at the end.
 */
export function wholeBlockBytes(head: Uint8Array, decodedBytes = Number.POSITIVE_INFINITY): number {
  let end = 0;
  let leftBytes = decodedBytes;
  try {
    const walk = walkZstd('', 0);
    for (let field = walk.next(head).value; field.offset <= head.byteLength; ) {
      end = field.offset;
      if (leftBytes <= 0) break;
      if (field.frame !== undefined) leftBytes -= MOST_BLOCK_BYTES;
      const bytes = head.subarray(end, end + field.byteLength);
      if (bytes.byteLength < field.byteLength) break;
      field = walk.next(bytes).value;
    }
  } catch {
    // Corrupt from here on.
  }
  return end;
}

/** Content size in 8 bytes, single segment. */
const STORED_DESCRIPTOR = 0b1110_0000;
const STORED_HEADER_BYTES = 4 + 1 + 8;
const BLOCK_HEADER_BYTES = 3;

/**
 * A frame of uncompressed blocks, whose length follows from that of its content:
 *
 *     magic 4 | descriptor 1 | content size 8 | blocks
 */
export function storeZstdFrame(bytes: Uint8Array): Uint8Array {
  const blockCount = Math.max(1, Math.ceil(bytes.byteLength / MOST_BLOCK_BYTES));
  const frame = new Uint8Array(STORED_HEADER_BYTES + blockCount * BLOCK_HEADER_BYTES + bytes.byteLength);
  const view = new DataView(frame.buffer);
  view.setUint32(0, MAGIC, true);
  view.setUint8(4, STORED_DESCRIPTOR);
  view.setBigUint64(5, BigInt(bytes.byteLength), true);
  let position = STORED_HEADER_BYTES;
  for (let block = 0; block < blockCount; block++) {
    const content = bytes.subarray(block * MOST_BLOCK_BYTES, (block + 1) * MOST_BLOCK_BYTES);
    const isLast = block === blockCount - 1 ? 1 : 0;
    const header = isLast + content.byteLength * 8;
    view.setUint16(position, header & 0xffff, true);
    view.setUint8(position + 2, header >>> 16);
    frame.set(content, position + BLOCK_HEADER_BYTES);
    position += BLOCK_HEADER_BYTES + content.byteLength;
  }
  return frame;
}
