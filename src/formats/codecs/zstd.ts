/**
 * zstd (RFC 8878): any number of frames, skippable ones among them, windows up to 2 GiB. An input that ends inside a
 * frame is an error, and so are bytes after the last frame that begin no other.
 */
import { types } from 'node:util';
import {
  corruptInputError,
  counted,
  InputError,
  PileshufError,
  SystemError,
  UsageError,
  WindowOverMemoryError,
} from '../../errors.js';
import { freeBytes } from '../../machine/free-bytes.js';
import type { Codec, CompressedSource, DecodedHead, DecoderMemory, StoredBytes, StoredMember } from '../codec.js';
import {
  findZstdInNode,
  nodeDecoder,
  type SynchronousZstdDecoder,
  wasmDecoder,
  type ZstdDecoder,
} from './zstd-decoders.js';
import {
  beginsZstd,
  findZstdFrame,
  listZstdFrames,
  MOST_ZSTD_EXPANSION,
  requireEnd,
  walkZstd,
  wholeBlockBytes,
  type ZstdField,
  type ZstdFrameHeader,
  zstdClaimedBytes,
} from './zstd-frames.js';

/** A head that decodes to more than text would is not worth its time. */
const MOST_HEAD_BYTES = 16 * 1024 * 1024;

interface Loaded {
  readonly decoder: ZstdDecoder;
  readonly headDecoder: SynchronousZstdDecoder;
}

let loading: Promise<Loaded> | undefined;
let loaded: Loaded | undefined;

export const zstd: Codec = {
  name: 'zstd',
  suffixes: ['.zst', '.zstd'],
  usualExpansion: 4,
  matches: beginsZstd,
  load: async () => {
    await load();
  },
  decodeHead: (compressed, mostReturnedBytes) => {
    if (loaded === undefined) throw new Error('zstd: decodeHead before load');
    return decodeZstdHead(loaded.headDecoder, compressed, { mostBytes: MOST_HEAD_BYTES, mostReturnedBytes });
  },
  wholeBytes: (head, decodedBytes) => wholeBlockBytes(head, decodedBytes < MOST_HEAD_BYTES ? undefined : decodedBytes),
  claimedBytes: zstdClaimedBytes,
  mostExpansion: MOST_ZSTD_EXPANSION,
  findMember: findZstdFrame,
  decode,
  listMembers,
};

async function* decode(source: CompressedSource, memory: DecoderMemory): AsyncGenerator<Uint8Array> {
  const { decoder } = await load();
  source.onDecoder?.(decoder.name);
  yield* decodeZstd(decoder, source, memory);
}

function* listMembers(bytes: StoredBytes): Generator<StoredMember, number | undefined, void> {
  let decodedStart = 0;
  for (const { storedOffset, contentBytes } of listZstdFrames(bytes.path, bytes)) {
    if (contentBytes === undefined || !Number.isSafeInteger(decodedStart + contentBytes)) return undefined;
    yield { storedStart: storedOffset, decodedStart, decodedBytes: contentBytes };
    decodedStart += contentBytes;
  }
  return decodedStart;
}

async function load(): Promise<Loaded> {
  loading ??= chooseDecoder();
  loaded = await loading;
  return loaded;
}

/** `node:zlib`, where it decodes a sample: no version number tells whether it works. */
async function chooseDecoder(): Promise<Loaded> {
  const headDecoder = wasmDecoder;
  const inNode = findZstdInNode();
  const candidate = inNode && nodeDecoder(inNode);
  const isSound = candidate !== undefined && (await isSoundDecoder(candidate));
  return { decoder: isSound ? candidate : headDecoder, headDecoder };
}

const SAMPLE = Buffer.from(
  'UCpNGAMAAABhYmMotS/9JD/dAQD0AnBpbGUgYnkgcGlsZSwgYWZ0ZXIsIGFuZCBldmVyIGluIGl0cyBvd24gb3JkZXIKAwBEDXK5' +
    'Im35ArFYpjBQKk0YAwAAAGFiYyi1L/0EaI0BACQCdGhlIHNlY29uZCBmcmFtZSBzYXlzIGFnYWluIDEKMjM0CgQAA1MG5lUqk8t5NgE4IvE+',
  'base64',
);
const DECODED =
  'pile by pile, pile after pile, and every pile in its own order\n' +
  [1, 2, 3, 4].map((i) => `the second frame says the second frame again ${i}\n`).join('');

/** Returns whether a decoder decodes all of the sample, cut anywhere, and refuses a damaged one. */
export async function isSoundDecoder(decoder: ZstdDecoder): Promise<boolean> {
  const whole = await decodeSample(decoder, [SAMPLE]);
  const inTwo = await decodeSample(decoder, [SAMPLE.subarray(0, 90), SAMPLE.subarray(90)]);
  const damaged = Buffer.from(SAMPLE);
  damaged[damaged.byteLength - 1] = (damaged[damaged.byteLength - 1] ?? 0) ^ 1;
  return whole === DECODED && inTwo === DECODED && (await decodeSample(decoder, [damaged])) === undefined;
}

