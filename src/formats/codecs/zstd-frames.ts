/**
 * Walks over zstd frames (RFC 8878) without decoding them: from each frame header and the three bytes
 * before each block follows where the next one lies. So the ends of frames are known whatever a decoder
 * thinks of them, and so are truncated files; of some decoders, what follows the first frame or a
 * skippable one is lost without a word.
 *
 *     frame       magic 28 B5 2F FD | header, 2 to 14 bytes | blocks | checksum, 0 or 4 bytes
 *     block       3 bytes, little-endian: last (1 bit), type (2), size (21) | content
 *     skippable   magic 5x 2A 4D 18 | size of the content, 4 bytes | content
 */
import { InputError } from '../../errors.js';
import type { StoredBytes } from '../codec.js';

/** What the header of a frame says. */
export interface ZstdFrameHeader {
  /** Position of its magic bytes in the compressed input. */
  readonly storedOffset: number;
  /** Bytes that it decodes to; undefined: it does not say. */
  readonly contentBytes: number | undefined;
  /** Decoded bytes that a decoder must keep at hand. */
  readonly windowBytes: number;
  readonly hasChecksum: boolean;
}

const MAGIC = 0xfd2fb528;
const SKIPPABLE_MAGIC = 0x184d2a50;
const SKIPPABLE_MASK = 0xfffffff0;

const MOST_BLOCK_BYTES = 128 * 1024;
/** `zstd --long=31`, the largest that any decoder takes. */
const MOST_WINDOW_BYTES = 2 ** 31;

const RLE_BLOCK = 1;
const RESERVED_BLOCK = 3;

/** Bytes of the fields that the two flags of the descriptor choose from. */
const DICTIONARY_ID_BYTES = [0, 1, 2, 4] as const;
const CONTENT_SIZE_BYTES = [0, 2, 4, 8] as const;
const CHECKSUM_BYTES = 4;

/** Bytes that the walker looks at, one after the other. */
type Field = 'magic' | 'skippable size' | 'descriptor' | 'frame header' | 'block header';

/** What lies behind a field, and need not be looked at. */
export interface PassedOver {
  readonly byteLength: number;
  /** Whether the frame under way ends with it. */
  readonly endsFrame: boolean;
}

const NOTHING: PassedOver = { byteLength: 0, endsFrame: false };

/** Whether an input that begins with these bytes is zstd. */
export function beginsZstd(head: Uint8Array): boolean {
  if (head.byteLength < 4) return false;
  const magic = littleEndian(head, 0, 4);
  return magic === MAGIC || isSkippable(magic);
}

/** Is shown one field after the other, and tells how far away the next one is. */
export class ZstdWalker {
  readonly #path: string;
  #field: Field = 'magic';
  #fieldBytes = 4;
  #fieldOffset: number;
  #descriptor = 0;
  #frameOffset = 0;
  #frame: ZstdFrameHeader | undefined;

  /**
   * @param path for messages.
   * @param start position of the first frame.
   */
  constructor(path: string, start: number) {
    this.#path = path;
    this.#fieldOffset = start;
  }

  /** Position of the next field. */
  get fieldOffset(): number {
    return this.#fieldOffset;
  }

  get fieldBytes(): number {
    return this.#fieldBytes;
  }

  /** Whether a frame, or a skippable one, may begin with the next field. */
  get isBetweenFrames(): boolean {
    return this.#field === 'magic';
  }

  /** The frame whose blocks are next; undefined between frames and inside a header. */
  get frame(): ZstdFrameHeader | undefined {
    return this.#frame;
  }

  /**
   * @param bytes the next field, `fieldBytes` from `fieldOffset` on.
   * @throws InputError ERR_INPUT_CORRUPT when it is not as RFC 8878 says, or more than can be decoded.
   */
  see(bytes: Uint8Array): PassedOver {
    switch (this.#field) {
      case 'magic':
        return this.#seeMagic(littleEndian(bytes, 0, 4));
      case 'skippable size':
        return this.#next('magic', 4, { byteLength: littleEndian(bytes, 0, 4), endsFrame: false });
      case 'descriptor':
        return this.#seeDescriptor(littleEndian(bytes, 0, 1));
      case 'frame header':
        return this.#seeFrameHeader(bytes);
      case 'block header':
        return this.#seeBlockHeader(littleEndian(bytes, 0, 3));
    }
  }

