/**
 * A task before the shuffle pass: returns the present checksums of regions that an earlier attempt wrote, so that the pass
 * can rely on them.
 */
import { type OpenFile, openForRead, readAt, withFile } from '../../src/io/files.js';
import type { GateNumber } from '../../src/job-control.js';
import { inPhase } from '../../src/phase-clock.js';
import { checksumTextOf } from '../../src/piles/pile-totals.js';
import { stagedPath, type WrittenRegion } from '../../src/sinks/output-target.js';
import type { ReadSettings, TaskSettings } from '../settings.js';
import { type ThreadState, threadStateOf } from '../thread-state.js';

export interface ReadBackTask {
  readonly job: TaskSettings & Pick<ReadSettings, 'readBytes'>;
  readonly stagingDirectory: string;
  /** Each shard begins with a header; regions are counted from its end. */
  readonly headerBytes: number;
  readonly gate: GateNumber;
  readonly regions: readonly WrittenRegion[];
}

/** The checksums of the regions, in the form of `WrittenRegion`. */
type ReadBackResult = readonly string[];

export async function readBack({
  job,
  stagingDirectory,
  headerBytes,
  gate,
  regions,
}: ReadBackTask): Promise<ReadBackResult> {
  const state = threadStateOf(job);
  return regions.map(({ shard, start, end }) => {
    const path = stagedPath(stagingDirectory, shard);
    const range = { start: headerBytes + start, end: headerBytes + end };
    return withFile(openForRead(path, 'output'), (file) => hashRange(file, range, gate, job.readBytes, state));
  });
}

/** If the file ends inside the range, the checksum covers only the bytes up to its end. */
function hashRange(
  file: OpenFile,
  { start, end }: { readonly start: number; readonly end: number },
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
