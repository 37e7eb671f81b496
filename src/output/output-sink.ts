/**
 * Where one task of pass 2 puts its part of the global order, from one place on without a gap.
 *
 * Records are gathered into the sink's buffer in linear memory. Large files are written around the
 * page cache where that is possible: the output is not read again, and it has to reach the device
 * before the job ends anyway. Such writes must be aligned in memory and in the file, so the buffer is
 * filled in step with the file, and what is not aligned, at the ends of a region, goes through the
 * page cache.
 *
 *     file      | ... 4096 | 4096 | 4096 | ...            region begins at byte p
 *     buffer    |  p % 4096 ^ first record
 */
import {
  closeFile,
  DIRECT_ALIGNMENT,
  type OpenFile,
  openDirectOutput,
  openStagedOutput,
  openStreamOutput,
  writeAt,
  writeDirect,
} from '../io/files.js';
import type { JobControl } from '../io/job-control.js';
import { cutAt } from '../plan/shard-cuts.js';
import { type OutputTarget, STANDARD_OUTPUT, stagedPath, type WrittenRegion } from './output-target.js';

export interface OutputSink {
  /** The rank, or the byte of the whole, at which the next shard begins; Infinity: no more cuts. */
  readonly nextCut: { readonly by: 'rank' | 'byte'; readonly at: number };
  /** Where the next bytes are to be put, and how many fit. */
  readonly fillAddress: number;
  readonly roomBytes: number;
  /** Takes over `byteLength` bytes that were put at `fillAddress`. */
  filled(byteLength: number): void;
  /** Writes what can be written now. @returns whether there is more room than before. */
  flush(): boolean;
  /** Ends the shard; what comes next begins the next one. */
  cut(): void;
  /** Writes the rest. @returns what was written, all in all. */
  close(): readonly WrittenRegion[];
  /** Lets go of files when the task failed. */
  abandon(): void;
}

/** Linear memory that the sink may use; there is slack behind it. */
export interface SinkBuffer {
  /** A multiple of the alignment of direct writes. */
  readonly address: number;
  readonly capacityBytes: number;
  /** The memory as it is now: it is replaced when it grows. */
  readonly memory: () => Uint8Array;
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

export function openSink(target: OutputTarget, start: SinkStart, buffer: SinkBuffer, control: JobControl): OutputSink {
  return target.kind === 'files'
    ? new FilesSink(target, start, buffer, control)
    : new StreamSink(target.path, start.turn, buffer, control);
}

class FilesSink implements OutputSink {
  readonly #target: OutputTarget & { kind: 'files' };
  readonly #buffer: SinkBuffer;
  readonly #control: JobControl;
  readonly #regions: WrittenRegion[] = [];
  #shard: number;
  #file: OpenFile | undefined;
  /** The same file, opened for direct writes; undefined when they are not to be used. */
  #directFile: OpenFile | undefined;
  #direct = false;
  #regionStart: number;
  /** Byte of the shard that lies at #pendingAddress. */
  #position: number;
  /** Filled and not yet written: [#pendingAddress, fillAddress). */
  #pendingAddress: number;
  fillAddress: number;

  constructor(target: OutputTarget & { kind: 'files' }, start: SinkStart, buffer: SinkBuffer, control: JobControl) {
    this.#target = target;
    this.#buffer = buffer;
    this.#control = control;
    this.#shard = start.shard;
    this.#regionStart = start.shardByte;
    this.#position = start.shardByte;
    this.#direct = this.#maybeDirect();
    this.#pendingAddress = this.#addressInStep();
    this.fillAddress = this.#pendingAddress;
  }

