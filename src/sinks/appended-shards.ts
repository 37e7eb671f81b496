/** Shards on this machine to which tasks append: staged files, and streams. */
import type { JobControl } from '../floor/job-control.js';
import { Backoff } from '../floor/pause.js';
import {
  closeFile,
  closeOnFailure,
  type OpenFile,
  openOwnSparse,
  openStagedOutput,
  shortenFile,
  versionOf,
  withFile,
  writeAt,
  writeSome,
} from '../io/files.js';
import { type AppendedTarget, type OpenShard, type StreamTarget, stagedPath } from './output-target.js';

export class StagedShard implements OpenShard {
  readonly #file: OpenFile;
  end: number;

  constructor(
    { stagingDirectory, headerBytes }: Pick<AppendedTarget, 'stagingDirectory' | 'headerBytes'>,
    shard: number,
  ) {
    this.#file = openStagedOutput(stagedPath(stagingDirectory, shard));
    // A new file leaves room for its header.
    this.end = Math.max(headerBytes, closeOnFailure(this.#file, versionOf).byteLength);
  }

  append(bytes: Uint8Array): void {
    writeAt(this.#file, bytes, 0, bytes.byteLength, this.end);
    this.end += bytes.byteLength;
  }

  close(): void {
    closeFile(this.#file);
  }

  abandon(): void {
    closeFile(this.#file);
  }

  rollBack(byteLength: number): boolean {
    shortenStaged(this.#file.path, byteLength);
    return true;
  }
}

export function shortenStaged(path: string, byteLength: number): void {
  withFile(openStagedOutput(path), (file) => {
    if (versionOf(file).byteLength > byteLength) shortenFile(file, byteLength);
  });
}

/** The stream, for the task whose turn it is. The job opens and closes it. */
export class StreamShard implements OpenShard {
  readonly #target: StreamTarget;
  readonly #control: JobControl;
  #hasBytes = false;

  constructor(target: StreamTarget, control: JobControl) {
    this.#target = target;
    this.#control = control;
  }

  get end(): number {
    return this.#target.headerBytes + this.#control.counted('claimedBytes');
  }

  async append(bytes: Uint8Array): Promise<void> {
    const { fd, path } = this.#target;
    this.#hasBytes = true;
    await writeToStream({ fd, path, role: 'output' }, bytes, this.#control);
    this.#control.count('claimedBytes', bytes.byteLength);
  }

  /** The end of a stream is made from these. */
  describe(description: Uint8Array): void {
    const { descriptions } = this.#target;
    const { byteLength } = description;
    const position = this.end - byteLength;
    if (descriptions !== undefined)
      withFile(openOwnSparse(descriptions), (file) => writeAt(file, description, 0, byteLength, position));
  }

  close(): void {}

  abandon(): void {}

  rollBack(): boolean {
    return !this.#hasBytes;
  }
}

/** Writes to a stream at the pace of its reader. The job can be stopped while the reader takes nothing. */
export async function writeToStream(file: OpenFile, bytes: Uint8Array, control: JobControl): Promise<void> {
  const backoff = new Backoff();
  for (let done = 0; done < bytes.byteLength; ) {
    const count = writeSome(file, bytes, done, bytes.byteLength - done);
    done += count;
    if (count > 0) {
      backoff.reset();
      continue;
    }
    control.throwIfAborted();
    await backoff.pause();
  }
}
