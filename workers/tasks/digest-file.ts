/** A task of the commit: returns the SHA-256 of a staged file that is complete, in hex. */
import { createHash } from 'node:crypto';
import type { GateNumber } from '../../src/floor/job-control.js';
import { openForRead, readAt, withFile } from '../../src/io/files.js';
import type { ReadSettings, TaskSettings } from '../settings.js';
import { threadStateOf } from '../thread-state.js';

export interface DigestTask {
  readonly job: TaskSettings & Pick<ReadSettings, 'readBytes'>;
  readonly gate: GateNumber;
  readonly path: string;
}

export async function digestFile({ job, gate, path }: DigestTask): Promise<string> {
  const { control, arena } = threadStateOf(job);
  const address = arena.reserveForReads(job.readBytes);
  const hash = createHash('sha256');
  withFile(openForRead(path, 'output'), (file) => {
    for (let position = 0; ; ) {
      control.throwIfAborted();
      const { bytes } = arena.kernel;
      const count = control.during(gate, () => readAt(file, bytes, address, job.readBytes, position));
      if (count === 0) break;
      control.countMoved(gate, 'read', count);
      hash.update(bytes.subarray(address, address + count));
      position += count;
    }
  });
  return hash.digest('hex');
}
