/**
 * Measures on samples how fast this machine does the work of a job: putting records on piles, decoding inputs, encoding
 * outputs. It writes nothing.
 */
import { ARENA_START, Kernel } from '../../workers/kernel/kernel.js';
import { AbortError } from '../errors.js';
import type { MemberEncoder } from '../formats/codec.js';
import { type FramingSpec, framingOf } from '../formats/framing-table.js';
import type { CompressedInput } from '../inputs/expansion.js';
import { closeFile, openForRead, readAt } from '../io/files.js';
import { hearSignals } from '../pause.js';
import { BOUNDARY_COUNT, BOUNDARY_TABLE_BYTES, SLACK_BYTES, TALLY_BYTES } from '../plan/arena-sizes.js';

const KIB = 1024;
/** As usual jobs have them: together more than the cache of a core. */
const PILES = 256;
const BUFFER_BYTES = 128 * KIB;
/** What docs/SCALE-MODEL.md has for scanning, scattering and hashing. */
const MODEL = { perByte: 0.246e-9, perRecord: 26.6e-9 };
/** The fastest of them is as if nobody else used the processor and its caches. */
const WINDOWS = 5;
const DECODER_PIECE_BYTES = 256 * KIB;
/** Larger parts of a slow encoder would take too long. */
const MOST_ENCODED_BYTES = 4096 * KIB;

/** The time of a computation here, over that on the machine of the model. */
export interface Slowness {
  /** As if nobody else used the processor. */
  readonly alone: number;
  /** With the others that use it now. */
  readonly now: number;
}

/** @returns undefined without records. */
export async function probeKernel(
  records: readonly Uint8Array[],
  framingSpec: FramingSpec,
  seconds: number,
  signal: AbortSignal | undefined,
): Promise<Slowness | undefined> {
  const bytes = Buffer.concat(records);
  if (bytes.byteLength === 0) return undefined;
  const kernel = new Kernel();
  const table = ARENA_START;
  const tallies = table + 2 * BOUNDARY_TABLE_BYTES;
  const buffers = Math.ceil((tallies + PILES * TALLY_BYTES) / 4096) * 4096;
  const strideBytes = BUFFER_BYTES + SLACK_BYTES;
  const from = buffers + PILES * strideBytes;
  const to = from + bytes.byteLength;
  kernel.ensureArena(to + 4096 - ARENA_START);
  kernel.bytes.set(bytes, from);
  const { wasm } = kernel;
  wasm.keepAll();
  wasm.weigh(1, 0n);
  wasm.keyByContent(false);
  wasm.splitByNone();
  wasm.prepareScatter(PILES, tallies, buffers, BUFFER_BYTES, strideBytes, 1n);
  kernel.flush = () => {};
  const scatter = (): number => {
    const scanner = framingOf(framingSpec).openScanner(kernel, { maxRecordBytes: 2 ** 31 - 1 }, 'sample');
    let [at, scattered] = [from, 0];
    for (;;) {
      const count = scanner.scan(at, to, at, table, BOUNDARY_COUNT);
      if (count > 0) wasm.scatterRecords(table, count, from, 0n, 1n);
      scattered += count;
      if (count < BOUNDARY_COUNT) return scattered;
      at = kernel.view.getUint32(table + 8 * (count - 1) + 4, true);
    }
  };
  // The first time compiles, and touches the memory.
  if (scatter() === 0) return undefined;
  await hearSignals(signal);
  const modelSeconds = (scattered: number) => bytes.byteLength * MODEL.perByte + scattered * MODEL.perRecord;
  const windows: { readonly wall: number; readonly cpu: number; readonly model: number }[] = [];
  for (let window = 0; window < WINDOWS; window++) {
    const began = performance.now();
    const used = process.cpuUsage();
    const wall = () => (performance.now() - began) / 1000;
    let model = 0;
    do {
      model += modelSeconds(scatter());
    } while (wall() < seconds / WINDOWS);
    const { user, system } = process.cpuUsage(used);
    windows.push({ wall: wall(), cpu: (user + system) / 1e6, model });
  }
  const sum = (of: 'wall' | 'model') => windows.reduce((all, window) => all + window[of], 0);
  const alone = windows.map(({ wall, cpu, model }) => Math.min(wall, cpu) / model);
  return { alone: Math.min(...alone), now: sum('wall') / sum('model') };
}

/** @returns seconds for a decoded byte; undefined if the input cannot be decoded: the job says why. */
export async function probeDecoder(
  { path, version, codec }: CompressedInput,
  usesIgzip: boolean,
  seconds: number,
  signal: AbortSignal | undefined,
): Promise<number | undefined> {
  const file = openForRead(path, 'input');
  let decodedBytes = 0;
  const began = performance.now();
  const open = () => {
    let position = 0;
    return {
      path,
      start: 0,
      next: () => {
        if (signal?.aborted === true) throw new AbortError(signal.reason);
        const bytes = new Uint8Array(Math.min(DECODER_PIECE_BYTES, version.byteLength - position));
        const count = readAt(file, bytes, 0, bytes.byteLength, position);
        position += count;
        return bytes.subarray(0, count);
      },
    };
  };
  const again = usesIgzip ? { again: { byteLength: version.byteLength, open } } : {};
  const memory = { reserve: () => true, budgetFor: () => '' };
  try {
    for await (const piece of codec.decode({ ...open(), ...again }, memory)) {
      decodedBytes += piece.byteLength;
      if (performance.now() - began > 1000 * seconds) break;
    }
  } catch (error) {
    if (error instanceof AbortError) throw error;
    return undefined;
  } finally {
    closeFile(file);
  }
  return decodedBytes === 0 ? undefined : (performance.now() - began) / 1000 / decodedBytes;
}

export interface EncoderProbe {
  readonly secondsPerByte: number;
  /** Of a byte of records. */
  readonly bytesPerByte: number;
}

/** @param memberBytes that the job encodes at a time. @returns undefined without records. */
export async function probeEncoder(
  shuffled: readonly Uint8Array[],
  encoder: MemberEncoder,
  memberBytes: number,
  seconds: number,
  signal: AbortSignal | undefined,
): Promise<EncoderProbe | undefined> {
  const bytes = Buffer.concat(shuffled);
  const began = performance.now();
  let [from, encodedBytes] = [0, 0];
  while (from < bytes.byteLength && (from === 0 || performance.now() - began < 1000 * seconds)) {
    const part = new Uint8Array(bytes.subarray(from, from + Math.min(memberBytes, MOST_ENCODED_BYTES)));
    encodedBytes += encoder.encode(part).byteLength;
    from += part.byteLength;
    await hearSignals(signal);
  }
  if (from === 0) return undefined;
  return { secondsPerByte: (performance.now() - began) / 1000 / from, bytesPerByte: encodedBytes / from };
}
