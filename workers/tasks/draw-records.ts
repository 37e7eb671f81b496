/**
 * A task between the passes of a job that draws with replacement: puts piles in order, one after the other, and scatters a
 * copy of each drawn record, with its place in the output as its key. The shuffle pass then puts the copies in order.
 */
import { thenAlwaysAsync } from '../../src/cleanup.js';
import { VerificationError } from '../../src/errors.js';
import { type PileSet, PileSetWriter } from '../../src/pile-sets/pile-set-writer.js';
import { type PileTotals, requireSameTally, sumTotals, tallyOf } from '../../src/pile-sets/pile-totals.js';
import { STORED_HEADER_BYTES } from '../../src/plan/arena-sizes.js';
import type { PileRange } from '../../src/plan/pile-ranges.js';
import type { Draws } from '../piles/drawn-ranks.js';
import { PileOrderer } from '../piles/pile-orderer.js';
import { RecordCopier } from '../piles/record-copier.js';
import { ScatterArena } from '../piles/scatter-arena.js';
import type { CopySettings } from '../settings.js';
import { drawStateOf } from '../thread-state.js';
import { openOrder, type PilesTask } from './open-order.js';

export interface DrawTask extends PilesTask {
  readonly range: PileRange;
  /** What its piles must hold, at most 2^32 records. */
  readonly expected: PileTotals;
  readonly draws: Draws;
  readonly copies: CopySettings;
  /** The name of the pile set of the copies; no other attempt may use it. */
  readonly pileSetName: string;
}

export interface DrawResult {
  readonly pileSet: PileSet;
  /** Of the copies. */
  readonly totals: PileTotals;
  readonly longestRecordBytes: number;
}

/** @throws VerificationError if a pile is not as it was, or a copy differs from its record. */
export async function drawRecords(task: DrawTask): Promise<DrawResult> {
  const { job, range, expected, draws, copies, pileSetName: name, longestRecordBytes } = task;
  const { order } = await openOrder(task, async () => {});
  if (!(order instanceof PileOrderer)) throw new RangeError('held records are not drawn');
  const state = drawStateOf(job, copies);
  const { hasher, compressor, control } = state;
  const parts = { name, layout: copies.layout, ramPool: await state.ramPool, indexInFile: false };
  const writer = new PileSetWriter({ ...parts, hasher, compressor, control });
  const draw = async (): Promise<DrawResult> => {
    const { layout, bufferBytes, readBytes, keyScale = 1n } = copies;
    const maxRecordBytes = longestRecordBytes + STORED_HEADER_BYTES;
    const sizes = { bufferBytes, windowBytes: readBytes + maxRecordBytes, maxRecordBytes, keyScale };
    const scatterArena = new ScatterArena(state.arena, writer, { pileCount: layout.pileCount, ...sizes });
    const high = range.firstRank + sumTotals(expected).records;
    const copier = new RecordCopier(order, scatterArena, draws, range.firstRank, high);
    let rank = 0;
    for (const { pile, order: orderPile } of order.piles(range.first, range.end)) {
      const found = { records: 0, recordBytes: 0, checksum: 0n };
      await orderPile(async (recordCount) => {
        control.throwIfAborted();
        order.hashInPlace(0, recordCount);
        found.checksum = BigInt.asUintN(64, found.checksum + order.checksum);
        order.measureUpTo(0, recordCount, NO_LIMIT);
        found.recordBytes += order.measuredBytes;
        found.records += recordCount;
        copier.copy(rank, recordCount);
        rank += recordCount;
      });
      requireSameTally(pile, found, tallyOf(expected, pile - range.first));
      control.count('orderedBytes', found.recordBytes);
    }
    const { pileSet, totals } = scatterArena.commit(null);
    if (sumTotals(totals).checksum !== copier.copiedChecksum) throw differentCopies();
    return { pileSet, totals, longestRecordBytes: scatterArena.longestRecordBytes };
  };
  return thenAlwaysAsync(draw, () => writer.close());
}

const NO_LIMIT = (1n << 63n) - 1n;

function differentCopies(): VerificationError {
  return new VerificationError('copies of drawn records differ from the records; check the memory of this machine');
}