async function decodeSample(decoder: ZstdDecoder, pieces: readonly Uint8Array[]): Promise<string | undefined> {
  const given = pieces.map((piece) => new Uint8Array(piece));
  const source = { path: '', start: 0, next: () => given.shift() ?? new Uint8Array() };
  const decoded: Uint8Array[] = [];
  try {
    for await (const piece of decodeZstd(decoder, source, { reserve: () => true, budgetFor: () => '' })) {
      decoded.push(piece.slice());
    }
  } catch {
    return undefined;
  }
  return Buffer.concat(decoded).toString();
}

/**
 * The window that every decoder has to take (RFC 8878, 3.1.1.1.2); most frames stay below it. It is not counted in the
 * budget, like the state of gzip.
 */
const FREE_WINDOW_BYTES = 8 * 1024 * 1024;

/**
 * Decodes an input frame by frame: reserves the memory for windows, and compares the length that a frame declares with
 * what it decodes to.
 */
export async function* decodeZstd(
  decoder: ZstdDecoder,
  source: CompressedSource,
  memory: DecoderMemory,
): AsyncGenerator<Uint8Array> {
  const { path } = source;
  const cutter = new ZstdFrameCutter(path, source.start);
  const frameDecoder = decoder.open();
  let decodedBytes = 0;
  try {
    for (let bytes = await source.next(); bytes.byteLength > 0; bytes = await source.next()) {
      for (const piece of cutter.cut(bytes)) {
        if (piece.beginsFrame) {
          reserveWindow(decoder, piece.frame, path, memory);
          decodedBytes = 0;
        }
        try {
          for await (const decoded of frameDecoder.decode(piece.bytes, piece.endsFrame)) {
            decodedBytes += decoded.byteLength;
            yield decoded;
          }
        } catch (error) {
          throw asInputError(error, path, piece);
        }
        if (piece.endsFrame) requireLength(piece, decodedBytes, path);
      }
      freeBytes(bytes);
    }
    cutter.end();
  } finally {
    frameDecoder.close();
  }
}

function reserveWindow(decoder: ZstdDecoder, frame: ZstdFrameHeader, path: string, memory: DecoderMemory): void {
  const { storedOffset, windowBytes } = frame;
  const { mostWindowBytes } = decoder;
  if (windowBytes > mostWindowBytes) {
    throw new InputError(
      'ERR_INPUT_UNREADABLE',
      `${path}: the zstd frame at byte ${storedOffset} (compressed) has a window of ${counted(windowBytes, 'byte')}, more than the ${mostWindowBytes} that the decoder of this Node takes; use Node 22.15 or later, or give \`decompressProgram\` as \`zstd -dc --long=31\``,
    );
  }
  const neededBytes = Math.min(windowBytes, frame.contentBytes ?? windowBytes);
  if (neededBytes <= FREE_WINDOW_BYTES || memory.reserve(neededBytes)) return;
  const message = `${path}: the zstd frame at byte ${storedOffset} (compressed) has a window of ${counted(windowBytes, 'byte')}, which does not fit the memory budget; expected \`memoryBytes\` of at least ${memory.budgetFor(neededBytes)}`;
  throw memory.mayFitAlone?.(neededBytes)
    ? new WindowOverMemoryError(message)
    : new UsageError(message, 'ERR_MEMORY_BUDGET');
}

/** Decodes the first bytes of an input, up to about `mostBytes`; empty when they are corrupt. */
export function decodeZstdHead(
  decoder: SynchronousZstdDecoder,
  compressed: Uint8Array,
  { mostBytes, mostReturnedBytes }: { readonly mostBytes: number; readonly mostReturnedBytes: number },
): DecodedHead {
  const frameDecoder = decoder.open();
  const pieces: Uint8Array[] = [];
  let decodedBytes = 0;
  const head = () => ({ bytes: Buffer.concat(pieces), decodedBytes });
  try {
    for (const { bytes, endsFrame } of new ZstdFrameCutter('', 0).cut(compressed)) {
      for (const piece of frameDecoder.decode(bytes, endsFrame)) {
        if (decodedBytes < mostReturnedBytes) pieces.push(piece.slice(0, mostReturnedBytes - decodedBytes));
        decodedBytes += piece.byteLength;
        if (decodedBytes >= mostBytes) return head();
      }
    }
    return head();
  } catch {
    return { bytes: new Uint8Array(), decodedBytes: 0 };
  } finally {
    frameDecoder.close();
  }
}

