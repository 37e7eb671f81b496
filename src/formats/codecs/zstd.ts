/**
 * zstd (RFC 8878): any number of frames, skippable ones among them, windows up to 2 GiB. An input that
 * ends inside a frame, and bytes behind the last one that begin no other, are errors.
 */
import type { Codec, CompressedSource, DecoderMemory, Member, StoredBytes } from '../codec.js';
import { addonDecoder } from './zstd-addon-decoder.js';
import type { SynchronousZstdDecoder, ZstdDecoder } from './zstd-decoder.js';
import { beginsZstd, listZstdFrames } from './zstd-frames.js';
import { findZstdInNode, loadZstdAddon } from './zstd-native.js';
import { nodeDecoder } from './zstd-node-decoder.js';
import { isSoundDecoder } from './zstd-probe.js';
import { decodeZstd, decodeZstdHead } from './zstd-reader.js';
import { wasmDecoder } from './zstd-wasm-decoder.js';

/** What text is larger by at the most; a head that decodes to more is not worth its time. */
const MOST_HEAD_BYTES = 16 * 1024 * 1024;

/** What this thread decodes with. */
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
  decodeHead: (compressed) => {
    if (loaded === undefined) throw new Error('zstd: decodeHead before load');
    return decodeZstdHead(loaded.headDecoder, compressed, MOST_HEAD_BYTES);
  },
  decode,
  listMembers,
};

async function* decode(source: CompressedSource, memory: DecoderMemory): AsyncGenerator<Uint8Array> {
  const { decoder } = await load();
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

/** The fastest that decodes a sample as it should: no version number tells. */
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
