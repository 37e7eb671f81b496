/** The sizes of a job before it starts: its inputs, piles and output, each with the limits that samples give. */
import seedrandom from 'seedrandom/seedrandom.js';
import { type Compression, openEncoder } from '../formats/encoder-table.js';
import { headerRuleOf } from '../formats/record-format.js';
import { estimateInputs } from '../inputs/estimate.js';
import type { Weighing } from '../inputs/weigh-inputs.js';
import { deriveDrawSeed } from '../keys.js';
import { STORED_HEADER_BYTES } from '../plan/arena-sizes.js';
import type { Tuning } from '../plan/memory-plan.js';
import { levelsOf, staysInMemory } from '../plan/pile-levels.js';
import type { Expected } from '../plan/sampled-records.js';
import { exactly, mapped, NOTHING, plus, times, wholeNumbers } from '../plan/sampled-records.js';
import { factorOf, mostCopiesOf, ONCE, type Weight } from '../plan/weights.js';
import type { ShardSpec } from '../spec.js';
import { expectGroups } from './expected-counts.js';
import type { JobScope } from './job.js';
import type { PreparedShuffle } from './prepare-shuffle.js';
import type { PreviewedSplit } from './preview-report.js';
import { sampleRecords } from './sample-records.js';

interface JobSizes {
  /** Records of all inputs. */
  readonly records: Expected;
  readonly recordBytes: Expected;
  /** Written to the temp disks in all. */
  readonly tempBytes: Expected;
  /** Undefined: the output has no end. */
  readonly output: (SizedRecords & { readonly writtenBytes: Expected }) | undefined;
  readonly decodedBytes: readonly (number | undefined)[];
}

interface SizedRecords {
  readonly records: Expected;
  readonly bytes: Expected;
}

/** Compressed samples may differ from the whole by this part. */
const RATIO_ERROR = 0.1;
/** Counts of random keys hardly ever vary by more standard deviations. */
const DEVIATIONS = 4;
/** The mean of squared lengths, over the square of their mean, may be this squared. */
const SQUARED_LENGTHS = 2;
/** Encoded to learn how well the records compress. */
const ENCODED_BYTES = 512 * 1024;
/** Records reach piles before the limit that keeps them out has fallen. */
const HEAD_MARGIN = 1.5;

/** Undefined: an input has an unknown size. */
export async function expectSizes(
  prepared: PreparedShuffle,
  tuning: Tuning,
  warn: JobScope['warn'],
): Promise<JobSizes | undefined> {
  const { request, inputsToRead: inputs, weighing, plan, deviceGates } = prepared;
  const { spec, signal } = request;
  const { framing } = spec.read;
  const { seed } = spec.key;
  if (framing === undefined || inputs.some(({ kind }) => kind === 'stream')) return undefined;
  const once: Weighing = {
    weights: inputs.map(() => ONCE),
    groupOf: weighing?.groupOf ?? inputs.map(() => 0),
    groups: weighing?.groups ?? [{ name: undefined, weight: ONCE, inputCount: inputs.length }],
  };
  const readable = { ...prepared, inputs, weighing: once, field: undefined };
  const groups = await expectGroups(readable, request, plan.memoryNeed, deviceGates, tuning, warn);
  const weightOf = (group: number) => weighing?.groups[group]?.weight ?? ONCE;
  const { decodedBytes } = estimateInputs(inputs, framing, deriveDrawSeed(seed));
  const files = inputs.flatMap((input, i) => (input.kind === 'file' ? [{ input, bytes: decodedBytes[i] ?? 0 }] : []));
  const { kept } = await sampleRecords(files, framing, deriveDrawSeed(seed), signal);
  const all = sumOf(groups);
  const everything = sumOf(groups.map((group, i) => withCopies(group, weightOf(i))));
  const onPiles = headOnPiles(prepared, everything);
  const drawn = drawnRecords(prepared, all);
  const tempBytes = temp(prepared, onPiles, kept);
  const levels = levelsOf(plan.memory, plan.memoryNeed.meanRecordBytes);
  const output = outputRecords(prepared, everything, drawn);
  return {
    records: wholeNumbers(all.records),
    recordBytes: wholeNumbers(all.bytes),
    tempBytes: wholeNumbers(mapped(tempBytes, (bytes) => bytes * levels)),
    output: output && {
      records: wholeNumbers(output.records),
      bytes: wholeNumbers(output.bytes),
      writtenBytes: wholeNumbers(writtenBytes(prepared, output, kept)),
    },
    decodedBytes,
  };
}

