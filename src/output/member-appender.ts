/**
 * Where compressed members go, one behind the other. Only the task whose turn it is may append.
 */
import { closeFile, type OpenFile, openStagedOutput, versionOf, writeAt } from '../io/files.js';
import type { JobControl } from '../job-control.js';
import { type AppendedTarget, type StreamTarget, stagedPath } from './output-target.js';
import { writeToStream } from './write-to-stream.js';

export interface MemberAppender {
  /** @returns where the member begins in its shard, counted from the end of the header. */
  append(shard: number, member: Uint8Array): Promise<number>;
  /** Lets go of what is open. */
  close(): void;
}

/** To the end of staged files; a file that is not there yet leaves room for its header. */
export class FilesAppender implements MemberAppender {
  readonly #target: AppendedTarget;
  readonly #control: JobControl;
  /** The shard that was appended to last, and where it ends. */
  #last: { readonly shard: number; readonly file: OpenFile; end: number } | undefined;

  constructor(target: AppendedTarget, control: JobControl) {
    this.#target = target;
    this.#control = control;
  }

  async append(shard: number, member: Uint8Array): Promise<number> {
    const { headerBytes, gate } = this.#target;
    const last = this.#last?.shard === shard ? this.#last : this.#open(shard);
    const position = last.end;
    await this.#control.duringAsync(gate, () => writeAt(last.file, member, 0, member.byteLength, position));
    last.end += member.byteLength;
    return position - headerBytes;
  }

  close(): void {
    const file = this.#last?.file;
    this.#last = undefined;
    if (file !== undefined) closeFile(file);
  }

  #open(shard: number) {
    this.close();
    const { stagingDirectory, headerBytes } = this.#target;
    const file = openStagedOutput(stagedPath(stagingDirectory, shard));
    const opened = { shard, file, end: 0 };
    this.#last = opened;
    opened.end = Math.max(headerBytes, versionOf(file).byteLength);
    return opened;
  }
}

/** To a stream, which is one shard. */
export class StreamAppender implements MemberAppender {
  readonly #file: OpenFile;
  readonly #control: JobControl;
  #byteLength = 0;

  constructor({ fd, path }: StreamTarget, control: JobControl) {
    this.#file = { fd, path, role: 'output' };
    this.#control = control;
  }

  /** What other tasks wrote is not counted. */
  async append(_shard: number, member: Uint8Array): Promise<number> {
    await writeToStream(this.#file, member, this.#control);
    const start = this.#byteLength;
    this.#byteLength += member.byteLength;
    return start;
  }

  close(): void {}
}
