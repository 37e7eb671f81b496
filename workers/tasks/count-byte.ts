/**
 * Before pass 1, where a framing must know how often a byte occurs before a place to tell whether a record begins
 * there: counts it in a range of a plain file.
 */

import { thenAlways } from '../../src/cleanup.js';
import { RegularInput } from '../../src/io/input-source.js';
import { inPhase } from '../../src/phase-clock.js';
import { ArenaLayout } from '../piles/arena.js';
import type { InputPart } from '../read/input-part.js';
import { type ReadShare, type TaskShare, threadStateOf } from './job-share.js';
import { type Outcome, outcomeOf } from './outcome.js';

export interface CountTask {
  readonly job: TaskShare & Pick<ReadShare, 'readBytes'>;
  readonly path: string;
  readonly version: (InputPart & { kind: 'range' })['version'];
  readonly gate: (InputPart & { kind: 'range' })['gate'];
  readonly byte: number;
  readonly start: number;
  readonly end: number;
}

export function runCountTask(task: CountTask): Promise<Outcome<number>> {
  return outcomeOf(task.job, 'count', async () => countByte(task));
}

function countByte({ job, path, version, gate, byte, start, end }: CountTask): number {
  const { control, arena } = threadStateOf(job);
  const layout = new ArenaLayout();
  const address = layout.take(job.readBytes);
  // What a read takes is a part of the read window, for which every arena has room, slack included.
  if (!arena.reserve(layout.end)) throw new RangeError(`an arena has no room for the ${job.readBytes} bytes of a read`);
  const input = new RegularInput(path, version, control, gate);
  const count = (): number => {
    let total = 0n;
    for (let position = start; position < end; ) {
      control.throwIfAborted();
      const { bytes, wasm } = arena.kernel;
      const byteLength = input.readAt(bytes, address, Math.min(job.readBytes, end - position), position);
      if (byteLength === 0) break;
      const counted = inPhase('scan', () => wasm.countByte(address, address + byteLength, byte));
      total += BigInt.asUintN(64, counted);
      position += byteLength;
    }
    input.requireUnchanged();
    return Number(total);
  };
  return thenAlways(count, () => input.close());
}
