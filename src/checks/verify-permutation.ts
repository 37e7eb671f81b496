/**
 * Verifies that a set of files has exactly the records of another one, in any order and however they are cut into
 * files. Any tool may have written them.
 *
 *     list, plan    both sides, as a shuffle reads them                              read-sets.ts
 *     tally         every record of both sides is read and tallied                   ../stages/compare-sets.ts
 *     find          only if the tallies differ: reads again, compares the records of differing slots
 */
import type { FoundPlace } from '../../workers/tasks/find-records.js';
import { InputError } from '../errors.js';
import { headerRuleOf } from '../formats/record-format.js';
import { isPattern } from '../io/list-files.js';
import { statPath } from '../io/paths.js';
import { type JobScope, runJob } from '../job/job.js';
import { completeReading } from '../job/request.js';
import { VERIFY_OPTIONS, type VerifyOptions } from '../options/shuffle-options.js';
import { inputFactsOf, STANDARD_INPUT } from '../places/inputs/input-kinds.js';
import { inputName } from '../places/inputs/input-source.js';
import type { Tuning } from '../plan/memory-plan.js';
import { bitmapOfSlots, type SlotTally, slotsToExamine } from '../plan/slot-tally.js';
import { unitOf } from '../sources/input.js';
import type { ReadSpec } from '../spec.js';
import {
  type ComparedRecord,
  comparePlaces,
  findDifferences,
  type TalliedSet,
  tallySets,
} from '../stages/compare-sets.js';
import { requireKnownOptions } from '../values/known-options.js';
import { type OpenedSets, openSets, runPass } from './read-sets.js';

export interface VerifiedSide {
  readonly files: number;
  readonly records: number;
  /** The bytes of all records with their delimiters, before compression. */
  readonly bytes: number;
  /** Multiset checksum, as in `ShuffleReport`. */
  readonly checksum: string;
}

/** The place at which a record begins. */
export interface RecordPlace {
  readonly path: string;
  /** Offset in the decoded file, or the number of the row, from 0. */
  readonly position: number;
  /** Present where the file is a table. */
  readonly isRow?: true | undefined;
}

/** A record that does not come equally often on both sides. */
export interface RecordDifference {
  readonly inInputs: number;
  readonly inOutputs: number;
  /** The first 10 of the side that has more. */
  readonly places: readonly RecordPlace[];
  readonly byteLength: number;
  /** The first 120 bytes, as UTF-8. */
  readonly excerpt: string;
}

export interface RecordDifferences {
  /** How many records, counting copies. */
  readonly records: number;
  /** The first 10, by their places. */
  readonly first: readonly RecordDifference[];
}

export interface VerifyReport {
  /** True if the outputs have exactly the records of the inputs, and the same header if there is one. */
  readonly isPermutation: boolean;
  readonly inputs: VerifiedSide;
  readonly outputs: VerifiedSide;
  /** How the headers of both sides differ; undefined: not at all. */
  readonly headerDifference: string | undefined;
  /** Undefined if the records are the same, or if a side has a stream: finding differences takes a second reading. */
  readonly differences:
    | {
        /** Records of the inputs that the outputs lack. */
        readonly missing: RecordDifferences;
        /** Records of the outputs that the inputs lack. */
        readonly extra: RecordDifferences;
        /** True if all differences were compared. False: the counts are estimates from a random part of them. */
        readonly isComplete: boolean;
      }
    | undefined;
  /** Elapsed time. */
  readonly seconds: number;
}

const MOST_SHOWN = 10;
/** A record that is compared by its bytes takes at most this much memory. */
const COMPARED_BYTES = 1024;
const MOST_COMPARED = 200_000;

/**
 * Checks whether `outputs` have exactly the records of `inputs`. Reads each side once, and twice if they differ; writes
 * nothing.
 *
 * @param tuning sizes for tests; they do not change the result.
 * @throws PileshufError: one of its subclasses. A difference is not an error: the report tells it.
 */
export async function verifyPermutation(options: VerifyOptions, tuning: Partial<Tuning> = {}): Promise<VerifyReport> {
  requireKnownOptions('verifyPermutation()', options, VERIFY_OPTIONS);
  const { value, seconds } = await runJob(options, (scope) => compareSides(options, tuning, scope));
  return { ...value, seconds };
}

