import { existsSync } from 'node:fs';
import { join } from 'node:path';
import {
  type RecordDifference,
  type RecordDifferences,
  type VerifyReport,
  verifyPermutation,
} from '../../checks/verify-permutation.js';
import { type ShardSet, type ShardsReport, verifyShards } from '../../checks/verify-shards.js';
import { UsageError, VerificationError } from '../../errors.js';
import { inspectStore } from '../../job/inspect-store.js';
import {
  formatBytes,
  formatCount,
  formatExactBytes,
  formatPlural,
  formatSeconds,
} from '../../values/format-numbers.js';
import type { CommandCall, CommandDefinition } from '../command.js';
import { chooseInputs, hintAtTerminal } from '../named-files.js';
import { printReport } from '../standard-streams.js';

const notes = `
With --against, verify says whether OUTPUTS have exactly the records of the
inputs after --against, in any order and cut into any files. Any tool may have
written them. Each side may be compressed. If they differ, verify reads both
sides again and shows what is missing and what is extra; streams cannot be read
again.

Without --against, verify takes one directory: it compares shards with their
marker, and a pile store with its own checksums (docs/CHECKING.md).

Examples:
  pileshuf verify out/ --against corpus/*.jsonl.gz
  pileshuf verify shuffled.csv --against a.csv b.csv --csv --header 1
  pileshuf verify out/
`;

export const command: CommandDefinition<'verify'> = {
  name: 'verify',
  operands: [['<outputs...>', 'files, directories, quoted globs, or - for standard input']],
  notes,
  async run(call) {
    const { display, reporter } = call;
    const { against } = call.values;
    const outcome = against === undefined ? await verifyAlone(call) : await verifyAgainst(call, against);
    reporter.close();
    const { report, lines, problem } = outcome;
    await printReport(report, lines, display);
    if (problem !== undefined) throw new VerificationError(problem);
  },
};

interface Outcome {
  readonly report: object;
  readonly lines: readonly string[];
  readonly problem: string | undefined;
}

async function verifyAgainst(
  { operands, values, reporter, callbacks, tuning }: CommandCall<'verify'>,
  against: readonly string[],
): Promise<Outcome> {
  const { against: _, ...options } = values;
  const named = chooseInputs([...operands, ...against], []);
  hintAtTerminal(named, [], reporter.hint);
  const report = await verifyPermutation({ ...options, outputs: operands, inputs: against, ...callbacks }, tuning);
  return { report, lines: describePermutation(report), problem: problemOf(report) };
}

async function verifyAlone(call: CommandCall<'verify'>): Promise<Outcome> {
  const { operands, values, given, callbacks, tuning } = call;
  const { against: _, ...options } = values;
  const [directory = '', another] = operands;
  if (another !== undefined) {
    throw new UsageError(
      'nothing says which inputs the outputs must match; give --against and the inputs after the outputs, or give only one directory',
    );
  }
  if (existsSync(join(directory, 'store'))) {
    const [option] = given.filter(({ group }) => group !== 'Output' && group !== 'Progress');
    if (option !== undefined)
      throw new UsageError(`--${option.name} has no effect on a pile store, which knows its records; leave it out`);
    const report = await inspectStore(directory, { verify: true, ...callbacks }, tuning);
    const { records, bytes, checksum, state } = report;
    const line = `the pile store ${directory} is whole: ${formatPlural(records, 'record')}, ${formatBytes(bytes)}, checksum ${checksum}, state ${state}`;
    return { report, lines: [line], problem: undefined };
  }
  const [choice] = given.filter(({ sets }) => ['hidden', 'include', 'exclude'].includes(sets));
  if (choice !== undefined)
    throw new UsageError(
      `--${choice.name} has no effect without --against: the names of shards tell which files belong to them`,
    );
  const report = await verifyShards(directory, { ...options, ...callbacks }, tuning);
  return { report, lines: describeShards(report), problem: problemOfShards(report) };
}

function describePermutation(report: VerifyReport): string[] {
  const { inputs, outputs, differences, headerDifference, isPermutation, seconds } = report;
  const side = (name: string, { files, records, bytes, checksum }: VerifyReport['inputs']) =>
    `${name}  ${formatPlural(files, 'file')}, ${formatPlural(records, 'record')}, ${formatExactBytes(bytes)}, checksum ${checksum}`;
  const verdict = isPermutation
    ? [`the outputs have exactly the records of the inputs (${formatSeconds(seconds)})`]
    : headerDifference === undefined
      ? []
      : [`header   ${headerDifference}`];
  const { missing, extra, isComplete = true } = differences ?? {};
  return [
    side('inputs ', inputs),
    side('outputs', outputs),
    ...verdict,
    ...describeDifferences('missing', missing, isComplete),
    ...describeDifferences('extra  ', extra, isComplete),
  ];
}

