/** Counts what groups of inputs hold, for a preview: small inputs as `countInputs` does, large ones by samples. */
import { framingOf } from '../formats/framing-table.js';
import type { RecordList } from '../formats/record-format.js';
import { type Estimate, estimateInputs } from '../inputs/estimate.js';
import type { Input } from '../inputs/list-inputs.js';
import { openForRead, readAt, withFile } from '../io/files.js';
import { deriveDrawSeed } from '../keys.js';
import type { CountedGroup } from '../passes/count-pass.js';
import { hearSignalsAt } from '../pause.js';
import type { Expected } from '../plan/sampled-records.js';
import { exactly, NOTHING, plus, times } from '../plan/sampled-records.js';
import type { ReadSpec } from '../spec.js';
import { type CountedInputs, countInputs } from './count-inputs.js';
import type { ShuffleRequest } from './request.js';
import { type SampledFile, sampleRecords } from './sample-records.js';

interface ExpectedGroup {
  readonly records: Expected;
  /** Includes the delimiters that inputs lack. */
  readonly bytes: Expected;
  /** The sum of the field, in parts of 10^-15; 0 without a field. */
  readonly sum: bigint;
}

/** What is counted in about a second: bytes as stored, and decoded. */
const MOST_STORED_BYTES = 64 * 2 ** 20;
const MOST_DECODED_BYTES = 4 * MOST_STORED_BYTES;
/** A size that is estimated from the beginning of a file is too small: that compresses less well than the rest. */
const HEAD_EXPANSION = 1.2;
const MOST_INPUT_ENDS = 10_000;

/** As `countInputs`, but estimates. */
export async function expectCounts(...call: Parameters<typeof countInputs>): Promise<readonly CountedGroup[]> {
  const groups = await expectGroups(...call);
  return groups.map(({ records, bytes, sum }) => ({
    records: Math.round(records.expected),
    bytes: Math.round(bytes.expected),
    sum,
  }));
}

export async function expectGroups(
  ...[readable, request, ...rest]: Parameters<typeof countInputs>
): Promise<readonly ExpectedGroup[]> {
  const { read, key } = request.spec;
  const estimate = estimateInputs(readable.inputs, read.framing, deriveDrawSeed(key.seed));
  if (!mayBeCounted(readable.inputs, read, estimate)) return sampleGroups(readable, request, estimate);
  const counted = await countInputs(readable, { ...request, onProgress: undefined }, ...rest);
  return counted.map(({ records, bytes, sum }) => ({ records: exactly(records), bytes: exactly(bytes), sum }));
}

function mayBeCounted(
  inputs: readonly Input[],
  { framing, decompressProgram }: ReadSpec,
  { recordBytes }: Estimate,
): boolean {
  const storedBytes = inputs.reduce((sum, input) => sum + (input.kind === 'file' ? input.version.byteLength : 0), 0);
  // A program of the user may do more than decode.
  const isSmall = storedBytes <= MOST_STORED_BYTES && recordBytes <= MOST_DECODED_BYTES;
  return framing === undefined || (isSmall && decompressProgram === undefined);
}

async function sampleGroups(
  { inputs, weighing, field }: CountedInputs,
  { spec: { read, key }, signal }: ShuffleRequest,
  { recordBytes, leastBytes, mostBytes, decodedBytes }: Estimate,
): Promise<readonly ExpectedGroup[]> {
  const { framing } = read;
  if (framing === undefined) throw new RangeError('without a framing, inputs are counted');
  const { recordEnd } = framingOf(framing);
  const spread: Expected = {
    least: leastBytes / Math.max(1, recordBytes),
    expected: 1,
    most: (mostBytes / Math.max(1, recordBytes)) * (mostBytes > leastBytes ? HEAD_EXPANSION : 1),
  };
  const groups: ExpectedGroup[] = [];
  for (const group of weighing.groups.keys()) {
    const members = inputs.flatMap((input, i) => {
      const isMember = weighing.groupOf[i] === group;
      return isMember && input.kind === 'file' ? [{ input, bytes: decodedBytes[i] ?? 0 }] : [];
    });
    const sample = await sampleRecords(members, framing, deriveDrawSeed(key.seed), signal, field);
    const bytes = exactly(members.reduce((sum, member) => sum + member.bytes, 0));
    const isPlain = members.every(({ input }) => input.codec === undefined);
    const factor = isPlain ? exactly(1) : spread;
    const ends = recordEnd === undefined ? NOTHING : await missingEnds(members, recordEnd.byte, signal);
    const lists = inputs.flatMap((input, i) =>
      weighing.groupOf[i] === group && input.kind === 'list' ? [input.list] : [],
    );
    const listed = (count: (list: RecordList) => number) => exactly(lists.reduce((sum, list) => sum + count(list), 0));
    groups.push({
      records: plus(
        times(sample.records, factor),
        listed(({ ends: ofRecords }) => ofRecords.length),
      ),
      bytes: plus(
        plus(times(bytes, factor), ends),
        listed(({ bytes: ofRecords }) => ofRecords.byteLength),
      ),
      sum: BigInt(Math.round(sample.fieldSum)),
    });
  }
  return groups;
}

/** Bytes that pass 1 appends to inputs whose last record has no end. The end of a compressed input cannot be seen. */
async function missingEnds(
  files: readonly SampledFile[],
  recordEnd: number,
  signal: AbortSignal | undefined,
): Promise<Expected> {
  let [missing, unseen] = [0, 0];
  const last = new Uint8Array(1);
  for (const [index, { input }] of files.entries()) {
    const { path, codec, version, header } = input;
    await hearSignalsAt(index, signal);
    if (version.byteLength <= header.byteLength) continue;
    if (codec !== undefined || index >= MOST_INPUT_ENDS) {
      unseen += 1;
      continue;
    }
    withFile(openForRead(path, 'input'), (file) => readAt(file, last, 0, 1, version.byteLength - 1));
    if (last[0] !== recordEnd) missing += 1;
  }
  return { least: missing, expected: missing, most: missing + unseen };
}
