/**
 * A task of the shuffle pass: writes a range of merged piles as one part of the output. Where readers would join neighbours
 * of one key, it compares neighbours, and ends at two of one key.
 */
import { join } from 'node:path';
import { VerificationError, WrongStreamError } from '../../src/errors.js';
import { thenAlwaysAsync } from '../../src/floor/cleanup.js';
import { inPhase } from '../../src/floor/phase-clock.js';
import type { MemberWriter } from '../../src/formats/encoded-members.js';
import type { SampleKeys } from '../../src/formats/framing.js';
import { framingOf } from '../../src/formats/framing-table.js';
import type { SpillPlace } from '../../src/formats/rows/finished-pages.js';
import type { KeyedSample, RangeEnds, WrittenRegion } from '../../src/job-directory/notes.js';
import { isSummed } from '../../src/keep/content-rule.js';
import {
  addRecordTotals,
  checksumTextOf,
  emptyTotals,
  type PileTotals,
  requireSameTotals,
  setTotalsOfPile,
  totalsOfPile,
  totalsOfRange,
} from '../../src/piles/pile-totals.js';
import { shardOpener } from '../../src/places/outputs/shard-openers.js';
import type { PileRange } from '../../src/plan/pile-ranges.js';
import type { OwnUnits } from '../../src/plan/unit-cuts.js';
import { openSink } from '../../src/sinks/appended-sink.js';
import {
  type LastShard,
  type OutputSink,
  type OutputTarget,
  type SinkEnd,
  type SinkStart,
  writeLong,
} from '../../src/sinks/output-target.js';
import { openPileOrderer, type PilesTask } from '../piles/open-pile-orderer.js';
import { NO_LIMIT, type PileOrderer } from '../piles/pile-orderer.js';
import { noteWritten } from '../piles/written-ranks.js';
import { WrittenSums } from '../piles/written-sums.js';
import type { ShuffleSettings } from '../settings.js';
import { rowThreadOf } from '../thread-state.js';

export interface WriteRangeTask extends PilesTask {
  readonly range: PileRange;
  /** The totals of its piles, and of those that its units reach into. */
  readonly expected: PileTotals;
  /** True if `expected` includes the records that the task drops because it keeps one of equal records. */
  readonly expectsDropped?: boolean;
  readonly target: OutputTarget;
  readonly start: SinkStart;
  readonly end: SinkEnd | undefined;
  /** The rank or byte of the last cut in the range, as `target.cuts.by` says. Absent: it has none. */
  readonly lastCut?: number | undefined;
  /**
   * The units that begin in the range, of an output that is made of units. Absent: all records of the range are
   * written.
   */
  readonly units?: OwnUnits | undefined;
}

export interface WriteResult {
  /** The totals of the gathered records, for each pile of the range. */
  readonly totals: PileTotals;
  /** The totals of the records dropped from each pile, if `expectsDropped`. */
  readonly dropped?: PileTotals | undefined;
  readonly regions: readonly WrittenRegion[];
  /** True if its turn must be passed on, when those before it have been. */
  readonly leavesTurn?: boolean | undefined;
  /** The samples at both ends of the range, for a framing whose samples have keys; null if the range has none. */
  readonly ends?: RangeEnds | null | undefined;
  /** Two neighbours of one key: the range is not written. */
  readonly ofOneKey?: readonly [KeyedSample, KeyedSample] | undefined;
}

async function makerOfMembers({ job, target, attemptName, start }: WriteRangeTask): Promise<() => MemberWriter> {
  const output = 'rows' in target ? target.rows : undefined;
  if (output === undefined) throw new RangeError('an output of units has rows');
  const thread = await rowThreadOf(job, output.rows);
  const newSpillPlace = spillPlaces(job, `${attemptName}-units`, start.turn);
  return () => thread.openWriter(output, { newSpillPlace, allowanceBytes: job.columnBytes });
}

interface OutputPosition {
  rank: number;
  byte: number;
}

/**
 * @throws VerificationError if a pile is not as it was: then nothing of the range is left in the output, and the turn is not
 *   passed on, so that the same task may be tried again; WrongStreamError if a stream has received a part.
 */
