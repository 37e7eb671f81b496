/**
 * Where one task of pass 2 puts its part of the global order, from one place on without a gap.
 *
 * Records are gathered into the sink's buffer in linear memory. Large files are written around the
 * page cache where that is possible: the output is not read again, and it has to reach the device
 * before the job ends anyway. Such writes must be aligned in memory and in the file, so the buffer is
 * filled in step with the file, and what is not aligned, at the ends of a region, goes through the
 * page cache. There are two buffers: while the device takes one, the other is filled.
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
  /** Begins to write what can be written. @returns whether there is more room than before. */
  flush(): Promise<boolean>;
  /** Waits for what was begun. */
  settle(): Promise<void>;
  /** Ends the shard; what comes next begins the next one. */
  cut(): Promise<void>;
  /** Writes the rest. @returns what was written, all in all. */
  close(): Promise<readonly WrittenRegion[]>;
  /** Lets go of files, also when the task failed. */
  abandon(): Promise<void>;
}

/** Linear memory that the sink may use: two buffers, with slack behind each. */
export interface SinkBuffer {
  /** Multiples of the alignment of direct writes. */
  readonly addresses: readonly [number, number];
  /** Of each. */
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
  /** The same file, opened for direct writes. */
  #directFile: OpenFile | undefined;
  /** Whether this shard is written directly. */
  #direct = false;
  /** The direct write that is under way, from the buffer that is not being filled. */
  #underWay: Promise<void> = Promise.resolve();
  #regionStart = 0;
  /** Byte of the shard that lies at #pendingAddress. */
  #position = 0;
  /** Which of the two buffers is being filled. */
  #half: 0 | 1 = 0;
  /** Filled and not yet written: [#pendingAddress, fillAddress). */
  #pendingAddress = 0;
  fillAddress = 0;

  constructor(target: OutputTarget & { kind: 'files' }, start: SinkStart, buffer: SinkBuffer, control: JobControl) {
    this.#target = target;
    this.#buffer = buffer;
    this.#control = control;
    this.#shard = start.shard;
    this.#beginRegion(start.shardByte);
  }