  /**
   * The input ends at `storedBytes`.
   * @param rest what there is of the next field.
   * @throws InputError ERR_INPUT_CORRUPT unless it ends between two frames.
   */
  end(storedBytes: number, rest: Uint8Array): void {
    if (this.#field === 'magic' && this.#fieldOffset <= storedBytes) {
      if (rest.byteLength === 0) return;
      if (!beginsMagic(rest)) throw this.#behindLastFrame();
    }
    throw new InputError(
      'ERR_INPUT_CORRUPT',
      `${this.#path}: the zstd data ends at byte ${storedBytes} (compressed) inside a frame: the file is truncated; copy or make it again`,
    );
  }

  #next(field: Field, fieldBytes: number, passed: PassedOver): PassedOver {
    this.#fieldOffset += this.#fieldBytes + passed.byteLength;
    this.#field = field;
    this.#fieldBytes = fieldBytes;
    if (passed.endsFrame) this.#frame = undefined;
    return passed;
  }

  #seeMagic(magic: number): PassedOver {
    this.#frameOffset = this.#fieldOffset;
    if (magic === MAGIC) return this.#next('descriptor', 1, NOTHING);
    if (isSkippable(magic)) return this.#next('skippable size', 4, NOTHING);
    throw this.#behindLastFrame();
  }

  #seeDescriptor(descriptor: number): PassedOver {
    if ((descriptor & 0x08) !== 0) throw this.#corrupt('a reserved bit of the frame header is set');
    this.#descriptor = descriptor;
    const isSingleSegment = isSingleSegmentIn(descriptor);
    const windowBytes = isSingleSegment ? 0 : 1;
    const fieldBytes = windowBytes + dictionaryIdBytesIn(descriptor) + contentSizeBytesIn(descriptor);
    return this.#next('frame header', fieldBytes, NOTHING);
  }

  #seeFrameHeader(bytes: Uint8Array): PassedOver {
    const descriptor = this.#descriptor;
    const isSingleSegment = isSingleSegmentIn(descriptor);
    const idOffset = isSingleSegment ? 0 : 1;
    const idBytes = dictionaryIdBytesIn(descriptor);
    const dictionaryId = littleEndian(bytes, idOffset, idBytes);
    if (dictionaryId !== 0) {
      throw this.#refused(
        `needs the dictionary ${dictionaryId}, which pileshuf cannot be given; decompress it with \`zstd -d -D DICTIONARY\` first`,
      );
    }
    const contentBytes = contentSizeOf(bytes, idOffset + idBytes, contentSizeBytesIn(descriptor));
    if (contentBytes !== undefined && !Number.isSafeInteger(contentBytes)) {
      throw this.#corrupt(`the frame claims to hold ${contentBytes} bytes`);
    }
    const windowBytes = isSingleSegment ? (contentBytes ?? 0) : windowOf(littleEndian(bytes, 0, 1));
    if (windowBytes > MOST_WINDOW_BYTES) {
      throw this.#refused(
        `has a window of ${windowBytes} bytes, more than the ${MOST_WINDOW_BYTES} that zstd can decode; compress the data again, with --long=31 at most`,
      );
    }
    this.#frame = {
      storedOffset: this.#frameOffset,
      contentBytes,
      windowBytes,
      hasChecksum: (descriptor & 0x04) !== 0,
    };
    return this.#next('block header', 3, NOTHING);
  }

  #seeBlockHeader(header: number): PassedOver {
    const isLast = (header & 1) !== 0;
    const type = (header >>> 1) & 3;
    const size = header >>> 3;
    if (type === RESERVED_BLOCK) throw this.#corrupt('a block is of the reserved type');
    const mostBytes = Math.min(this.#frame?.windowBytes ?? 0, MOST_BLOCK_BYTES);
    if (size > mostBytes) throw this.#corrupt(`a block of ${size} bytes is longer than the ${mostBytes} allowed`);
    const contentBytes = type === RLE_BLOCK ? 1 : size;
    if (!isLast) return this.#next('block header', 3, { byteLength: contentBytes, endsFrame: false });
    const checksumBytes = this.#frame?.hasChecksum ? CHECKSUM_BYTES : 0;
    return this.#next('magic', 4, { byteLength: contentBytes + checksumBytes, endsFrame: true });
  }

  #behindLastFrame(): InputError {
    return new InputError(
      'ERR_INPUT_CORRUPT',
      `${this.#path}: byte ${this.#fieldOffset} (compressed) lies behind the last zstd frame and begins no other; expected the end of the file`,
    );
  }

  #corrupt(what: string): InputError {
    return new InputError(
      'ERR_INPUT_CORRUPT',
      `${this.#path}: the zstd data is corrupt at byte ${this.#fieldOffset} (compressed): ${what}; check it with \`zstd -t\``,
    );
  }

  #refused(what: string): InputError {
    return new InputError(
      'ERR_INPUT_CORRUPT',
      `${this.#path}: the zstd frame at byte ${this.#frameOffset} (compressed) ${what}`,
    );
  }
}

