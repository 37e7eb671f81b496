/**
 * A task before the shuffle pass: returns the present checksums of bytes that an earlier attempt wrote, so that the pass
 * can rely on them.
 */

import type { GateNumber } from '../../src/floor/job-control.js';
import { inPhase } from '../../src/floor/phase-clock.js';
import { type OpenFile, openForRead, readAt, withFile } from '../../src/io/files.js';
import { checksumTextOf } from '../../src/piles/pile-totals.js';
import type { ReadSettings, TaskSettings } from '../settings.js';
import { type ThreadState, threadStateOf } from '../thread-state.js';

/** Bytes of a staged file, and the checksum with which they were written. */
export interface StagedRange {
  readonly path: string;
  readonly start: number;
  readonly end: number;
  readonly checksum: string;
}

export interface ReadBackTask {
  readonly job: TaskSettings & Pick<ReadSettings, 'readBytes'>;
  readonly gate: GateNumber;
  readonly ranges: readonly StagedRange[];
}

/** The checksums of the ranges now. */
type ReadBackResult = readonly string[];

export async function readBack({ job, gate, ranges }: ReadBackTask): Promise<ReadBackResult> {
  const state = threadStateOf(job);
  return ranges.map((range) =>
    withFile(openForRead(range.path, 'output'), (file) => hashRange(file, range, gate, job.readBytes, state)),
  );
}

/** Hashes a range. If the file ends inside the range, the checksum covers only the bytes up to its end. */
function hashRange(
  file: OpenFile,
  { start, end }: StagedRange,
  gate: GateNumber,
  pieceBytes: number,
  { control, arena, outputHasher }: ThreadState,
): string {
  const address = arena.reserveForReads(pieceBytes);
  outputHasher.begin();
  for (let position = start; position < end; ) {
    control.throwIfAborted();
    const { bytes } = arena.kernel;
    const wanted = Math.min(pieceBytes, end - position);
    const read = () => readAt(file, bytes, address, wanted, position);
    const count = control.during(gate, () => inPhase('read', read));
    if (count === 0) break;
    control.countMoved(gate, 'read', count);
    outputHasher.add(bytes, address, count);
    control.count('shuffledBytes', count);
    control.count('resumedOutputBytes', count);
    position += count;
  }
  return checksumTextOf(outputHasher.checksum());
}