function sumOf(parts: readonly SizedRecords[]): SizedRecords {
  return {
    records: parts.reduce((sum, { records }) => plus(sum, records), NOTHING),
    bytes: parts.reduce((sum, { bytes }) => plus(sum, bytes), NOTHING),
  };
}

/** What a weight makes of records. The draws of few records vary around their mean. */
function withCopies({ records, bytes }: SizedRecords, weight: Weight): SizedRecords {
  const factor = factorOf(weight);
  const chance = factor - weight.copies;
  const spread = DEVIATIONS * Math.sqrt(records.most * chance * (1 - chance));
  const mean = bytes.expected / Math.max(1, records.expected);
  const made = (value: Expected, most: number): Expected => ({
    least: Math.max(value.least * weight.copies, value.least * factor - most),
    expected: value.expected * factor,
    most: Math.min(value.most * mostCopiesOf(weight), value.most * factor + most),
  });
  return { records: made(records, spread), bytes: made(bytes, SQUARED_LENGTHS * mean * spread) };
}

/** With `headCount`, pass 1 leaves most records out. */
function headOnPiles({ plan }: PreparedShuffle, all: SizedRecords): SizedRecords {
  const { head } = plan;
  if (head === undefined) return all;
  const few = (limit: number) => (value: number) => Math.min(value, limit);
  const records = {
    least: few(head.headCount)(all.records.least),
    expected: few(head.keptRecords)(all.records.expected),
    most: few(head.keptRecords * HEAD_MARGIN + head.headCount)(all.records.most),
  };
  return { records, bytes: bytesOfSome(records, all) };
}

/** The bytes of a random part of all records. */
function bytesOfSome(records: Expected, all: SizedRecords): Expected {
  const mean = all.bytes.expected / Math.max(1, all.records.expected);
  if (records.least >= all.records.most) return all.bytes;
  const isSameLength = all.records.least === all.records.most && all.bytes.least === all.bytes.most;
  // Without more knowledge: records as different in length as exponential ones.
  const spread = (count: number) => DEVIATIONS * mean * Math.sqrt(Math.max(0, count));
  return {
    least: Math.max(0, records.least * mean - spread(records.least)),
    expected: records.expected * mean,
    most: Math.min(
      records.most * mean + spread(records.most),
      isSameLength ? all.bytes.most : Number.POSITIVE_INFINITY,
    ),
  };
}

/** Undefined: records are not drawn, or without end. */
function drawnRecords({ request }: PreparedShuffle, all: SizedRecords): SizedRecords | undefined {
  const { repeat, headCount } = request.spec.keep;
  if (!repeat || headCount === undefined) return undefined;
  const records = exactly(headCount);
  const { least, most } = bytesOfSome(records, all);
  const expected = (records.expected * all.bytes.expected) / Math.max(1, all.records.expected);
  return { records, bytes: { least: Math.min(least, expected), expected, most: Math.max(most, expected) } };
}

/** What pile sets take on disks. */
function temp({ plan, request }: PreparedShuffle, onPiles: SizedRecords, sample: readonly Uint8Array[]): Expected {
  const { memory, memoryNeed } = plan;
  if (request.spec.keep.repeat || (staysInMemory(memory) && memoryNeed.exact)) return NOTHING;
  const level = request.tempZstdLevel;
  const ratio = level === undefined ? 1 : Math.min(1, ratioOf(sample, { codec: 'zstd', level }));
  const stored = ({ bytes, records }: SizedRecords) =>
    plus(
      mapped(bytes, (value) => value * ratio),
      mapped(records, (value) => value * STORED_HEADER_BYTES),
    );
  return mapped(stored(onPiles), (bytes) => Math.max(0, bytes - memory.ramPoolBytes));
}

function ratioOf(records: readonly Uint8Array[], compression: Compression): number {
  const bytes = new Uint8Array(Buffer.concat(records).subarray(0, ENCODED_BYTES));
  if (bytes.byteLength === 0) return 1;
  return openEncoder(compression).encode(bytes).byteLength / bytes.byteLength;
}

