/**
 * Takes what a call names as its source, as far as it is few records: words, lines of a file or of standard input, or
 * numbers. Where there are many, it says where the library finds them.
 */
import { cutIntoRecords, joinRecords, type RecordList } from '../../formats/record-list.js';
import { areFew } from '../../jobs/order-few.js';
import type { NumberRange } from './counts.js';
import { bytesOfWord } from './raw-words.js';
import type { ShufJob } from './shuf-call.js';
import type { GivenInput } from './shuf-job.js';
import { takeInput } from './taken-input.js';

const NEWLINE = 0x0a;
const NUL = 0x00;

/** What was read of the source: all of few records, or where to find many. */
export type TakenSource = { readonly isEmpty: boolean } & (
  | { readonly kind: 'few'; readonly list: RecordList }
  | { readonly kind: 'many'; readonly input: GivenInput }
  | { readonly kind: 'range'; readonly range: NumberRange }
);

export const NOTHING: TakenSource = {
  kind: 'few',
  list: { bytes: new Uint8Array(), ends: new Float64Array() },
  isEmpty: true,
};

/** @throws ShufError */
export function takeSource({ source, zeroTerminated }: ShufJob, standardInput: number): TakenSource {
  const delimiter = zeroTerminated ? NUL : NEWLINE;
  if (source.kind === 'range') {
    const isEmpty = source.range.high < source.range.low;
    return isEmpty ? NOTHING : { ...source, isEmpty };
  }
  if (source.kind === 'words') {
    const records = source.words.map(bytesOfWord);
    const list = joinRecords(records, Uint8Array.of(delimiter));
    if (areFew(list)) return few(list);
    return { kind: 'many', input: { records }, isEmpty: false };
  }
  const taken = takeInput(source.path, standardInput);
  if (taken.kind === 'few') return few(cutIntoRecords(taken.bytes, delimiter));
  return { kind: 'many', input: taken.input, isEmpty: false };
}

function few(list: RecordList): TakenSource {
  return { kind: 'few', list, isEmpty: list.ends.length === 0 };
}

/** Without their delimiters. */
export function recordsOf({ bytes, ends }: RecordList): Uint8Array[] {
  return Array.from(ends, (end, i) => bytes.subarray(ends[i - 1] ?? 0, end - 1));
}
