/**
 * A task of `pileshuf check-shuffled`: reads windows of neighbouring records from a part of an input, and describes each
 * record in a few numbers. It stops reading when it has its windows.
 */
import { framingOf } from '../../src/formats/framing-table.js';
import type { FieldPath } from '../../src/formats/selector.js';
import type { InputPart } from '../../src/inputs/input-part.js';
import { BOUNDARY_TABLE_BYTES } from '../../src/plan/arena-sizes.js';
import { BYTE_KINDS, type SampledRecords, WORDS_OF_RECORD } from '../../src/plan/record-sample.js';
import { type Arena, ArenaLayout } from '../arena.js';
import type { Kernel } from '../kernel/kernel.js';
import { readPart } from '../read/read-part.js';
import { ReadWindow } from '../read/read-window.js';
import type { RecordTaker } from '../read/record-reader.js';
import type { ReadSettings } from '../settings.js';
import { readStateOf } from '../thread-state.js';

/** Which records of a part are sampled: those with ordinals in [i * stride, i * stride + records), for i below `count`. */
export interface Windows {
  readonly records: number;
  readonly stride: number;
  readonly count: number;
}

export interface SampleTask {
  readonly job: ReadSettings;
  readonly part: InputPart;
  readonly windows: Windows;
  /** Of a JSON record; undefined: none. */
  readonly field: FieldPath | undefined;
  /** Where the number of a record stands; undefined: it is the first one in its text. */
  readonly id: FieldPath | undefined;
}

export interface SampledPart {
  readonly sample: SampledRecords;
  /** The records of each window. */
  readonly windowRecords: readonly number[];
  /** All records that were read. */
  readonly records: number;
  readonly bytes: number;
}

/** So much of a record is looked at. */
const LOOKED_AT_BYTES = 4096;
const BEGINNING_BYTES = 24;
const MOST_DIGITS = 15;

/** Ends the reading of a part that has given enough. */
class EnoughRecords extends Error {}

export async function sampleRecords({ job, part, windows, field, id }: SampleTask): Promise<SampledPart> {
  const thread = readStateOf(job);
  const framing = job.framing === undefined ? undefined : framingOf(job.framing);
  const taker = new SampleTaker(thread.arena, job, windows, (bytes, byteLength) =>
    describeRecord(bytes, byteLength, field, id),
  );
  try {
    await readPart(part, framing, taker, thread, job);
  } catch (error) {
    if (!(error instanceof EnoughRecords)) throw error;
  }
  const { described, windowRecords, records, bytes } = taker;
  return { sample: inColumns(described), windowRecords, records, bytes };
}

export interface DescribedRecord {
  readonly byteLength: number;
  readonly byteKinds: readonly number[];
  readonly words: readonly number[];
  readonly beginning: string;
  readonly number: number;
  readonly field: number;
}

class SampleTaker implements RecordTaker {
  readonly window: ReadWindow;
  readonly table: number;
  readonly described: DescribedRecord[] = [];
  readonly windowRecords: number[] = [];
  records = 0;
  bytes = 0;
  readonly #arena: Arena;
  readonly #windows: Windows;
  readonly #describe: (bytes: Uint8Array, byteLength: number) => DescribedRecord;

  constructor(
    arena: Arena,
    { readBytes, maxRecordBytes }: ReadSettings,
    windows: Windows,
    describe: (bytes: Uint8Array, byteLength: number) => DescribedRecord,
  ) {
    this.#arena = arena;
    this.#windows = windows;
    this.#describe = describe;
    const layout = new ArenaLayout();
    this.table = layout.take(BOUNDARY_TABLE_BYTES);
    this.window = new ReadWindow(arena, layout.take(0, 4096), readBytes, maxRecordBytes);
  }

  get kernel(): Kernel {
    return this.#arena.kernel;
  }

