/**
 * Samples that lie side by side in the output and have one key: finds them at the seams of ranges, and where they came
 * from. A sample says nothing of its input, but its place in the order is a random number that follows from its input and
 * position. So all positions are tried; no input is read again, which a stream could not be.
 */

import { Kernel } from '../../workers/kernel/kernel.js';
import { InputError, VerificationError } from '../errors.js';
import type { KeyRule } from '../floor/keys.js';
import type { List } from '../floor/paged-list.js';
import { yieldAndCheckAbort } from '../floor/pause.js';
import type { SampleKeys } from '../formats/framing.js';
import { framingOf } from '../formats/framing-table.js';
import type { FinishedRange, KeyedSample } from '../job-directory/notes.js';
import { isDistinct } from '../keep/distinct.js';
import { inputName } from '../places/inputs/input-source.js';
import type { ShuffleSpec } from '../spec.js';

/** Positions that are tried at a time: some milliseconds. */
const POSITIONS_TOGETHER = 2 ** 20;

const ONCE_IN_ALL = 'expected each key once in all inputs: pack each tar file with a directory of its own';

export type Neighbours = readonly [KeyedSample, KeyedSample];

interface SamplePlace {
  readonly inputOrdinal: number;
  readonly path: string;
  /** The place in the decoded input where it begins; undefined: unknown. */
  readonly position: number | undefined;
}

export interface SampleSource {
  readonly inputs: List<{ readonly path: string }>;
  /** The end of the records of each input, in decoded bytes. */
  readonly recordEnds: Float64Array;
  /** The generator key of an input. */
  readonly keyOf: (inputOrdinal: number) => bigint;
  /** The source of keys. Absent: `position`. */
  readonly keys?: KeyRule;
  /** True if keys follow from the content of records instead of their places. */
  readonly isDistinct: boolean;
  readonly sampleKeys: SampleKeys;
  readonly signal: AbortSignal | undefined;
}

export function sampleSourceOf(
  { read: { framing }, keep, key }: ShuffleSpec,
  source: Omit<SampleSource, 'sampleKeys' | 'isDistinct' | 'keys'>,
): SampleSource | undefined {
  const sampleKeys = framing === undefined ? undefined : framingOf(framing).sampleKeys;
  return sampleKeys && { ...source, keys: key.from, isDistinct: isDistinct(keep), sampleKeys };
}

/**
 * @param ranges all of the output, in any order. Two that share a pile have both compared its samples.
 * @returns the first two neighbours of one key in different ranges.
 */
export function neighboursAtSeams(ranges: readonly FinishedRange[]): Neighbours | undefined {
  let last: { readonly sample: KeyedSample; readonly end: number } | undefined;
  for (const { ends, first, end } of ranges.toSorted((a, b) => a.first - b.first)) {
    if (ends === undefined || ends === null) continue;
    if (last !== undefined && last.end <= first && last.sample.sampleKey === ends.first.sampleKey)
      return [last.sample, ends.first];
    last = { sample: ends.last, end };
  }
  return undefined;
}

/** The error for neighbours of one key, with the places of both. */
export async function errorForNeighboursOfOneKey([one, other]: Neighbours, source: SampleSource): Promise<InputError> {
  const shown = JSON.stringify(Buffer.from(one.sampleKey, 'latin1').toString());
  const asError = (who: string, remedy = ONCE_IN_ALL) =>
    new InputError(
      'ERR_SAMPLE_KEY_REPEATED',
      `${who} the key ${shown} and would lie side by side, as one sample to readers; ${remedy}`,
    );
  if (source.isDistinct) return asError('two samples have');
  const places = [await placeOf(one, source), await placeOf(other, source)] as const;
  const [first, second] = places[0].inputOrdinal <= places[1].inputOrdinal ? places : [places[1], places[0]];
  if (first.inputOrdinal !== second.inputOrdinal)
    return asError(`${nameOf(first)} and ${nameOf(second)}: a sample of each has`);
  const at = first.position === undefined ? '' : ` (at bytes ${first.position} and ${second.position})`;
  return asError(
    `${inputName(first.path)}: two samples${at} have`,
    'expected each key once, and the members of a sample side by side, as `tar --sort=name` packs them',
  );
}

function nameOf({ path, position }: SamplePlace): string {
  return position === undefined ? inputName(path) : `${inputName(path)} (byte ${position})`;
}

async function placeOf({ key }: KeyedSample, source: SampleSource): Promise<SamplePlace> {
  const { inputs, recordEnds, keyOf, keys, sampleKeys, signal } = source;
  const { wasm } = new Kernel();
  const isByOrdinal = keys === 'ordinal';
  for (const [inputOrdinal, { path }] of inputs.entries()) {
    const inputKey = keyOf(inputOrdinal);
    const endPosition = recordEnds[inputOrdinal] ?? 0;
    // No record is smaller than the alignment.
    const [step, end] = isByOrdinal ? [1, endPosition / sampleKeys.alignment] : [sampleKeys.alignment, endPosition];
    for (let start = 0; start < end; start += POSITIONS_TOGETHER * step) {
      await yieldAndCheckAbort(signal);
      const count = Math.min(POSITIONS_TOGETHER, Math.ceil((end - start) / step));
      const position = Number(wasm.findPosition(inputKey, BigInt(`0x${key}`), BigInt(start), step, count));
      if (position >= 0) return { inputOrdinal, path, position: isByOrdinal ? undefined : position };
    }
  }
  throw new VerificationError(
    `a record has the key ${key}, which no record of the inputs has; check the memory of this machine`,
  );
}