  get nextCut(): { by: 'rank' | 'byte'; at: number } {
    return { by: this.#target.cuts.by, at: cutAt(this.#target.cuts, this.#shard + 1) };
  }

  get roomBytes(): number {
    return this.#buffer.address + this.#buffer.capacityBytes - this.fillAddress;
  }

  filled(byteLength: number): void {
    this.fillAddress += byteLength;
  }

  flush(): boolean {
    const end = this.#direct ? roundDown(this.fillAddress) : this.fillAddress;
    if (end <= this.#pendingAddress) return false;
    this.#writePending(end);
    // What is left is shorter than one block, and the file is now at the beginning of one.
    this.#buffer.memory().copyWithin(this.#buffer.address, end, this.fillAddress);
    this.fillAddress = this.#buffer.address + (this.fillAddress - end);
    this.#pendingAddress = this.#buffer.address;
    return true;
  }

  cut(): void {
    this.#endRegion();
    this.#shard += 1;
    this.#regionStart = 0;
    this.#position = 0;
    this.#direct = this.#maybeDirect();
    this.#pendingAddress = this.#addressInStep();
    this.fillAddress = this.#pendingAddress;
  }

  close(): readonly WrittenRegion[] {
    this.#endRegion();
    return this.#regions;
  }

  abandon(): void {
    const files = [this.#file, this.#directFile];
    this.#file = undefined;
    this.#directFile = undefined;
    for (const file of files) if (file !== undefined) closeFile(file);
  }

  #maybeDirect(): boolean {
    return this.#target.direct && this.#buffer.capacityBytes >= 4 * DIRECT_ALIGNMENT;
  }

  #addressInStep(): number {
    return this.#buffer.address + (this.#direct ? this.#position % DIRECT_ALIGNMENT : 0);
  }

  /** Writes [#pendingAddress, end): whole blocks around the page cache, the rest through it. */
  #writePending(end: number): void {
    if (this.#direct) {
      this.#writeBuffered(Math.min(end, roundUp(this.#pendingAddress)));
      this.#writeDirect(roundDown(end));
    }
    this.#writeBuffered(end);
  }

  #writeBuffered(end: number): void {
    const byteLength = end - this.#pendingAddress;
    if (byteLength <= 0) return;
    this.#file ??= openStagedOutput(stagedPath(this.#target.stagingDirectory, this.#shard));
    const file = this.#file;
    this.#control.during(this.#target.gate, () =>
      writeAt(file, this.#buffer.memory(), this.#pendingAddress, byteLength, this.#position),
    );
    this.#advance(byteLength);
  }

  #writeDirect(end: number): void {
    if (end <= this.#pendingAddress) return;
    this.#directFile ??= openDirectOutput(stagedPath(this.#target.stagingDirectory, this.#shard));
    const file = this.#directFile;
    while (file !== undefined && this.#pendingAddress < end) {
      const byteLength = end - this.#pendingAddress;
      const count = this.#control.during(this.#target.gate, () =>
        writeDirect(file, this.#buffer.memory(), this.#pendingAddress, byteLength, this.#position),
      );
      if (count === 0) break;
      this.#advance(count);
    }
    // Where the file system does not take direct writes, the page cache does for the rest of the shard.
    if (this.#pendingAddress < end) this.#direct = false;
  }

  #advance(byteLength: number): void {
    this.#pendingAddress += byteLength;
    this.#position += byteLength;
  }

  #endRegion(): void {
    this.#writePending(this.fillAddress);
    if (this.#position > this.#regionStart) {
      this.#regions.push({ shard: this.#shard, start: this.#regionStart, end: this.#position });
    }
    this.abandon();
  }
}

function roundDown(address: number): number {
  return address - (address % DIRECT_ALIGNMENT);
}

function roundUp(address: number): number {
  return Math.ceil(address / DIRECT_ALIGNMENT) * DIRECT_ALIGNMENT;
}

/** Tasks take turns: each loads and sorts when it likes and writes when those before it are done. */
class StreamSink implements OutputSink {
  readonly nextCut = { by: 'byte', at: Number.POSITIVE_INFINITY } as const;
  readonly #path: string;
  readonly #turn: number;
  readonly #buffer: SinkBuffer;
  readonly #control: JobControl;
  #file: OpenFile | undefined;
  #byteLength = 0;
  fillAddress: number;

  constructor(path: string, turn: number, buffer: SinkBuffer, control: JobControl) {
    this.#path = path;
    this.#turn = turn;
    this.#buffer = buffer;
    this.#control = control;
    this.fillAddress = buffer.address;
  }

  get roomBytes(): number {
    return this.#buffer.address + this.#buffer.capacityBytes - this.fillAddress;
  }

  filled(byteLength: number): void {
    this.fillAddress += byteLength;
  }

  flush(): boolean {
    const { address, memory } = this.#buffer;
    const byteLength = this.fillAddress - address;
    if (byteLength === 0) return false;
    writeAt(this.#openInTurn(), memory(), address, byteLength, null);
    this.#byteLength += byteLength;
    this.fillAddress = address;
    return true;
  }

  cut(): void {
    throw new RangeError('a stream is not cut into shards');
  }

  close(): readonly WrittenRegion[] {
    this.flush();
    // Opened even when there is nothing to write: the reader of a pipe waits for its writer.
    this.#openInTurn();
    this.abandon();
    this.#control.passTurn();
    return [{ shard: 0, start: 0, end: this.#byteLength }];
  }

  abandon(): void {
    if (this.#file !== undefined && this.#file.fd !== STANDARD_OUTPUT_FD) closeFile(this.#file);
    this.#file = undefined;
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
}