function requireLength({ frame, storedOffset, bytes }: FramePiece, decodedBytes: number, path: string): void {
  const { contentBytes } = frame;
  if (contentBytes === undefined || contentBytes === decodedBytes) return;
  throw corruptInputError(
    path,
    `the zstd frame at byte ${frame.storedOffset} (compressed) says that it holds ${counted(contentBytes, 'byte')} and ends at byte ${storedOffset + bytes.byteLength} after ${decodedBytes}; check it with \`zstd -t\``,
  );
}

function asInputError(error: unknown, path: string, { storedOffset, bytes }: FramePiece): unknown {
  if (!types.isNativeError(error) || error instanceof PileshufError) return error;
  if (/memory/i.test(error.message)) {
    return new SystemError(
      'ERR_OUT_OF_MEMORY',
      `${path}: no memory to decode the zstd data at byte ${storedOffset} (compressed): ${error.message}; lower \`memoryBytes\``,
      { cause: error },
    );
  }
  const end = storedOffset + bytes.byteLength;
  return corruptInputError(
    path,
    `the zstd data is corrupt between byte ${storedOffset} and byte ${end} (compressed): ${error.message}; check it with \`zstd -t\``,
    { cause: error },
  );
}

/** Window, dictionary and content size. Magic bytes and descriptor precede them. */
const MOST_FIELD_BYTES = 1 + 4 + 8;
const MOST_FRAME_HEADER_BYTES = 4 + 1 + MOST_FIELD_BYTES;

interface FramePiece {
  readonly frame: ZstdFrameHeader;
  readonly storedOffset: number;
  readonly bytes: Uint8Array;
  readonly beginsFrame: boolean;
  readonly endsFrame: boolean;
}

/** Cuts a stream of compressed bytes into its frames, without the skippable ones. */
class ZstdFrameCutter {
  readonly #path: string;
  readonly #walk: ReturnType<typeof walkZstd>;
  /** The field that the walk must see next; `#fieldBytes` holds its bytes so far. */
  #field: ZstdField;
  readonly #fieldBytes = new Uint8Array(MOST_FIELD_BYTES);
  #fieldFilled = 0;
  /** The header of the frame. A decoder gets it once it is known to be one. */
  readonly #header = new Uint8Array(MOST_FRAME_HEADER_BYTES);
  #headerFilled = 0;
  #frame: ZstdFrameHeader | undefined;
  #position: number;

  constructor(path: string, start: number) {
    this.#path = path;
    this.#walk = walkZstd(path, start);
    this.#field = this.#walk.next(this.#fieldBytes).value;
    this.#position = start;
  }

  /** A yielded piece lies in `bytes`, or is good until the next piece. */
  *cut(bytes: Uint8Array): Generator<FramePiece, void> {
    const start = this.#position;
    this.#position += bytes.byteLength;
    /** Bytes before this one were yielded, or are not for a decoder. */
    let yielded = 0;
    for (;;) {
      const wantedAt = this.#field.offset + this.#fieldFilled - start;
      let at = Math.min(wantedAt, bytes.byteLength);
      if (this.#frame !== undefined && this.#field.isBetweenFrames && at === wantedAt) {
        yield this.#piece(this.#frame, start + yielded, bytes.subarray(yielded, at), true);
        this.#frame = undefined;
      }
      if (this.#frame === undefined) yielded = at;
      if (at === bytes.byteLength) break;

      const count = Math.min(this.#field.byteLength - this.#fieldFilled, bytes.byteLength - at);
      this.#fieldBytes.set(bytes.subarray(at, at + count), this.#fieldFilled);
      this.#fieldFilled += count;
      at += count;
      if (this.#fieldFilled < this.#field.byteLength) break;
      this.#showField();
      if (this.#frame === undefined && this.#field.frame !== undefined) {
        this.#frame = this.#field.frame;
        const header = this.#header.subarray(0, this.#headerFilled);
        yield { ...this.#piece(this.#frame, this.#frame.storedOffset, header, false), beginsFrame: true };
        yielded = at;
      }
    }
    if (this.#frame !== undefined && yielded < bytes.byteLength) {
      yield this.#piece(this.#frame, start + yielded, bytes.subarray(yielded), false);
    }
  }

  end(): void {
    requireEnd(this.#path, this.#field, this.#position, this.#fieldBytes.subarray(0, this.#fieldFilled));
  }

  #showField(): void {
    const bytes = this.#fieldBytes.subarray(0, this.#fieldFilled);
    this.#fieldFilled = 0;
    if (this.#field.isBetweenFrames) this.#headerFilled = 0;
    if (this.#frame === undefined) {
      this.#header.set(bytes, this.#headerFilled);
      this.#headerFilled += bytes.byteLength;
    }
    this.#field = this.#walk.next(bytes).value;
  }

  #piece(frame: ZstdFrameHeader, storedOffset: number, bytes: Uint8Array, endsFrame: boolean): FramePiece {
    return { frame, storedOffset, bytes, beginsFrame: false, endsFrame };
  }
}
