/**
 * Before pass 2 goes on: reads regions of staged outputs back that an earlier run of the job wrote, and gives
 * their checksums as they are now.
 */
import { type OpenFile, openForRead, readAt, withFile } from '../../src/io/files.js';
import type { GateNumber } from '../../src/job-control.js';
import { checksumTextOf, stagedPath, type WrittenRegion } from '../../src/output/output-target.js';
import { inPhase } from '../../src/phase-clock.js';
import { ArenaLayout } from '../piles/arena.js';
import { type ReadShare, type TaskShare, type ThreadState, threadStateOf } from './job-share.js';
import { type Outcome, outcomeOf } from './outcome.js';

export interface ReadBackTask {
  readonly job: TaskShare & Pick<ReadShare, 'readBytes'>;
  readonly stagingDirectory: string;
  /** Of each shard; regions are counted from there. */
  readonly headerBytes: number;
  readonly gate: GateNumber;
  readonly regions: readonly WrittenRegion[];
}

/** Checksums of the regions, as they are noted of what is written. */
export type ReadBackResult = readonly string[];

export function runReadBackTask(task: ReadBackTask): Promise<Outcome<ReadBackResult>> {
  return outcomeOf(task.job, 'read-back', async () => readBack(task));
}

function readBack({ job, stagingDirectory, headerBytes, gate, regions }: ReadBackTask): ReadBackResult {
  const state = threadStateOf(job);
  return regions.map(({ shard, start, end }) => {
    const path = stagedPath(stagingDirectory, shard);
    const range = { start: headerBytes + start, end: headerBytes + end };
    return withFile(openForRead(path, 'output'), (file) => hashRange(file, range, gate, job.readBytes, state));
  });
}

/** A range that ends early has the checksum of what there is of it. */
function hashRange(
  file: OpenFile,
  { start, end }: { readonly start: number; readonly end: number },
  gate: GateNumber,
  pieceBytes: number,
  { control, arena, outputHasher }: ThreadState,
): string {
  const layout = new ArenaLayout();
  const address = layout.take(pieceBytes);
  // No more than the read window of pass 1, which every arena has room for.
  if (!arena.reserve(layout.end)) throw new RangeError(`an arena has no room for the ${pieceBytes} bytes of a read`);
  outputHasher.begin();
  for (let position = start; position < end; ) {
    control.throwIfAborted();
    const { bytes } = arena.kernel;
    const wanted = Math.min(pieceBytes, end - position);
    const read = () => readAt(file, bytes, address, wanted, position);
    const count = control.during(gate, () => inPhase('read', read));
    if (count === 0) break;
    outputHasher.add(bytes, address, count);
    control.count('shuffledBytes', count);
    position += count;
  }
  return checksumTextOf(outputHasher.checksum());
}
