/** A task of a job that draws with replacement: puts piles in order and leaves their records in memory that threads share. */

import { inPhase } from '../../src/floor/phase-clock.js';
import { copySharedBytes } from '../../src/io/shared-bytes.js';
import {
  addRecordTotals,
  NO_TOTALS,
  type PileTotals,
  requireSameTotals,
  sumOverPiles,
  totalsOfPile,
} from '../../src/piles/pile-totals.js';
import type { PoolMemoryHandle } from '../../src/piles/ram-pool.js';
import type { PileRange } from '../../src/plan/pile-ranges.js';
import { viewOrdered } from '../piles/drawn-records.js';
import { openPileOrderer, type PilesTask } from '../piles/open-pile-orderer.js';
import { NO_LIMIT, type PileOrderer } from '../piles/pile-orderer.js';
import { orderedSlabsOf } from '../thread-state.js';

export interface OrderPilesTask extends PilesTask {
  readonly range: PileRange;
  readonly expected: PileTotals;
  readonly memory: PoolMemoryHandle;
  readonly slab: number;
}

export async function orderPiles(task: OrderPilesTask): Promise<void> {
  const { job, range, expected, memory, slab } = task;
  const { order, control } = await openPileOrderer(task);
  const slabs = await orderedSlabsOf(job, memory);
  const { starts, bytes } = viewOrdered(slabs[slab], sumOverPiles(expected).records);
  let record = 0;
  let filled = 0;
  for (const { pile, order: orderPile } of order.piles(range.first, range.end, expected)) {
    const inPile = totalsOfPile(expected, pile - range.first);
    let found = NO_TOTALS;
    await orderPile(async (count) => {
      control.throwIfAborted();
      const { byteLength } = order.measureUnits(0, count, 'rank');
      found = addRecordTotals(found, { records: count, bytes: byteLength, checksum: 0n });
      if (found.records > inPile.records || found.bytes > inPile.bytes) return;
      let end = filled;
      for (let index = 0; index < count; index++) {
        end += order.byteLengthOf(index);
        starts[record + index + 1] = end;
      }
      inPhase('gather', () => copyOrdered(order, count, bytes.subarray(filled, end)));
      found = addRecordTotals(found, { records: 0, bytes: 0, checksum: order.checksum });
      record += count;
      filled = end;
    });
    requireSameTotals(pile, found, inPile);
  }
}

function copyOrdered(order: PileOrderer, count: number, target: Uint8Array): void {
  const { addresses, capacityBytes } = order.sinkBuffer;
  const [address] = addresses;
  let filled = 0;
  for (let index = 0; index < count; ) {
    const next = order.gather(index, count, address, capacityBytes, NO_LIMIT);
    if (next > index) {
      copySharedBytes(order.bytes.subarray(address, address + order.gatheredBytes), target, filled);
      filled += order.gatheredBytes;
      index = next;
    } else {
      order.hashInPlace(index, index + 1);
      copySharedBytes(order.recordAt(index), target, filled);
      filled += order.byteLengthOf(index);
      index += 1;
    }
  }
}