  get nextCut(): { by: 'rank' | 'byte'; at: number } {
    return { by: this.#target.cuts.by, at: cutAt(this.#target.cuts, this.#shard + 1) };
  }

  get roomBytes(): number {
    return this.#buffer.addresses[this.#half] + this.#buffer.capacityBytes - this.fillAddress;
  }

  filled(byteLength: number): void {
    this.fillAddress += byteLength;
  }

  async flush(): Promise<boolean> {
    const room = this.roomBytes;
    if (this.#direct) await this.#flushBlocks();
    if (!this.#direct) {
      await this.#writeBuffered(this.fillAddress);
      this.#pendingAddress = this.#buffer.addresses[this.#half];
      this.fillAddress = this.#pendingAddress;
    }
    return this.roomBytes > room;
  }

  async settle(): Promise<void> {
    await this.#underWay;
  }

  async cut(): Promise<void> {
    await this.#endRegion();
    this.#shard += 1;
    this.#beginRegion(0);
  }

  async close(): Promise<readonly WrittenRegion[]> {
    await this.#endRegion();
    return this.#regions;
  }

  async abandon(): Promise<void> {
    // Its failure was or will be reported where it is awaited; here it must only be over.
    await this.#underWay.catch(() => {});
    const files = [this.#file, this.#directFile];
    this.#file = undefined;
    this.#directFile = undefined;
    for (const file of files) if (file !== undefined) closeFile(file);
  }

  get #stagedPath(): string {
    return stagedPath(this.#target.stagingDirectory, this.#shard);
  }

  #beginRegion(position: number): void {
    this.#direct = this.#target.direct && this.#buffer.capacityBytes >= 4 * DIRECT_ALIGNMENT;
    this.#regionStart = position;
    this.#position = position;
    this.#pendingAddress = this.#buffer.addresses[this.#half] + (this.#direct ? position % DIRECT_ALIGNMENT : 0);
    this.fillAddress = this.#pendingAddress;
  }

  async #endRegion(): Promise<void> {
    await this.flush();
    await this.settle();
    await this.#writeBuffered(this.fillAddress);
    if (this.#position > this.#regionStart) {
      this.#regions.push({ shard: this.#shard, start: this.#regionStart, end: this.#position });
    }
    await this.abandon();
  }

  /** Begins to write all whole blocks, and goes on in the other buffer with what is left. */
  async #flushBlocks(): Promise<void> {
    const end = roundDown(this.fillAddress);
    await this.#writeBuffered(Math.min(end, roundUp(this.#pendingAddress)));
    if (end <= this.#pendingAddress) return;
    await this.settle();
    this.#directFile ??= openDirectOutput(this.#stagedPath);
    if (this.#directFile === undefined) {
      this.#direct = false;
      return;
    }
    const byteLength = end - this.#pendingAddress;
    this.#underWay = this.#writeDirect(this.#directFile, this.#pendingAddress, byteLength, this.#position);
    // Seen where it is awaited; until then it must not count as unhandled.
    this.#underWay.catch(() => {});
    this.#position += byteLength;
    this.#half = this.#half === 0 ? 1 : 0;
    this.#pendingAddress = this.#buffer.addresses[this.#half];
    this.#buffer.memory().copyWithin(this.#pendingAddress, end, this.fillAddress);
    this.fillAddress = this.#pendingAddress + (this.fillAddress - end);
  }

  async #writeDirect(file: OpenFile, address: number, byteLength: number, position: number): Promise<void> {
    await this.#control.duringAsync(this.#target.gate, async () => {
      for (let done = 0; done < byteLength; ) {
        const memory = this.#buffer.memory();
        const count = await writeDirect(file, memory, address + done, byteLength - done, position + done);
        if (count === 0) {
          // The file system does not take direct writes after all; the page cache does.
          this.#direct = false;
          writeAt(this.#openBuffered(), memory, address + done, byteLength - done, position + done);
          return;
        }
        done += count;
      }
    });
  }

  /** Writes [#pendingAddress, end) through the page cache. */
  async #writeBuffered(end: number): Promise<void> {
    const byteLength = end - this.#pendingAddress;
    if (byteLength <= 0) return;
    const file = this.#openBuffered();
    await this.#control.duringAsync(this.#target.gate, () =>
      writeAt(file, this.#buffer.memory(), this.#pendingAddress, byteLength, this.#position),
    );
    this.#pendingAddress = end;
    this.#position += byteLength;
  }

  #openBuffered(): OpenFile {
    this.#file ??= openStagedOutput(this.#stagedPath);
    return this.#file;
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
    this.fillAddress = buffer.addresses[0];
  }

  get roomBytes(): number {
    return this.#buffer.addresses[0] + this.#buffer.capacityBytes - this.fillAddress;
  }

  filled(byteLength: number): void {
    this.fillAddress += byteLength;
  }

  async flush(): Promise<boolean> {
    const { addresses, memory } = this.#buffer;
    const [address] = addresses;
    const byteLength = this.fillAddress - address;
    if (byteLength === 0) return false;
    writeAt(this.#openInTurn(), memory(), address, byteLength, null);
    this.#byteLength += byteLength;
    this.fillAddress = address;
    return true;
  }

  async settle(): Promise<void> {}

  async cut(): Promise<void> {
    throw new RangeError('a stream is not cut into shards');
  }

  async close(): Promise<readonly WrittenRegion[]> {
    await this.flush();
    // Opened even when there is nothing to write: the reader of a pipe waits for its writer.
    this.#openInTurn();
    await this.abandon();
    this.#control.passTurn();
    return [{ shard: 0, start: 0, end: this.#byteLength }];
  }

  async abandon(): Promise<void> {
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
