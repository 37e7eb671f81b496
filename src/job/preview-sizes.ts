/** The sizes of a job before it starts: its inputs, piles and output, in each of the cases that samples and chance allow. */
import seedrandom from 'seedrandom/seedrandom.js';
import { deriveSampleSeed } from '../floor/keys.js';
import { type Compression, openEncoder } from '../formats/encoder-table.js';
import { headerRuleOf } from '../formats/record-format.js';
import type { UnitSize } from '../formats/rows/row-format.js';
import { isScatteredTwice } from '../keep/content-rule.js';
import { expectOnPiles } from '../keep/head.js';
import { drawsPlaces, expectKept, isEndless } from '../keep/keep-spec.js';
import { expectCopies } from '../keep/mix.js';
import type { SectionSpec } from '../keep/sections.js';
import type { ShardSpec } from '../keep/splits.js';
import { mostCopiesByNumber } from '../keep/weight-by.js';
import { ONCE } from '../keep/weights.js';
import { STORED_HEADER_BYTES, storedHeaderBytes } from '../plan/arena-sizes.js';
import type { Tuning } from '../plan/memory-plan.js';
import { scatterLevelsOf, staysInMemory } from '../plan/pile-levels.js';
import {
  type AmountsByScenario,
  amountsByScenario,
  type Expected,
  exactly,
  inEachScenario,
  SCENARIO_SIGN,
  type Scenario,
} from '../plan/sampled-records.js';
import { allRowsOf, isReadOnce } from '../sources/input.js';
import type { ShuffleSpec } from '../spec.js';
import { expectGroups } from './count-inputs.js';
import type { JobScope } from './job.js';
import type { PreparedShuffle } from './prepare-shuffle.js';
import type { PreviewedRowGroups } from './preview-report.js';
import { filesOf, sampleRecords } from './sample-records.js';
import { expectSpilledUnits } from './spilled-units.js';
import { unitOfRows } from './work-plan.js';

interface JobSizes {
  /** The records of all inputs. */
  readonly records: Expected;
  readonly recordBytes: Expected;
  /** The bytes that are written to the temp disks in all. Undefined: nobody knows how often numbers make records come. */
  readonly tempBytes: Expected | undefined;
  /** The sizes of the output. Undefined: the output has no end, or as `tempBytes`. */
  readonly output: SizedOutput | undefined;
}

interface SizedOutput {
  readonly records: Expected;
  readonly recordBytes: Expected;
  /** The bytes as written. Undefined: rows get another codec than they have. */
  readonly bytes: Expected | undefined;
  /** The row groups of rows. */
  readonly rowGroups?: PreviewedRowGroups | undefined;
}

/** Compressed samples may differ from the whole by this part. */
const RATIO_ERROR = 0.1;
/** Rows in another order may take half of what they took, or twice as much: it depends on how alike neighbours were. */
const ORDER_FACTOR = 2;
/** Encoded to learn how well the records compress. */
const ENCODED_BYTES = 512 * 1024;
/** Estimates the sizes of a job. Undefined: an input has an unknown size. */
export async function expectSizes(
  prepared: PreparedShuffle,
  tuning: Tuning,
  warn: JobScope['warn'],
): Promise<JobSizes | undefined> {
  const { request, inputsToRead: inputs, weighing, plan } = prepared;
  const { spec, tempZstdLevel, signal } = request;
  const { framing } = spec.read;
  if ((framing === undefined && spec.read.rows === undefined) || inputs.some(isReadOnce)) return undefined;
  const groupOf = weighing?.groupOf ?? inputs.map(() => 0);
  const readable = { ...prepared, inputs, groupOf, groupCount: weighing?.groups.length ?? 1, field: undefined };
  const groups = await expectGroups(readable, request, plan.memoryNeed, tuning, warn);
  const records = inEachScenario((each) => groups.reduce((sum, group) => sum + group.records[each], 0));
  const recordBytes = inEachScenario((each) => groups.reduce((sum, group) => sum + group.bytes[each], 0));

  const mean = weighing?.meanNumber;
  if (spec.keep.weightBy !== undefined && mean === undefined)
    return { records, recordBytes, tempBytes: undefined, output: undefined };
  const numbers = mean === undefined ? undefined : { mean, most: mostCopiesByNumber(spec.keep) };
  const all = amountsByScenario((each) =>
    groups
      .map((group, i) => expectCopies(group, weighing?.groups[i]?.weight ?? ONCE, each, numbers))
      .reduce((sum, { records: more, bytes }) => ({ records: sum.records + more, bytes: sum.bytes + bytes })),
  );
  const isEncoded = spec.write.compression !== undefined || tempZstdLevel !== undefined;
  const files = isEncoded ? filesOf(inputs, prepared.estimate) : [];
  const sample = framing && (await sampleRecords(files, framing, deriveSampleSeed(spec.key.seed), signal));
  const samples = sample?.samples ?? [];
  const stored = expectStoredRows(prepared, all, recordBytes);
  const output = expectOutput(prepared, all, samples, stored);
  const waiting = output && stored && expectWaiting(prepared, output, stored);
  const first = isScatteredTwice(spec) ? { records, bytes: recordBytes } : undefined;
  return { records, recordBytes, tempBytes: expectTemp(prepared, all, first, samples, waiting), output };
}

interface StoredRows {
  readonly bytes: Expected;
  readonly isGuess: boolean;
}

/**
 * Estimates the stored bytes of rows. Undefined: the output has no rows, no end, or as many bytes as records.
 * @param inputBytes rows of the inputs.
 */