export async function writeRange(task: WriteRangeTask): Promise<WriteResult> {
  const { range, expected, expectsDropped = false, job, target, start, end, cutPile, units, lastCut } = task;
  const pileCount = range.end - range.first;
  const totals = emptyTotals(expected.records.length);
  const dropped = expectsDropped ? emptyTotals(pileCount) : undefined;
  let countedBytes = 0;
  const reached = { rank: range.firstRank, byte: range.firstByte };
  const neighbours = neighbourKeysOf(job);
  let opened: OutputSink | undefined;
  const members = units === undefined ? undefined : await makerOfMembers(task);
  const { order, control, outputHasher, memberBuffers } = await openPileOrderer(task, async () =>
    opened?.awaitWrites(),
  );
  const hasher = job.hashesOutput ? outputHasher : undefined;
  const sums = isSummed(job.content) ? new WrittenSums() : undefined;
  const openShard = await shardOpener(target, control);
  const sink = (last?: LastShard) => {
    const { memberBytes } = job;
    const places = { target, start, end, openShard };
    const parts = { ...places, buffer: order.sinkBuffer, control, hasher, memberBytes, memberBuffers };
    opened ??= openSink({ ...parts, units: units && members && { own: units, members: members() } }, last);
    return opened;
  };
  /** @param bytes of the records in order, which are all of the range. */
  const lastShardOf = (bytes: number): LastShard => {
    const { by } = target.cuts;
    if (lastCut === undefined) return { bytes: bytes - (start.skippedBytes ?? 0), isNew: false };
    return { bytes: bytes - order.measureUnits(0, lastCut - reached[by], by).byteLength, isNew: true };
  };
  const write = async (): Promise<WriteResult> => {
    const lastEnd = Math.min(range.first + expected.records.length, (cutPile ?? Number.POSITIVE_INFINITY) + 1);
    for (const { pile, order: orderPile } of order.piles(range.first, lastEnd, expected)) {
      const i = pile - range.first;
      const before = { ...reached };
      const limit = { pile, byte: before.byte + (expected.recordBytes[i] ?? 0) };
      const droppedOfPile = await orderPile(async (recordCount, { records, bytes }) => {
        const isWhole = recordCount + records === expected.records[i] && lastEnd === range.first + 1;
        const last = isWhole ? lastShardOf((expected.recordBytes[i] ?? 0) - bytes) : undefined;
        const left = (expected.records[i] ?? 0) - (reached.rank - before.rank);
        const count = pile === cutPile ? Math.min(recordCount, left) : recordCount;
        neighbours?.take(order, count);
        if (neighbours?.ofOneKey !== undefined) return;
        if (job.sampledKeys !== undefined && pile < range.end)
          noteWritten(job.sampledKeys, order, count, { pile, index: reached.rank - before.rank });
        await emit(order, count, sink(last), reached, limit, sums);
        totals.checksums[i] = (totals.checksums[i] ?? 0n) + order.checksum;
      });
      if (neighbours?.ofOneKey !== undefined) return { totals, regions: [], ofOneKey: neighbours.ofOneKey };
      totals.records[i] = reached.rank - before.rank;
      totals.recordBytes[i] = reached.byte - before.byte;
      if (dropped !== undefined) setTotalsOfPile(dropped, i, droppedOfPile);
      const found =
        dropped === undefined ? totalsOfPile(totals, i) : addRecordTotals(totalsOfPile(totals, i), droppedOfPile);
      requireSameTotals(pile, found, totalsOfPile(expected, i));
      // The others are those of other tasks, too.
      if (pile >= range.end) continue;
      control.count('shuffledBytes', found.bytes);
      countedBytes += found.bytes;
    }
    const regions = await sink().close();
    const written = totalsOfRange(totals, 0, pileCount);
    const summed = sums?.of(regions) ?? regions;
    return { totals: written, dropped, regions: summed, leavesTurn: sink().needsNoTurn, ends: neighbours?.ends };
  };
  const takeBack = async () => {
    control.count('shuffledBytes', -countedBytes);
    return opened?.rollBack();
  };
  return thenAlwaysAsync(
    () => writeOrTakeBack(write, takeBack),
    async () => opened?.abandon(),
  );
}

/** Returns undefined where neighbours may have one key. */
function neighbourKeysOf({ framing }: WriteRangeTask['job']): NeighbourKeys | undefined {
  const sampleKeys = framing && framingOf(framing).sampleKeys;
  return sampleKeys && new NeighbourKeys(sampleKeys);
}

/** @param takeBack returns false if a stream has received a part. */
async function writeOrTakeBack<T>(write: () => Promise<T>, takeBack: () => Promise<boolean | undefined>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error;
    throw (await takeBack()) === false ? new WrongStreamError(error) : error;
  }
}

interface PileLimit {
  readonly pile: number;
  readonly byte: number;
}

/** Records that are summed while the core's cache has them: the next ones push them out. */
const SUMMED_TOGETHER = 256;