function describeDifferences(kind: string, differing: RecordDifferences | undefined, isComplete: boolean): string[] {
  const { records = 0, first = [] } = differing ?? {};
  if (records === 0 && first.length === 0) return [];
  const counted = `${isComplete ? '' : 'about '}${formatPlural(records, 'record')}`;
  return [`${kind}  ${counted}:`, ...first.map((each) => `  ${describeDifference(each)}`)];
}

/** `in.jsonl, byte 120 (57 bytes): {"id": 3, …` */
function describeDifference({ inInputs, inOutputs, places, byteLength, excerpt }: RecordDifference): string {
  const [place] = places;
  const once = Math.abs(inInputs - inOutputs) === 1 && Math.min(inInputs, inOutputs) === 0;
  const counts = once ? '' : `; ${formatCount(inInputs)} in the inputs, ${formatCount(inOutputs)} in the outputs`;
  const shown = Buffer.byteLength(excerpt) < byteLength ? `${excerpt}…` : excerpt;
  return `${place?.path}, ${place?.isRow === true ? 'row' : 'byte'} ${place?.position} (${formatPlural(byteLength, 'byte')}${counts}): ${shown}`;
}

function problemOf(report: VerifyReport): string | undefined {
  const { isPermutation, differences, headerDifference, inputs, outputs } = report;
  if (isPermutation) return undefined;
  if (differences !== undefined) {
    const { missing, extra, isComplete } = differences;
    const about = isComplete ? '' : 'about ';
    const lack = `lack ${about}${formatPlural(missing.records, 'record')} of the inputs`;
    const have = `have ${about}${formatPlural(extra.records, 'record')} that the inputs lack`;
    const both = missing.records === 0 ? have : extra.records === 0 ? lack : `${lack} and ${have}`;
    return `the outputs ${both}`;
  }
  if (headerDifference !== undefined) return 'the outputs have another header than the inputs';
  return `the outputs do not have the records of the inputs: ${formatPlural(outputs.records, 'record')} of ${formatCount(outputs.bytes)} bytes, expected ${formatCount(inputs.records)} of ${formatCount(inputs.bytes)}; a stream cannot be read again to find what differs: name files`;
}

function describeShards({ sets, seconds }: ShardsReport): string[] {
  const lines = sets.map(
    ({ prefix, found, isWhole, marker }) =>
      `${prefix}  ${formatPlural(found.shards, 'shard')}, ${formatPlural(found.records, 'record')}, ${formatBytes(found.bytes)}, checksum ${found.checksum}: ${describeVerdict(isWhole, marker)}`,
  );
  const limits =
    'this does not tell whether these are the records of the inputs, nor in which shard or order they are; --against INPUTS compares the records';
  return [...lines, `${limits} (${formatSeconds(seconds)})`];
}

function describeVerdict(isWhole: boolean, marker: string | undefined): string {
  if (marker !== undefined) return isWhole ? 'as the marker says' : 'NOT as the marker says';
  return isWhole ? 'all are there; no marker says what they should hold' : 'NOT all are there';
}

function problemOfShards({ directory, sets }: ShardsReport): string | undefined {
  const wrong = sets.find(({ isWhole }) => !isWhole);
  if (wrong === undefined) return undefined;
  return `${wrong.marker ?? directory}: ${problemOfSet(wrong)}`;
}

function problemOfSet({ expected, expectedShards, found, missingShards, otherShards }: ShardSet): string {
  const [missing] = missingShards;
  if (missing !== undefined)
    return `shard ${missing} of ${expectedShards} is missing or doubled; expected one file for each number`;
  const [other] = otherShards;
  if (other !== undefined)
    return `${other} has the name of a shard, but is none of the ${expectedShards} that belong together; remove it, or name the shards and give --against`;
  return `the shards have ${formatPlural(found.records, 'record')}, ${formatCount(found.bytes)} bytes, checksum ${found.checksum}; expected ${formatCount(expected?.records ?? 0)}, ${formatCount(expected?.bytes ?? 0)} bytes, checksum ${expected?.checksum}; if the records are not lines, give the options that the shuffle had`;
}