/** Enough for the fields before the first block, or for the header of one. */
const LOOK_BYTES = 32;

/**
 * The frames of a file with data in them, in order, each when its header was read, without reading the data: some
 * bytes for each frame and for each of its blocks, which hold 128 KiB at most.
 * @throws InputError ERR_INPUT_CORRUPT as `ZstdWalker`.
 */
export function* listZstdFrames(path: string, file: Omit<StoredBytes, 'path'>): Generator<ZstdFrameHeader, void> {
  const walker = new ZstdWalker(path, 0);
  let look: Uint8Array = new Uint8Array();
  let lookOffset = 0;
  while (walker.fieldOffset < file.byteLength) {
    const { fieldOffset, fieldBytes } = walker;
    if (fieldOffset + fieldBytes > lookOffset + look.byteLength) {
      lookOffset = fieldOffset;
      look = file.read(lookOffset, LOOK_BYTES);
    }
    const field = look.subarray(fieldOffset - lookOffset, fieldOffset - lookOffset + fieldBytes);
    if (field.byteLength < fieldBytes) return walker.end(fieldOffset + field.byteLength, field);
    const isInFrame = walker.frame !== undefined;
    walker.see(field);
    if (!isInFrame && walker.frame !== undefined) yield walker.frame;
  }
  walker.end(file.byteLength, new Uint8Array());
}

/** Whether these bytes, fewer than four, may be the first of magic bytes. */
function beginsMagic(bytes: Uint8Array): boolean {
  const magics = [MAGIC, SKIPPABLE_MAGIC | ((bytes[0] ?? 0) & 0xf)];
  return magics.some((magic) => bytes.every((byte, i) => byte === ((magic >>> (8 * i)) & 255)));
}

function isSkippable(magic: number): boolean {
  return (magic & SKIPPABLE_MASK) >>> 0 === SKIPPABLE_MAGIC;
}

function isSingleSegmentIn(descriptor: number): boolean {
  return (descriptor & 0x20) !== 0;
}

function dictionaryIdBytesIn(descriptor: number): number {
  return DICTIONARY_ID_BYTES[(descriptor & 3) as 0 | 1 | 2 | 3];
}

function contentSizeBytesIn(descriptor: number): number {
  const byteLength = CONTENT_SIZE_BYTES[(descriptor >>> 6) as 0 | 1 | 2 | 3];
  return byteLength === 0 && isSingleSegmentIn(descriptor) ? 1 : byteLength;
}

function contentSizeOf(bytes: Uint8Array, offset: number, byteLength: number): number | undefined {
  if (byteLength === 0) return undefined;
  const size = littleEndian(bytes, offset, byteLength);
  return byteLength === 2 ? size + 256 : size;
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

/** What a frame says that it holds; undefined: it does not say, or it is not one frame. */
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

/** Content size in 8 bytes, single segment. */
const STORED_DESCRIPTOR = 0b1110_0000;
const STORED_HEADER_BYTES = 4 + 1 + 8;
const BLOCK_HEADER_BYTES = 3;

/**
 * A frame of blocks that are not compressed, so that its length follows from that of its content:
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
