/**
 * A task of `pileshuf check-shuffled`: reads windows of neighbouring records from a part of an input, and describes each
 * record in a few numbers.
 */
import type { FieldPath } from '../../src/formats/selector.js';
import type { InputPart } from '../../src/sources/input-part.js';
import type { Arena } from '../arena.js';
import { ReadArena, readPart } from '../read/read-part.js';
import type { ReadSettings } from '../settings.js';
import { readStateOf } from '../thread-state.js';

export interface WindowTask {
  readonly job: ReadSettings;
  readonly part: InputPart;
  readonly windowRecords: number;
  /** Records from the beginning of one window to the beginning of the next. */
  readonly stride: number;
  /** Infinity: up to the end of the part. */
  readonly windowCount: number;
  readonly field: FieldPath | undefined;
  /** The field of the number of a record; undefined: it is the first one in its text. */
  readonly id: FieldPath | undefined;
}

export interface SampledWindows {
  readonly windows: readonly (readonly DescribedRecord[])[];
  /** All records that were read. */
  readonly records: number;
  readonly bytes: number;
}

/** Kinds of bytes: lower and upper case letters, digits, blanks and controls, other ASCII, the rest. */
export const BYTE_KINDS = 6;
/** A record is compared by its words with the smallest hashes: a random choice that is the same in every record. */
const MOST_WORDS = 32;

export interface DescribedRecord {
  readonly byteLength: number;
  /** Shares of its bytes, by `BYTE_KINDS`. */
  readonly byteKinds: readonly number[];
  /** Hashes of words, ascending; none is 0. */
  readonly words: readonly number[];
  /** The first bytes, as latin1. */
  readonly beginning: string;
  /** NaN: the record has none. */
  readonly number: number;
  /** A hash of the value of the field; 0: the record has none. */
  readonly field: number;
}

const LOOKED_AT_BYTES = 4096;
const BEGINNING_BYTES = 24;
const MOST_DIGITS = 15;

class EnoughRecords extends Error {}

export async function sampleWindows(task: WindowTask): Promise<SampledWindows> {
  const { job, part } = task;
  const thread = readStateOf(job);
  const taker = new WindowTaker(thread.arena, task);
  try {
    await readPart(part, taker, thread, job);
  } catch (error) {
    if (!(error instanceof EnoughRecords)) throw error;
  }
  const { windows, records, bytes } = taker;
  return { windows, records, bytes };
}

class WindowTaker extends ReadArena {
  readonly windows: DescribedRecord[][] = [];
  records = 0;
  bytes = 0;
  readonly #task: WindowTask;

  constructor(arena: Arena, task: WindowTask) {
    super(arena, task.job);
    this.#task = task;
  }

  take(count: number): number {
    const { view, bytes } = this.kernel;
    const { windowRecords, stride, windowCount, field, id } = this.#task;
    for (let at = this.table; at < this.table + 8 * count; at += 8) {
      const [start, end] = [view.getUint32(at, true), view.getUint32(at + 4, true)];
      const window = Math.floor(this.records / stride);
      if (window >= windowCount) throw new EnoughRecords();
      const isSampled = this.records % stride < windowRecords;
      this.records += 1;
      this.bytes += end - start;
      if (!isSampled) continue;
      const seen = bytes.subarray(start, Math.min(end, start + LOOKED_AT_BYTES));
      this.windows[window] ??= [];
      this.windows[window].push(describeRecord(seen, end - start, field, id));
    }
    return 0;
  }
}

/** @param bytes the first bytes of the record. */
export function describeRecord(
  bytes: Uint8Array,
  byteLength: number,
  field?: FieldPath,
  id?: FieldPath,
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
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const json = field === undefined && id === undefined ? undefined : parsed(text);
  return {
    byteLength,
    byteKinds: kinds.map((count) => count / Math.max(1, bytes.byteLength)),
    words: [...words].sort((a, b) => a - b).slice(0, MOST_WORDS),
    beginning: text.toString('latin1', 0, BEGINNING_BYTES),
    number: id === undefined ? firstNumber(text) : numberAt(json, id),
    field: field === undefined ? 0 : hashOfValue(valueAt(json, field)),
  };
}

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

/** Parses a text. Undefined: it is not JSON, or longer than what is looked at. */
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