function expectStoredRows(
  { request: { spec }, inputsToRead, rowFormat }: PreparedShuffle,
  all: AmountsByScenario,
  inputBytes: Expected,
): StoredRows | undefined {
  const { rows: write } = spec.write;
  if (write === undefined || rowFormat?.expectStored === undefined || isEndless(spec.keep)) return undefined;
  const facts = allRowsOf(inputsToRead);
  const stored = facts.flatMap((each) => rowFormat.expectStored?.(each, write) ?? []);
  const storedBytes = stored.reduce((sum, { byteLength }) => sum + byteLength, 0);
  const outputPart = (each: Scenario) => expectKept(spec.keep, all, each).bytes / Math.max(1, inputBytes[each]);
  const bytes = inEachScenario((each) => storedBytes * outputPart(each) * ORDER_FACTOR ** SCENARIO_SIGN[each]);
  return { bytes, isGuess: stored.some(({ isGuess }) => isGuess) };
}

/** Rows that wait on temp disks, all together. */
function expectWaiting(
  { request: { spec }, plan: { memory, memoryNeed }, rowFormat }: PreparedShuffle,
  output: SizedOutput,
  stored: StoredRows,
): Expected {
  const files = expectedFiles(spec.cut, output) ?? 1;
  const unit = unitOfRows(spec, rowFormat);
  return inEachScenario((each) => {
    const recordBytes = output.recordBytes[each];
    const ratio = stored.bytes[each] / Math.max(1, recordBytes);
    const shardBytes = recordBytes / Math.max(1, files);
    const job = { unit, memory, memoryNeed, recordBytes, ratio, shardBytes };
    return expectSpilledUnits(job).share * stored.bytes[each];
  });
}

/**
 * Estimates what pile sets take on disks.
 * @param first the records of a first scatter. Undefined: there is one scatter.
 * @param waiting absent: nothing is written beside them.
 */
function expectTemp(
  { plan, request }: PreparedShuffle,
  all: AmountsByScenario,
  first: { readonly records: Expected; readonly bytes: Expected } | undefined,
  sample: readonly Uint8Array[],
  waiting = exactly(0),
): Expected {
  const { memory, memoryNeed, head } = plan;
  if (drawsPlaces(request.spec.keep) || (staysInMemory(memory) && memoryNeed.exact)) return exactly(0);
  const level = request.tempZstdLevel;
  const ratio = level === undefined ? 1 : Math.min(1, ratioOf(sample, { codec: 'zstd', level }));
  const levels = scatterLevelsOf(memory, memoryNeed.meanRecordBytes);
  return inEachScenario((each) => {
    const { records, bytes } = expectOnPiles(head, all, each);
    const headerBytes = storedHeaderBytes(memoryNeed);
    const storedBytes =
      first === undefined
        ? bytes * ratio + records * headerBytes
        : (bytes + first.bytes[each]) * ratio + records * STORED_HEADER_BYTES + first.records[each] * headerBytes;
    return levels * Math.max(0, storedBytes - memory.ramPoolBytes) + waiting[each];
  });
}

function expectOutput(
  prepared: PreparedShuffle,
  all: AmountsByScenario,
  sample: readonly Uint8Array[],
  stored: StoredRows | undefined,
): SizedOutput | undefined {
  const { spec } = prepared.request;
  if (isEndless(spec.keep)) return undefined;
  const records = inEachScenario((each) => expectKept(spec.keep, all, each).records);
  const recordBytes = inEachScenario((each) => expectKept(spec.keep, all, each).bytes);
  const { cut, write, key } = spec;
  const known = expectedFiles(cut, { records, recordBytes });
  if (stored !== undefined) {
    const unit = unitOfRows(spec, prepared.rowFormat);
    const rowGroups = unit && expectUnits(unit, { records, recordBytes }, known);
    return { records, recordBytes, bytes: stored.isGuess ? undefined : stored.bytes, rowGroups };
  }
  const files = known ?? 1;
  const ratio = write.compression === undefined ? 1 : ratioOf(shuffled(sample, key), write.compression);
  const error = write.compression === undefined ? 0 : RATIO_ERROR;
  const bytes = inEachScenario(
    (each) => (recordBytes[each] + files * bytesAround(prepared)) * ratio * (1 + SCENARIO_SIGN[each] * error),
  );
  return { records, recordBytes, bytes };
}

function expectUnits(
  unit: UnitSize,
  {
    records: { expected: records },
    recordBytes: { expected: recordBytes },
  }: Pick<SizedOutput, 'records' | 'recordBytes'>,
  files: number | undefined,
): PreviewedRowGroups | undefined {
  if (files === undefined || records === 0 || 'exactly' in unit) return undefined;
  const inAll = Math.max(recordBytes / unit.bytes, records / (unit.records ?? records));
  const count = files * Math.ceil(inAll / files);
  return { count, records: Math.round(records / count), recordBytes: Math.round(recordBytes / count) };
}

/** Neighbours in an input are more alike than those in the output. */
function shuffled(sample: readonly Uint8Array[], { seed }: ShuffleSpec['key']): Uint8Array[] {
  const draw = seedrandom(deriveSampleSeed(seed));
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

/** Returns the number of files. Undefined: the number depends on more than is known. */
export function expectedFiles(
  { shards, splits, each }: ShardSpec & SectionSpec,
  output: Pick<SizedOutput, 'records' | 'recordBytes'> | undefined,
): number | undefined {
  // Nobody knows how many values there are.
  if (each !== undefined) return undefined;
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
