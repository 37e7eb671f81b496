/**
 * Pass 2: a run of merged piles -> their part of the output. Loads each pile, puts its records in the
 * order of their keys and writes them; a pile too large to load is first split by the next part of
 * its keys. Also measures, for a shard that begins inside a pile, at which byte.
 *
 * The default export is what a worker thread runs; the coordinator calls it directly when a job is
 * small enough for one thread.
 */
import { zstdExpander } from '../src/formats/codecs/zstd-packer.js';
import { openSink } from '../src/output/open-sink.js';
import type { OutputSink, SinkStart } from '../src/output/output-sink.js';
import type { OutputTarget, WrittenRegion } from '../src/output/output-target.js';
import { MergedPileReader, mergePiles } from '../src/pile-store/merged-pile.js';
import type { StoredPileSet } from '../src/pile-store/pile-set-writer.js';
import type { PileRun } from '../src/plan/pile-runs.js';
import { thenAlwaysAsync } from '../src/then-always.js';
import { type JobShare, threadStateOf } from './job-share.js';
import { type Outcome, outcomeOf } from './outcome.js';
import { type LevelPile, PileOrderer } from './pile-orderer.js';

export type ShuffleTask = {
  readonly job: JobShare;
  readonly pileSets: readonly StoredPileSet[];
  /** Begins the names of temp files; no other attempt may use it. */
  readonly attemptName: string;
  readonly longestRecordBytes: number;
} & (
  | { readonly kind: 'write'; readonly run: PileRun; readonly target: OutputTarget; readonly start: SinkStart }
  /** Find the first record of `pile` at or behind a cut, given from the pile's beginning. */
  | { readonly kind: 'measure'; readonly pile: number; readonly by: 'rank' | 'byte'; readonly limit: number }
);

export interface ShuffleResult {
  /** Of each pile of the run, as gathered; empty when measuring. */
  readonly records: Float64Array;
  readonly recordBytes: Float64Array;
  readonly checksums: BigUint64Array;
  readonly regions: readonly WrittenRegion[];
  /** Bytes of the pile before the cut that was measured. */
  readonly measuredBytes: number;
}

export default function runShuffleTask(task: ShuffleTask): Promise<Outcome<ShuffleResult>> {
  return outcomeOf(() => (task.kind === 'write' ? writeRun(task) : measureCut(task)));
}

/** The position in the whole output that a stream of records has come to. */
interface OutputPosition {
  rank: number;
  byte: number;
}

async function writeRun(task: ShuffleTask & { kind: 'write' }): Promise<ShuffleResult> {
  const { run, job, target, start } = task;
  const { control, outputHasher } = threadStateOf(job);
  const pileCount = run.end - run.first;
  const records = new Float64Array(pileCount);
  const recordBytes = new Float64Array(pileCount);
  const checksums = new BigUint64Array(pileCount);
  const reached: OutputPosition = { rank: run.firstRank, byte: run.firstByte };
  const orderer = ordererOf(task, () => sink.settle());
  const sink = openSink(target, start, orderer.sinkBuffer, control, job.keepsPileSets ? outputHasher : undefined);
  const write = async (): Promise<ShuffleResult> => {
    for (const [i, merged] of mergePiles(task.pileSets, run.first, run.end).entries()) {
      const before = { ...reached };
      const level: LevelPile = { merged, layout: job.layout, parentScale: 1n, pileCount: job.layout.pileCount };
      await orderer.order(level, async (recordCount) => {
        await emit(orderer, recordCount, sink, reached);
        checksums[i] = (checksums[i] ?? 0n) + orderer.run.orderChecksum();
      });
      records[i] = reached.rank - before.rank;
      recordBytes[i] = reached.byte - before.byte;
      control.count('shuffledBytes', reached.byte - before.byte);
    }
    return { records, recordBytes, checksums, regions: await sink.close(), measuredBytes: 0 };
  };
  return thenAlwaysAsync(write, () => sink.abandon());
}

/** Puts the ordered records into the sink, cutting shards where it says. */
async function emit(
  orderer: PileOrderer,
  recordCount: number,
  sink: OutputSink,
  reached: OutputPosition,
): Promise<void> {
  const { run } = orderer;
  for (let index = 0; index < recordCount; ) {
    const { by, at } = sink.nextCut;
    const position = by === 'rank' ? reached.rank : reached.byte;
    if (position >= at) {
      await sink.cut();
      continue;
    }
    const endIndex = by === 'rank' ? Math.min(recordCount, index + (at - position)) : recordCount;
    const startLimit = by === 'byte' && at !== Number.POSITIVE_INFINITY ? BigInt(at - position) : NO_LIMIT;
    const next = run.gather(index, endIndex, sink.fillAddress, sink.roomBytes, startLimit) >>> 0;
    if (next > index) {
      const byteLength = run.gatheredByteLength() >>> 0;
      sink.filled(byteLength);
      reached.rank += next - index;
      reached.byte += byteLength;
      index = next;
    } else if (!(await sink.flush())) {
      reached.byte += await emitLong(orderer, index, sink);
      reached.rank += 1;
      index += 1;
    }
  }
}

/** Passes a record that is longer than the sink's buffer through it in pieces. */
async function emitLong(orderer: PileOrderer, index: number, sink: OutputSink): Promise<number> {
  const { run } = orderer;
  const address = run.recordAddress(index) >>> 0;
  const byteLength = run.recordByteLength(index) >>> 0;
  run.hashInPlace(index);
  for (let done = 0; done < byteLength; ) {
    const count = Math.min(sink.roomBytes, byteLength - done);
    orderer.bytes.copyWithin(sink.fillAddress, address + done, address + done + count);
    sink.filled(count);
    done += count;
    await sink.flush();
  }
  return byteLength;
}

const NO_LIMIT = (1n << 63n) - 1n;

async function measureCut(task: ShuffleTask & { kind: 'measure' }): Promise<ShuffleResult> {
  const { job, by } = task;
  const orderer = ordererOf(task, async () => {});
  const [merged] = mergePiles(task.pileSets, task.pile, task.pile + 1);
  if (merged === undefined) throw new RangeError(`there is no pile ${task.pile}`);
  let left = task.limit;
  let measuredBytes = 0;
  const level: LevelPile = { merged, layout: job.layout, parentScale: 1n, pileCount: job.layout.pileCount };
  await orderer.order(level, async (recordCount) => {
    const ranks = by === 'rank' ? Math.min(left, recordCount) : recordCount;
    const startLimit = by === 'byte' ? BigInt(Math.max(0, left)) : NO_LIMIT;
    const byteLength = Number(orderer.run.measureUpTo(ranks, startLimit));
    measuredBytes += byteLength;
    left -= by === 'rank' ? ranks : byteLength;
  });
  return {
    records: new Float64Array(),
    recordBytes: new Float64Array(),
    checksums: new BigUint64Array(),
    regions: [],
    measuredBytes,
  };
}

function ordererOf(task: ShuffleTask, settle: () => Promise<void>): PileOrderer {
  const { job } = task;
  const { control, ramPool, arena, hasher, compressor } = threadStateOf(job);
  return new PileOrderer({
    arena,
    control,
    reader: new MergedPileReader(ramPool, hasher, zstdExpander, control),
    hasher,
    compressor,
    bufferBytes: job.bufferBytes,
    readBytes: job.readBytes,
    outputBytes: job.outputBytes,
    longestRecordBytes: task.longestRecordBytes,
    attemptName: task.attemptName,
    settle,
  });
}
