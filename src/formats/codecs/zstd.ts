/**
 * zstd (RFC 8878): any number of frames, skippable ones among them, windows up to 2 GiB. An input that ends inside a
 * frame is an error, and so are bytes after the last frame that begin no other.
 */
import type { Codec, CompressedSource, DecoderMemory, Member, StoredBytes } from '../codec.js';
import {
  addonDecoder,
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
  wholeBlockBytes,
  zstdClaimedBytes,
} from './zstd-frames.js';
import { findZstdInNode, loadZstdAddon } from './zstd-libraries.js';
import { decodeZstd, decodeZstdHead } from './zstd-reader.js';

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
  decodeHead: (compressed, mostKeptBytes) => {
    if (loaded === undefined) throw new Error('zstd: decodeHead before load');
    return decodeZstdHead(loaded.headDecoder, compressed, { mostBytes: MOST_HEAD_BYTES, mostKeptBytes });
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

function* listMembers(bytes: StoredBytes): Generator<Member, number | undefined, void> {
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

/** The fastest that decodes a sample: no version number tells whether it works. */
async function chooseDecoder(): Promise<Loaded> {
  const addon = loadZstdAddon();
  if (addon !== undefined) {
    const decoder = addonDecoder(addon);
    if (await isSoundDecoder(decoder)) return { decoder, headDecoder: decoder };
  }
  const fallback = await wasmDecoder();
  const inNode = findZstdInNode();
  const candidate: ZstdDecoder | undefined = inNode === undefined ? undefined : nodeDecoder(inNode);
  const isSound = candidate !== undefined && (await isSoundDecoder(candidate));
  return { decoder: isSound ? candidate : fallback, headDecoder: fallback };
}

const SAMPLE = Buffer.from(
  'UCpNGAMAAABhYmMotS/9JD/dAQD0AnBpbGUgYnkgcGlsZSwgYWZ0ZXIsIGFuZCBldmVyIGluIGl0cyBvd24gb3JkZXIKAwBEDXK5' +
    'Im35ArFYpjBQKk0YAwAAAGFiYyi1L/0EaI0BACQCdGhlIHNlY29uZCBmcmFtZSBzYXlzIGFnYWluIDEKMjM0CgQAA1MG5lUqk8t5NgE4IvE+',
  'base64',
);
const DECODED =
  'pile by pile, pile after pile, and every pile in its own order\n' +
  [1, 2, 3, 4].map((i) => `the second frame says the second frame again ${i}\n`).join('');

/** Whether a decoder decodes all of the sample, cut anywhere, and refuses a damaged one. */
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