/** Undefined: without end. */
function outputRecords(
  { request }: PreparedShuffle,
  all: SizedRecords,
  drawn: SizedRecords | undefined,
): SizedRecords | undefined {
  const { headCount, repeat, unique } = request.spec.keep;
  if (repeat) return drawn;
  const { records, bytes } = all;
  // Nobody knows how many are equal.
  const kept: SizedRecords =
    unique !== undefined
      ? { records: { ...records, least: Math.min(1, records.least) }, bytes: { ...bytes, least: 0 } }
      : all;
  if (headCount === undefined || headCount >= records.most) return kept;
  const some = mapped(kept.records, (value) => Math.min(value, headCount));
  const bytesOf = bytesOfSome(some, all);
  return { records: some, bytes: unique !== undefined ? { ...bytesOf, least: 0 } : bytesOf };
}

function writtenBytes(
  { request: { spec }, firstHeader }: PreparedShuffle,
  output: SizedRecords,
  sample: readonly Uint8Array[],
): Expected {
  const files = expectedFiles(spec.cut, output) ?? 1;
  const { header } = spec.read;
  const { compression } = spec.write;
  const endBytes =
    header === undefined || firstHeader === undefined
      ? 0
      : firstHeader.header.bytes.byteLength + headerRuleOf(header).trailer.byteLength;
  const plain = plus(output.bytes, exactly(files * endBytes));
  if (compression === undefined) return plain;
  // Neighbours in an input are more alike than those in the output.
  const draw = seedrandom(deriveDrawSeed(spec.key.seed));
  const shuffled = sample.map((bytes) => ({ bytes, key: draw() })).sort((a, b) => a.key - b.key);
  const ratio = ratioOf(
    shuffled.map(({ bytes }) => bytes),
    compression,
  );
  return times(plain, { least: ratio * (1 - RATIO_ERROR), expected: ratio, most: ratio * (1 + RATIO_ERROR) });
}

/** Undefined: the number depends on more than is known. */
export function expectedFiles({ shards, splits }: ShardSpec, output: SizedRecords | undefined): number | undefined {
  const rules = splits?.map((split) => split.shards) ?? [shards ?? { by: 'count' as const, shardCount: 1 }];
  let files = 0;
  for (const rule of rules) {
    if (rule.by === 'count') files += rule.shardCount;
    else if (output === undefined || splits !== undefined) return undefined;
    else if (rule.by === 'records') files += Math.ceil(output.records.expected / rule.recordsPerShard);
    else files += Math.ceil(output.bytes.expected / rule.maxShardBytes);
  }
  return files;
}

export function expectSplits(
  { request }: PreparedShuffle,
  output: SizedRecords | undefined,
): readonly PreviewedSplit[] | undefined {
  const { keep, cut } = request.spec;
  const { splits, splitBy } = cut;
  if (splits === undefined) return undefined;
  if (output === undefined) return splits.map(({ rule }) => ({ name: rule.name }));
  const { records } = output;
  const shareOf = splits.reduce((sum, { rule }) => sum + ('share' in rule ? rule.share : 0), 0);
  const countOf = splits.reduce((sum, { rule }) => sum + ('records' in rule ? rule.records : 0), 0);
  const isByRank = countOf > 0 || keep.headCount !== undefined;
  return splits.map(({ rule }) => {
    const { name } = rule;
    if ('records' in rule) return { name, records: exactly(rule.records) };
    if (countOf > 0) return { name, records: wholeNumbers(mapped(records, (all) => Math.max(0, all - countOf))) };
    // Values of a field may have any number of records.
    if (splitBy !== undefined) return { name };
    const share = 'share' in rule ? rule.share : Math.max(0, 1 - shareOf);
    const spread = (all: number) => (isByRank ? 1 : DEVIATIONS * Math.sqrt(all * share * (1 - share)) + 1);
    const least = Math.max(0, records.least * share - spread(records.least));
    const most = Math.min(records.most, records.most * share + spread(records.most));
    return { name, records: wholeNumbers({ least, expected: records.expected * share, most }) };
  });
}
