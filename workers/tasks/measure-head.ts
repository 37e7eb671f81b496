/**
 * A task before the shuffle pass of a job that asks for the head of the order: measures the first records of a pile, which
 * it puts in order as that pass does. It writes nothing.
 */
import { inPhase } from '../../src/phase-clock.js';
import { type PileTally, requireSameTally } from '../../src/pile-sets/pile-totals.js';
import { openOrder, type PilesTask } from './open-order.js';

export interface MeasureHeadTask extends PilesTask {
  readonly pile: number;
  /** What the whole pile must hold. */
  readonly expected: PileTally;
  /** How many of its records are asked for. */
  readonly records: number;
}

export interface HeadMeasure extends PileTally {
  readonly longestRecordBytes: number;
}

/** @throws VerificationError if the pile is not as it was. */
export async function measureHead(task: MeasureHeadTask): Promise<HeadMeasure> {
  const { pile, expected } = task;
  const { order } = await openOrder(task, async () => {});
  const head = { records: 0, recordBytes: 0, checksum: 0n, longestRecordBytes: 0 };
  const whole = { records: 0, recordBytes: 0, checksum: 0n };
  const measure = (recordCount: number) => {
    const inHead = Math.min(recordCount, task.records - head.records);
    order.hashInPlace(0, inHead);
    head.checksum = BigInt.asUintN(64, head.checksum + order.checksum);
    order.hashInPlace(inHead, recordCount);
    for (let index = 0; index < recordCount; index++) {
      const byteLength = order.byteLengthOf(index);
      whole.recordBytes += byteLength;
      if (index >= inHead) continue;
      head.recordBytes += byteLength;
      head.longestRecordBytes = Math.max(head.longestRecordBytes, byteLength);
    }
    head.records += inHead;
    whole.records += recordCount;
    whole.checksum = BigInt.asUintN(64, whole.checksum + order.checksum);
  };
  for (const { order: orderPile } of order.piles(pile, pile + 1)) {
    await orderPile(async (recordCount) => inPhase('gather', () => measure(recordCount)));
  }
  requireSameTally(pile, whole, expected);
  return head;
}
