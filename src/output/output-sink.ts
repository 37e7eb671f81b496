/**
 * Where one task of pass 2 puts its part of the global order, from one place on without a gap.
 */
import { closeFile, type OpenFile, openStagedOutput, openStreamOutput, writeAt } from '../io/files.js';
import type { JobControl } from '../io/job-control.js';
import { cutAt } from '../plan/shard-cuts.js';
import { type OutputTarget, STANDARD_OUTPUT, stagedPath, type WrittenRegion } from './output-target.js';

export interface OutputSink {
  /** The rank, or the byte of the whole, before which the next shard must not begin; Infinity: no cut. */
  readonly nextCut: { readonly by: 'rank' | 'byte'; readonly at: number };
  /** Ends the shard; the next write begins the next one. */
  cut(): void;
  write(bytes: Uint8Array, offset: number, byteLength: number): void;
  /** What was written, once the sink is closed. */
  close(): readonly WrittenRegion[];
}

/** Where a task begins. */
export interface SinkStart {
  readonly shard: number;
  /** Byte of that shard. */
  readonly shardByte: number;
  /** The task's place among the tasks, for a stream. */
  readonly turn: number;
}

const STANDARD_OUTPUT_FD = 1;

export function openSink(target: OutputTarget, start: SinkStart, control: JobControl): OutputSink {
  return target.kind === 'files'
    ? new FilesSink(target, start, control)
    : new StreamSink(target.path, start.turn, control);
}

class FilesSink implements OutputSink {
  readonly #target: OutputTarget & { kind: 'files' };
  readonly #control: JobControl;
  readonly #regions: WrittenRegion[] = [];
  #shard: number;
  #file: OpenFile | undefined;
  #regionStart: number;
  #position: number;

  constructor(target: OutputTarget & { kind: 'files' }, start: SinkStart, control: JobControl) {
    this.#target = target;
    this.#control = control;
    this.#shard = start.shard;
    this.#regionStart = start.shardByte;
    this.#position = start.shardByte;
  }

  get nextCut(): { by: 'rank' | 'byte'; at: number } {
    return { by: this.#target.cuts.by, at: cutAt(this.#target.cuts, this.#shard + 1) };
  }

  cut(): void {
    this.#endRegion();
    this.#shard += 1;
    this.#regionStart = 0;
    this.#position = 0;
  }

  write(bytes: Uint8Array, offset: number, byteLength: number): void {
    this.#file ??= openStagedOutput(stagedPath(this.#target.stagingDirectory, this.#shard));
    const file = this.#file;
    this.#control.during(this.#target.gate, () => writeAt(file, bytes, offset, byteLength, this.#position));
    this.#position += byteLength;
  }

  close(): readonly WrittenRegion[] {
    this.#endRegion();
    return this.#regions;
  }

  #endRegion(): void {
    if (this.#position > this.#regionStart) {
      this.#regions.push({ shard: this.#shard, start: this.#regionStart, end: this.#position });
      this.#regionStart = this.#position;
    }
    if (this.#file !== undefined) {
      const file = this.#file;
      this.#file = undefined;
      closeFile(file);
    }
  }
}

/** Tasks take turns: each loads and sorts when it likes and writes when those before it are done. */
class StreamSink implements OutputSink {
  readonly nextCut = { by: 'byte', at: Number.POSITIVE_INFINITY } as const;
  readonly #path: string;
  readonly #turn: number;
  readonly #control: JobControl;
  #file: OpenFile | undefined;
  #byteLength = 0;

  constructor(path: string, turn: number, control: JobControl) {
    this.#path = path;
    this.#turn = turn;
    this.#control = control;
  }

  cut(): void {
    throw new RangeError('a stream is not cut into shards');
  }

  write(bytes: Uint8Array, offset: number, byteLength: number): void {
    writeAt(this.#openInTurn(), bytes, offset, byteLength, null);
    this.#byteLength += byteLength;
  }

  #openInTurn(): OpenFile {
    if (this.#file === undefined) {
      this.#control.waitForTurn(this.#turn);
      this.#file =
        this.#path === STANDARD_OUTPUT
          ? { fd: STANDARD_OUTPUT_FD, path: 'standard output', role: 'output' }
          : openStreamOutput(this.#path);
    }
    return this.#file;
  }

  close(): readonly WrittenRegion[] {
    // Opened even when there is nothing to write: the reader of a pipe waits for its writer.
    const file = this.#openInTurn();
    if (file.fd !== STANDARD_OUTPUT_FD) closeFile(file);
    this.#control.passTurn();
    return [{ shard: 0, start: 0, end: this.#byteLength }];
  }
}
