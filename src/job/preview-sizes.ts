/** The sizes of a job before it starts: its inputs, piles and output, in each of the cases that samples and chance allow. */
import seedrandom from 'seedrandom/seedrandom.js';
import { type Compression, openEncoder } from '../formats/encoder-table.js';
import { headerRuleOf } from '../formats/record-format.js';
import { isDistinct } from '../keep/distinct.js';
import { isHead, mostRecords } from '../keep/head.js';
import { isEndless } from '../keep/keep-spec.js';
import { isSplitByValue, type ShardSpec } from '../keep/splits.js';
import { factorOf, mostCopiesOf, ONCE, type Weight } from '../keep/weights.js';
import { deriveDrawSeed } from '../keys.js';
import type { Amount } from '../piles/pile-totals.js';
import { STORED_HEADER_BYTES } from '../plan/arena-sizes.js';
import type { Tuning } from '../plan/memory-plan.js';
import { levelsOf, staysInMemory } from '../plan/pile-levels.js';
import { type Case, type Expected, exactly, inCases } from '../plan/sampled-records.js';
import { isReadOnce } from '../sources/source.js';
import type { ShuffleSpec } from '../spec.js';
import { type ExpectedGroup, expectGroups } from './count-inputs.js';
import type { JobScope } from './job.js';
import type { PreparedShuffle } from './prepare-shuffle.js';
import type { PreviewedSplit } from './preview-report.js';
import { filesOf, sampleRecords } from './sample-records.js';

interface JobSizes {
  /** Of all inputs. */
  readonly records: Expected;
  readonly recordBytes: Expected;
  /** Written to the temp disks in all. */
  readonly tempBytes: Expected;
  /** Undefined: the output has no end. */
  readonly output: SizedOutput | undefined;
}

interface SizedOutput {
  readonly records: Expected;
  readonly recordBytes: Expected;
  /** As written. */
  readonly bytes: Expected;
}

type InCases = Readonly<Record<Case, Amount>>;

/** To which side random counts lie of their mean. */
const SIDE: Readonly<Record<Case, number>> = { least: -1, expected: 0, most: 1 };
/** Counts of random keys hardly ever vary by more standard deviations. */
const DEVIATIONS = 4;
/** The mean of squared lengths, over the square of their mean, may be this squared. */
const SQUARED_LENGTHS = 2;
/** Compressed samples may differ from the whole by this part. */
const RATIO_ERROR = 0.1;
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
  const { request, inputsToRead: inputs, weighing, plan } = prepared;
  const { spec, tempZstdLevel, signal } = request;
  const { framing } = spec.read;
  if (framing === undefined || inputs.some(isReadOnce)) return undefined;
  const groupOf = weighing?.groupOf ?? inputs.map(() => 0);
  const readable = { ...prepared, inputs, groupOf, groupCount: weighing?.groups.length ?? 1, field: undefined };
  const groups = await expectGroups(readable, request, plan.memoryNeed, tuning, warn);
  const records = inCases((each) => groups.reduce((sum, group) => sum + group.records[each], 0));
  const recordBytes = inCases((each) => groups.reduce((sum, group) => sum + group.bytes[each], 0));

  const made = (each: Case): Amount => {
    const amounts = groups.map((group, i) => withCopies(group, weighing?.groups[i]?.weight ?? ONCE, each));
    return {
      records: amounts.reduce((sum, amount) => sum + amount.records, 0),
      bytes: amounts.reduce((sum, amount) => sum + amount.bytes, 0),
    };
  };
  const all: InCases = { least: made('least'), expected: made('expected'), most: made('most') };
  const isEncoded = spec.write.compression !== undefined || tempZstdLevel !== undefined;
  const files = isEncoded ? filesOf(inputs, prepared.estimate) : [];
  const { kept } = await sampleRecords(files, framing, deriveDrawSeed(spec.key.seed), signal);
  return {
    records,
    recordBytes,
    tempBytes: expectTemp(prepared, all, kept),
    output: expectOutput(prepared, all, kept),
  };
}

/** What a weight makes of records. The draws of few records vary around their mean. */
function withCopies({ records, bytes }: ExpectedGroup, weight: Weight, each: Case): Amount {
  const { copies } = weight;
  const factor = factorOf(weight);
  const chance = factor - copies;
  const spread = SIDE[each] * DEVIATIONS * Math.sqrt(records.most * chance * (1 - chance));
  const meanBytes = bytes.expected / Math.max(1, records.expected);
  const made = (amount: number, more: number) =>
    Math.min(amount * mostCopiesOf(weight), Math.max(amount * copies, amount * factor + more));
  return { records: made(records[each], spread), bytes: made(bytes[each], SQUARED_LENGTHS * meanBytes * spread) };
}

/** The bytes of so many random records. Without more knowledge, they differ in length as exponential ones do. */
function bytesOfSome(records: number, { expected: { records: all, bytes } }: InCases, side: number): number {
  const meanBytes = bytes / Math.max(1, all);
  return Math.max(0, meanBytes * (records + side * DEVIATIONS * Math.sqrt(records)));
}