/** Cuts shards where the sink says. Refuses a pile before more bytes are written than it holds. */
async function emit(
  order: PileOrderer,
  recordCount: number,
  sink: OutputSink,
  reached: OutputPosition,
  limit: PileLimit,
  sums: WrittenSums | undefined,
): Promise<void> {
  for (let index = 0; ; ) {
    const { by, at } = sink.nextCut;
    const left = at - reached[by];
    if (left <= 0) {
      await sink.cut();
      continue;
    }
    if (index === recordCount) return;
    const most = sums === undefined ? recordCount : Math.min(recordCount, index + SUMMED_TOGETHER);
    const endIndex = by === 'rank' ? Math.min(most, index + left) : most;
    const { leftBytes = Number.POSITIVE_INFINITY } = sink;
    const limitBytes = by === 'byte' ? Math.min(left, leftBytes) : leftBytes;
    const startLimit = limitBytes === Number.POSITIVE_INFINITY ? NO_LIMIT : BigInt(Math.max(0, limitBytes));
    const gather = () => order.gather(index, endIndex, sink.fillAddress, sink.roomBytes, startLimit);
    const next = inPhase('gather', gather);
    if (next > index) {
      const byteLength = order.gatheredBytes;
      requireRoom(reached, byteLength, limit);
      sums?.add(order, sink, index, next, sink.fillAddress);
      sink.advance(byteLength);
      reached.rank += next - index;
      reached.byte += byteLength;
      index = next;
    } else if (!(await sink.flush())) {
      requireRoom(reached, order.byteLengthOf(index), limit);
      sums?.add(order, sink, index, index + 1, order.addressOf(index));
      reached.byte += await emitLong(order, index, sink);
      reached.rank += 1;
      index += 1;
    }
  }
}

function requireRoom({ byte }: OutputPosition, byteLength: number, limit: PileLimit): void {
  if (byte + byteLength <= limit.byte) return;
  throw new VerificationError(
    `pile ${limit.pile} came out of pass 2 with at least ${byte + byteLength - limit.byte} bytes too many; check the temp disk and the memory of this machine`,
  );
}

/** Emits a record that is longer than the room of the sink. */
async function emitLong(order: PileOrderer, index: number, sink: OutputSink): Promise<number> {
  const from = order.addressOf(index);
  order.hashInPlace(index, index + 1);
  return writeLong(sink, order.byteLengthOf(index), (address, done, byteLength) =>
    order.bytes.copyWithin(address, from + done, from + done + byteLength),
  );
}

/**
 * @param beginning of the names of the files.
 * @param turn of the task: those of several tasks begin with different disks.
 */
export function spillPlaces(job: ShuffleSettings, beginning: string, turn: number): () => SpillPlace {
  const { disks } = job.rescatterTo;
  let files = 0;
  return () => {
    const disk = disks[(turn + files) % disks.length];
    if (disk === undefined) throw new RangeError('this job has no temp disk');
    files += 1;
    return { path: join(disk.directory, `${beginning}${files}`), gate: disk.gate };
  };
}

interface SeenSample {
  readonly sampleKey: string;
  readonly key: bigint;
}

/** Compares the keys of neighbours in the output, for framings whose readers join two samples of one key. */
class NeighbourKeys {
  readonly #keyOf: SampleKeys['keyOf'];
  #first: SeenSample | undefined;
  #last: SeenSample | undefined;
  #ofOneKey: readonly [KeyedSample, KeyedSample] | undefined;

  constructor({ keyOf }: SampleKeys) {
    this.#keyOf = keyOf;
  }

  get ends(): RangeEnds | null {
    const [first, last] = [this.#first, this.#last];
    return first === undefined || last === undefined ? null : { first: asText(first), last: asText(last) };
  }

  get ofOneKey(): readonly [KeyedSample, KeyedSample] | undefined {
    return this.#ofOneKey;
  }

  take(order: PileOrderer, count: number): void {
    let last = this.#last;
    for (let index = 0; index < count; index++) {
      const sampleKey = this.#keyOf(order.recordAt(index));
      // Readers see nothing of it: the samples around it are neighbours.
      if (sampleKey === undefined) continue;
      const sample = { sampleKey, key: order.keyAt(index) };
      if (last?.sampleKey === sampleKey) this.#ofOneKey ??= [asText(last), asText(sample)];
      this.#first ??= sample;
      last = sample;
    }
    this.#last = last;
  }
}

function asText({ sampleKey, key }: SeenSample): KeyedSample {
  return { sampleKey, key: checksumTextOf(key) };
}
