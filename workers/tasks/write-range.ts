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
import type { OutputSink, OutputTarget, SinkEnd, SinkStart } from '../../src/sinks/output-target.js';
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
  const { range, expected, expectsDropped = false, job, target, start, end, cutPile, units } = task;
  const pileCount = range.end - range.first;
  const totals = emptyTotals(expected.records.length);
  const dropped = expectsDropped ? emptyTotals(pileCount) : undefined;
  let countedBytes = 0;
  const reached = { rank: range.firstRank, byte: range.firstByte };
  const neighbours = neighbourKeysOf(job);
  let opened: OutputSink | undefined;
  const members = units === undefined ? undefined : await makerOfMembers(task);
  const { order, control, outputHasher } = await openPileOrderer(task, async () => opened?.awaitWrites());
  const hasher = job.hashesOutput ? outputHasher : undefined;
  const sums = isSummed(job.content) ? new WrittenSums() : undefined;
  const openShard = await shardOpener(target, control);
  const sink = (byteLength?: number) => {
    const parts = { target, start, end, buffer: order.sinkBuffer, control, hasher, openShard };
    opened ??= openSink({ ...parts, units: units && members && { own: units, members: members() } }, byteLength);
    return opened;
  };
  const write = async (): Promise<WriteResult> => {
    const lastEnd = Math.min(range.first + expected.records.length, (cutPile ?? Number.POSITIVE_INFINITY) + 1);
    for (const { pile, order: orderPile } of order.piles(range.first, lastEnd, expected)) {
      const i = pile - range.first;
      const before = { ...reached };
      const limit = { pile, byte: before.byte + (expected.recordBytes[i] ?? 0) };
      const droppedOfPile = await orderPile(async (recordCount, { records, bytes }) => {
        const isWhole = recordCount + records === expected.records[i];
        const byteLength = isWhole && lastEnd === range.first + 1 ? (expected.recordBytes[i] ?? 0) - bytes : undefined;
        const left = (expected.records[i] ?? 0) - (reached.rank - before.rank);
        const count = pile === cutPile ? Math.min(recordCount, left) : recordCount;
        neighbours?.take(order, count);
        if (neighbours?.ofOneKey !== undefined) return;
        if (job.sampledKeys !== undefined && pile < range.end)
          noteWritten(job.sampledKeys, order, count, { pile, index: reached.rank - before.rank });
        await emit(order, count, sink(byteLength), reached, limit, sums);
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
  for (let index = 0; index < recordCount; ) {
    const { by, at } = sink.nextCut;
    const position = by === 'rank' ? reached.rank : reached.byte;
    if (position >= at) {
      await sink.cut();
      continue;
    }
    const most = sums === undefined ? recordCount : Math.min(recordCount, index + SUMMED_TOGETHER);
    const endIndex = by === 'rank' ? Math.min(most, index + (at - position)) : most;
    const startLimit = by === 'byte' && at !== Number.POSITIVE_INFINITY ? BigInt(at - position) : NO_LIMIT;
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

/** Emits a record that is longer than the buffer of the sink. */
async function emitLong(order: PileOrderer, index: number, sink: OutputSink): Promise<number> {
  const address = order.addressOf(index);
  const byteLength = order.byteLengthOf(index);
  order.hashInPlace(index, index + 1);
  for (let done = 0; done < byteLength; ) {
    const count = Math.min(sink.roomBytes, byteLength - done);
    order.bytes.copyWithin(sink.fillAddress, address + done, address + done + count);
    sink.advance(count);
    done += count;
    await sink.flush();
  }
  return byteLength;
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