/** What pile sets take on disks. */
function expectTemp({ plan, request }: PreparedShuffle, all: InCases, sample: readonly Uint8Array[]): Expected {
  const { memory, memoryNeed, head } = plan;
  if (request.spec.keep.repeat || (staysInMemory(memory) && memoryNeed.exact)) return exactly(0);
  const level = request.tempZstdLevel;
  const ratio = level === undefined ? 1 : Math.min(1, ratioOf(sample, { codec: 'zstd', level }));
  const levels = levelsOf(memory, memoryNeed.meanRecordBytes);
  // Of a head, pass 1 leaves most other records out.
  const mostOnPiles: Readonly<Record<Case, number>> | undefined = head && {
    least: head.records,
    expected: head.keptRecords,
    most: head.keptRecords * HEAD_MARGIN + head.records,
  };
  return inCases((each) => {
    const { records, bytes } = firstOf(all, mostOnPiles?.[each] ?? Number.POSITIVE_INFINITY, each);
    return levels * Math.max(0, bytes * ratio + records * STORED_HEADER_BYTES - memory.ramPoolBytes);
  });
}

/** So many of all records at most. */
function firstOf(all: InCases, most: number, each: Case): Amount {
  if (most >= all.most.records) return all[each];
  const records = Math.min(all[each].records, most);
  return { records, bytes: Math.min(all.most.bytes, bytesOfSome(records, all, SIDE[each])) };
}

function expectOutput(prepared: PreparedShuffle, all: InCases, sample: readonly Uint8Array[]): SizedOutput | undefined {
  const { spec } = prepared.request;
  const { keep } = spec;
  if (isEndless(keep)) return undefined;
  const most = mostRecords(keep);
  const amountIn = (each: Case): Amount => {
    if (keep.repeat) return { records: most, bytes: bytesOfSome(most, all, SIDE[each]) };
    const { records, bytes } = firstOf(all, most, each);
    // Nobody knows how many are equal.
    return isDistinct(keep) && each === 'least' ? { records: Math.min(1, records), bytes: 0 } : { records, bytes };
  };
  const records = inCases((each) => amountIn(each).records);
  const recordBytes = inCases((each) => amountIn(each).bytes);
  const { cut, write, key } = spec;
  const files = expectedFiles(cut, { records, recordBytes }) ?? 1;
  const ratio = write.compression === undefined ? 1 : ratioOf(shuffled(sample, key), write.compression);
  const error = write.compression === undefined ? 0 : RATIO_ERROR;
  const bytes = inCases(
    (each) => (recordBytes[each] + files * bytesAround(prepared)) * ratio * (1 + SIDE[each] * error),
  );
  return { records, recordBytes, bytes };
}

/** Neighbours in an input are more alike than those in the output. */
function shuffled(sample: readonly Uint8Array[], { seed }: ShuffleSpec['key']): Uint8Array[] {
  const draw = seedrandom(deriveDrawSeed(seed));
  const drawn = sample.map((bytes) => ({ bytes, key: draw() })).sort((a, b) => a.key - b.key);
  return drawn.map(({ bytes }) => bytes);
}

function ratioOf(records: readonly Uint8Array[], compression: Compression): number {
  const bytes = new Uint8Array(Buffer.concat(records).subarray(0, ENCODED_BYTES));
  if (bytes.byteLength === 0) return 1;
  return openEncoder(compression).encode(bytes).byteLength / bytes.byteLength;
}

/** The header of each file, and what stands after its records. */
function bytesAround({ request: { spec }, firstHeader }: PreparedShuffle): number {
  const { header } = spec.read;
  if (header === undefined || firstHeader === undefined) return 0;
  return firstHeader.header.bytes.byteLength + headerRuleOf(header).trailer.byteLength;
}

/** Undefined: the number depends on more than is known. */
export function expectedFiles(
  { shards, splits }: ShardSpec,
  output: Pick<SizedOutput, 'records' | 'recordBytes'> | undefined,
): number | undefined {
  const rules = splits?.map((split) => split.shards) ?? [shards ?? { by: 'count' as const, shardCount: 1 }];
  let files = 0;
  for (const rule of rules) {
    if (rule.by === 'count') files += rule.shardCount;
    else if (output === undefined || splits !== undefined) return undefined;
    else if (rule.by === 'records') files += Math.ceil(output.records.expected / rule.recordsPerShard);
    else files += Math.ceil(output.recordBytes.expected / rule.maxShardBytes);
  }
  return files;
}

/** @param records of the output; undefined: it has no end, or too little is known. */
export function expectSplits(
  { keep, cut }: ShuffleSpec,
  records: Expected | undefined,
): readonly PreviewedSplit[] | undefined {
  const { splits } = cut;
  if (splits === undefined || records === undefined) return splits?.map(({ rule }) => ({ name: rule.name }));
  const shares = splits.reduce((sum, { rule }) => sum + ('share' in rule ? rule.share : 0), 0);
  const counts = splits.reduce((sum, { rule }) => sum + ('records' in rule ? rule.records : 0), 0);
  return splits.map(({ rule }) => {
    const { name } = rule;
    if ('records' in rule) return { name, records: exactly(rule.records) };
    if (counts > 0) return { name, records: inCases((each) => Math.max(0, records[each] - counts)) };
    // Values of a field may have any number of records.
    if (isSplitByValue(cut)) return { name };
    const share = 'share' in rule ? rule.share : Math.max(0, 1 - shares);
    const recordsIn = (each: Case) => {
      const all = records[each];
      // The first records are divided by their number.
      const spread = !isHead(keep) ? DEVIATIONS * Math.sqrt(all * share * (1 - share)) + 1 : 1;
      return Math.max(0, Math.min(all, all * share + SIDE[each] * spread));
    };
    return { name, records: inCases(recordsIn) };
  });
}