  /** @throws EnoughRecords */
  take(count: number): number {
    const { view, bytes } = this.kernel;
    const { records, stride, count: windowCount } = this.#windows;
    for (let at = this.table; at < this.table + 8 * count; at += 8) {
      const [start, end] = [view.getUint32(at, true), view.getUint32(at + 4, true)];
      const window = Math.floor(this.records / stride);
      if (window >= windowCount) throw new EnoughRecords();
      const isSampled = this.records % stride < records;
      this.records += 1;
      this.bytes += end - start;
      if (!isSampled) continue;
      this.windowRecords[window] = (this.windowRecords[window] ?? 0) + 1;
      this.described.push(this.#describe(bytes.subarray(start, Math.min(end, start + LOOKED_AT_BYTES)), end - start));
    }
    return 0;
  }
}

/** @param bytes the first of the record. */
export function describeRecord(
  bytes: Uint8Array,
  byteLength: number,
  field: FieldPath | undefined,
  id: FieldPath | undefined,
): DescribedRecord {
  const kinds = new Array<number>(BYTE_KINDS).fill(0);
  const words = new Set<number>();
  let hash = 0;
  for (const byte of bytes) {
    const kind = kindOf(byte);
    kinds[kind] = (kinds[kind] ?? 0) + 1;
    const isOfWord = kind < 3 || kind === 5;
    // FNV-1a of lower case letters; 0 stands for no word.
    if (isOfWord) hash = Math.imul((hash === 0 ? 0x811c9dc5 : hash) ^ (kind === 1 ? byte | 0x20 : byte), 0x01000193);
    else if (hash !== 0) {
      words.add(mixed(hash));
      hash = 0;
    }
  }
  if (hash !== 0) words.add(mixed(hash));
  const smallest = [...words].sort((a, b) => a - b).slice(0, WORDS_OF_RECORD);
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const json = field === undefined && id === undefined ? undefined : parsed(text);
  const number = id === undefined ? firstNumber(text) : numberAt(json, id);
  return {
    byteLength,
    byteKinds: kinds.map((count) => count / Math.max(1, bytes.byteLength)),
    words: smallest,
    beginning: text.toString('latin1', 0, BEGINNING_BYTES),
    number,
    field: field === undefined ? 0 : hashOfValue(valueAt(json, field)),
  };
}

/** See `BYTE_KINDS`. */
function kindOf(byte: number): number {
  if (byte >= 0x61 && byte <= 0x7a) return 0;
  if (byte >= 0x41 && byte <= 0x5a) return 1;
  if (byte >= 0x30 && byte <= 0x39) return 2;
  if (byte <= 0x20) return 3;
  return byte < 0x80 ? 4 : 5;
}

/** Spreads a hash over all 32 bits; never 0. */
function mixed(hash: number): number {
  const once = Math.imul(hash ^ (hash >>> 16), 0x7feb352d);
  const twice = Math.imul(once ^ (once >>> 15), 0x846ca68b);
  return (twice ^ (twice >>> 16)) >>> 0 || 1;
}

function firstNumber(text: Buffer): number {
  const digits = /\d+/.exec(text.toString('latin1', 0, 256))?.[0];
  return digits === undefined || digits.length > MOST_DIGITS ? Number.NaN : Number(digits);
}

/** Undefined: it is no JSON, or longer than what is looked at. */
function parsed(text: Buffer): unknown {
  try {
    return JSON.parse(text.toString());
  } catch {
    return undefined;
  }
}

function valueAt(json: unknown, path: FieldPath): unknown {
  let value = json;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = Reflect.get(value, key);
  }
  return value;
}

function numberAt(json: unknown, path: FieldPath): number {
  const value = valueAt(json, path);
  const number = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : Number.NaN;
}

function hashOfValue(value: unknown): number {
  if (value === undefined) return 0;
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(JSON.stringify(value))) hash = Math.imul(hash ^ byte, 0x01000193);
  return mixed(hash);
}

export function inColumns(records: readonly DescribedRecord[]): SampledRecords {
  const count = records.length;
  const byteKinds = new Float32Array(count * BYTE_KINDS);
  const words = new Uint32Array(count * WORDS_OF_RECORD);
  for (const [i, record] of records.entries()) {
    byteKinds.set(record.byteKinds, i * BYTE_KINDS);
    words.set(record.words, i * WORDS_OF_RECORD);
  }
  return {
    count,
    byteLengths: Float64Array.from(records, ({ byteLength }) => byteLength),
    byteKinds,
    words,
    beginnings: records.map(({ beginning }) => beginning),
    numbers: Float64Array.from(records, ({ number }) => number),
    fields: Uint32Array.from(records, ({ field }) => field),
  };
}