async function compareSides(
  options: VerifyOptions,
  tuning: Partial<Tuning>,
  scope: JobScope,
): Promise<Omit<VerifyReport, 'seconds'>> {
  const { inputs, ...request } = completeReading(options);
  const { inputs: outputs } = completeReading({ ...options, inputs: options.outputs, onWarning: undefined });
  requireOutputs(options.outputs);
  const opened = await openSets([inputs, outputs], request, tuning);
  const [before, after] = await runPass(opened, scope, tallySets);
  if (before === undefined || after === undefined) throw new RangeError('a comparison has two sides');
  const differing = before.tally.slotsThatDiffer(after.tally);
  const isSame =
    differing.length === 0 &&
    before.tally.records === after.tally.records &&
    before.tally.bytes === after.tally.bytes &&
    before.tally.checksum === after.tally.checksum;
  const headerDifference = differenceOfHeaders(before, after, request.read);
  const [ofInputs, ofOutputs] = opened.sets.map((set) => set.inputs.length);
  const report = {
    isPermutation: isSame && headerDifference === undefined,
    inputs: sideOf(before.tally, ofInputs),
    outputs: sideOf(after.tally, ofOutputs),
    headerDifference,
  };
  if (isSame || opened.storedBytes === undefined) return { ...report, differences: undefined };
  const mostRecords = Math.min(MOST_COMPARED, request.memoryBytes / COMPARED_BYTES);
  const examined = slotsToExamine(differing, [before.tally, after.tally], mostRecords);
  const wanted = bitmapOfSlots(examined);
  const found = await runPass(opened, scope, (sets, threads) => findDifferences(sets, wanted, threads));
  const part = examined.length / differing.length;
  return {
    ...report,
    differences: describeDifferences(found, opened, part, [before.tally.records, after.tally.records]),
  };
}

/** Readers would call a missing file an input; to the caller it is an output. */
function requireOutputs(outputs: VerifyOptions['outputs']): void {
  for (const output of outputs) {
    const path = typeof output === 'string' ? output : 'path' in output ? output.path : STANDARD_INPUT;
    if (path === STANDARD_INPUT || inputFactsOf(path).isRemote || (typeof output === 'string' && isPattern(path)))
      continue;
    if (statPath(path, 'input') === undefined)
      throw new InputError('ERR_INPUT_MISSING', `the output ${path} does not exist; check the name`);
  }
}

function sideOf({ records, bytes, checksum }: SlotTally, files = 0): VerifiedSide {
  return { files, records, bytes, checksum };
}

function differenceOfHeaders(
  { header: expected }: TalliedSet,
  { header: got }: TalliedSet,
  { header: spec }: ReadSpec,
): string | undefined {
  if (spec === undefined || expected === undefined || got === undefined) return undefined;
  const difference = headerRuleOf(spec).difference(expected.header, got.header);
  if (difference === undefined) return undefined;
  return `byte ${difference.position} of the header of ${inputName(got.path)} differs from that of ${inputName(expected.path)}: expected ${difference.expected}, got ${difference.got}`;
}

/** @param part of the differing slots that were looked at. */
function describeDifferences(
  found: readonly ComparedRecord[],
  { sets }: OpenedSets,
  part: number,
  recordCounts: readonly number[],
) {
  const describe = (more: number, less: number): RecordDifferences => {
    const countOf = (record: ComparedRecord, set: number) => record.inSets[set]?.count ?? 0;
    const placesOf = (record: ComparedRecord) => record.inSets[more]?.places ?? [];
    const differing = found.filter((record) => countOf(record, more) > countOf(record, less));
    const records = differing.reduce((sum, record) => sum + countOf(record, more) - countOf(record, less), 0);
    const placeOf = ({ inputOrdinal, position }: FoundPlace): RecordPlace => {
      const input = sets[more]?.inputs.at(inputOrdinal);
      const place = { path: inputName(input?.path ?? ''), position };
      return unitOf(input) === 'row' ? { ...place, isRow: true } : place;
    };
    const first = differing
      .sort((a, b) => firstOf(placesOf(a), placesOf(b)))
      .slice(0, MOST_SHOWN)
      .map((record) => ({
        inInputs: countOf(record, 0),
        inOutputs: countOf(record, 1),
        places: placesOf(record).map(placeOf),
        byteLength: record.byteLength,
        excerpt: Buffer.from(record.excerpt, 'latin1').toString(),
      }));
    return { records: Math.min(Math.round(records / part), recordCounts[more] ?? 0), first };
  };
  return { missing: describe(0, 1), extra: describe(1, 0), isComplete: part === 1 };
}

function firstOf([a]: readonly FoundPlace[], [b]: readonly FoundPlace[]): number {
  return a === undefined || b === undefined ? 0 : comparePlaces(a, b);
}
