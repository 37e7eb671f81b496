/**
 * A sink into staged files in which each record has a known place.
 *
 * Large files are written around the page cache where possible: the output is not read again, and must reach the device
 * before the job ends anyway. Such writes must be aligned in memory and in the file, so the buffer is filled in step with
 * the file, and the unaligned ends of a region go through the page cache. The buffers take turns: while the device takes
 * one, another is filled, and the device is still busy while the next pile is loaded.
 *
 *     file      | header ... 4096 | 4096 | 4096 | ...     region begins at byte p of the file
 *     buffer    |  p % 4096 ^ first record
 */
import { VerificationError } from '../errors.js';
import type { JobControl } from '../floor/job-control.js';
import { inPhase, inPhaseAsync } from '../floor/phase-clock.js';
import {
  closeAll,
  DIRECT_ALIGNMENT,
  type OpenFile,
  openDirectOutput,
  openStagedOutput,
  writeAt,
  writeDirect,
} from '../io/files.js';
import { NO_TRANSFERS, type WrittenRegion } from '../job-directory/notes.js';
import { checksumTextOf } from '../piles/pile-totals.js';
import { cutAt } from '../plan/shard-cuts.js';
import {
  type OutputHasher,
  type OutputSink,
  type PlacedTarget,
  type SinkBuffer,
  type SinkEnd,
  type SinkParts,
  stagedPath,
} from './output-target.js';

/** The bytes that are copied to the page cache at once, while they are in the core's cache. */
const BUFFERED_BYTES = 2 ** 20;

export class FilesSink implements OutputSink {
  readonly #target: PlacedTarget;
  readonly #end: SinkEnd | undefined;
  readonly #buffer: SinkBuffer;
  readonly #control: JobControl;
  readonly #hasher: OutputHasher | undefined;
  readonly #regions: WrittenRegion[] = [];
  #shard: number;
  #file: OpenFile | undefined;
  /** The same file, opened for direct writes. */
  #directFile: OpenFile | undefined;
  #direct = false;
  /** The last direct write from each buffer; it may not have ended. */
  readonly #writes: Promise<void>[];
  #regionStart = 0;
  /** Byte of the file that is at #pendingAddress. */
  #position = 0;
  /** The buffer that is being filled: its address, and which one it is. */
  #address: number;
  #turn = 0;
  /** Filled and not yet written: [#pendingAddress, fillAddress). */
  #pendingAddress = 0;
  fillAddress = 0;

  constructor({ target, start, end, buffer, control, hasher }: SinkParts<PlacedTarget>) {
    this.#target = target;
    this.#end = end;
    this.#buffer = buffer;
    this.#control = control;
    this.#hasher = hasher;
    this.#writes = buffer.addresses.map(() => Promise.resolve());
    this.#address = buffer.addresses[0];
    this.#shard = start.shard;
    this.#beginRegion(start.shardByte ?? 0);
  }

  get ownShard(): number {
    return this.#shard;
  }

  get nextCut(): { by: 'rank' | 'byte'; at: number } {
    return { by: this.#target.cuts.by, at: cutAt(this.#target.cuts, this.#shard + 1) };
  }

  get roomBytes(): number {
    const { capacityBytes } = this.#buffer;
    const capacity = this.#direct ? capacityBytes : Math.min(capacityBytes, BUFFERED_BYTES);
    return Math.max(0, this.#address + capacity - this.fillAddress);
  }

  advance(byteLength: number): void {
    this.#hasher?.add(this.#buffer.memory(), this.fillAddress, byteLength);
    this.fillAddress += byteLength;
    this.#requireInside();
  }

  async flush(): Promise<boolean> {
    const room = this.roomBytes;
    if (this.#direct) await this.#flushBlocks();
    if (!this.#direct) {
      await this.#writeBuffered(this.fillAddress);
      this.#pendingAddress = this.#address;
      this.fillAddress = this.#pendingAddress;
    }
    return this.roomBytes > room;
  }

  async awaitWrites(): Promise<void> {
    await inPhaseAsync('write', () => Promise.all(this.#writes));
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

  /** The same places are written again. */
  async rollBack(): Promise<boolean> {
    return true;
  }

  async abandon(): Promise<void> {
    // A failure is reported where the write is awaited; here the writes must only have ended.
    await Promise.allSettled(this.#writes);
    const files = [this.#file, this.#directFile].filter((file) => file !== undefined);
    this.#file = undefined;
    this.#directFile = undefined;
    closeAll(files);
  }

  get #stagedPath(): string {
    return stagedPath(this.#target.stagingDirectory, this.#shard);
  }

  /** Wrong records must not overwrite those of another task, which may be verified already. */
  #requireInside(): void {
    if (this.#end === undefined || this.#shard < this.#end.shard) return;
    const { shard, shardByte = Number.POSITIVE_INFINITY } = this.#end;
    const reached = this.#position + (this.fillAddress - this.#pendingAddress) - this.#target.headerBytes;
    if (this.#shard === shard && reached <= shardByte) return;
    throw new VerificationError(
      `records reach byte ${reached} of shard ${this.#shard}, where others belong from byte ${shardByte} of shard ${shard} on; check the memory of this machine`,
    );
  }

  #beginRegion(shardByte: number): void {
    const position = this.#target.headerBytes + shardByte;
    this.#direct = this.#target.direct && this.#buffer.capacityBytes >= 4 * DIRECT_ALIGNMENT;
    this.#hasher?.begin();
    this.#regionStart = shardByte;
    this.#position = position;
    this.#pendingAddress = this.#address + (this.#direct ? position % DIRECT_ALIGNMENT : 0);
    this.fillAddress = this.#pendingAddress;
  }

  async #endRegion(): Promise<void> {
    await this.flush();
    await this.awaitWrites();
    await this.#writeBuffered(this.fillAddress);
    const end = this.#position - this.#target.headerBytes;
    if (end > this.#regionStart) {
      const checksum = this.#hasher === undefined ? '' : checksumTextOf(this.#hasher.checksum());
      const start = this.#regionStart;
      this.#regions.push({
        shard: this.#shard,
        start,
        end,
        recordBytes: end - start,
        checksum,
        sum: undefined,
        ...NO_TRANSFERS,
      });
    }
    await this.abandon();
  }

  /** Begins to write all whole blocks, and moves the rest to the next buffer. */
  async #flushBlocks(): Promise<void> {
    const end = roundDown(this.fillAddress);
    await this.#writeBuffered(Math.min(end, roundUp(this.#pendingAddress)));
    if (end <= this.#pendingAddress) return;
    this.#directFile ??= openDirectOutput(this.#stagedPath);
    if (this.#directFile === undefined) {
      this.#direct = false;
      return;
    }
    const byteLength = end - this.#pendingAddress;
    const write = this.#writeDirect(this.#directFile, this.#pendingAddress, byteLength, this.#position);
    // A failure shows where the write is awaited; until then it must not count as unhandled.
    write.catch(() => {});
    this.#writes[this.#turn] = write;
    this.#position += byteLength;
    await this.#takeNextBuffer();
    this.#buffer.memory().copyWithin(this.#pendingAddress, end, this.fillAddress);
    this.fillAddress = this.#pendingAddress + (this.fillAddress - end);
  }

  async #takeNextBuffer(): Promise<void> {
    const { addresses } = this.#buffer;
    this.#turn = (this.#turn + 1) % addresses.length;
    await inPhaseAsync('write', () => this.#writes[this.#turn]);
    this.#address = addresses[this.#turn] ?? addresses[0];
    this.#pendingAddress = this.#address;
  }

  async #writeDirect(file: OpenFile, address: number, byteLength: number, position: number): Promise<void> {
    await this.#control.duringAlongside(this.#target.gate, async () => {
      for (let done = 0; done < byteLength; ) {
        const memory = this.#buffer.memory();
        const count = await writeDirect(file, memory, address + done, byteLength - done, position + done);
        if (count === 0) {
          // The file system does not take direct writes after all; the page cache does.
          this.#direct = false;
          writeAt(this.#openBuffered(), memory, address + done, byteLength - done, position + done);
          break;
        }
        done += count;
      }
    });
    this.#control.countMoved(this.#target.gate, 'written', byteLength);
  }

  /** Writes [#pendingAddress, end) through the page cache. */
  async #writeBuffered(end: number): Promise<void> {
    const byteLength = end - this.#pendingAddress;
    if (byteLength <= 0) return;
    const file = this.#openBuffered();
    const write = () => writeAt(file, this.#buffer.memory(), this.#pendingAddress, byteLength, this.#position);
    await this.#control.duringAsync(this.#target.gate, () => inPhase('write', write));
    this.#control.countMoved(this.#target.gate, 'written', byteLength);
    this.#pendingAddress = end;
    this.#position += byteLength;
  }

  #openBuffered(): OpenFile {
    this.#file ??= openStagedOutput(this.#stagedPath);
    return this.#file;
  }
}

/**
 * A sink into one file for records whose place follows from those before it. It is opened when the records are in order, and
 * claims their place when it is its turn. A task that knows how many bytes will come passes the turn on before it
 * writes, so that tasks write at the same time; another task holds its turn until all is written.
 */
export class ClaimedSink extends FilesSink {
  readonly #control: JobControl;
  #hasPassedTurn = false;

  /** @param byteLength of all that will come; undefined: unknown. */
  constructor(parts: SinkParts<PlacedTarget>, byteLength: number | undefined) {
    const { start, control } = parts;
    control.waitForTurn(start.turn);
    const shardByte = control.counted('claimedBytes');
    const end = byteLength === undefined ? undefined : { shard: start.shard, shardByte: shardByte + byteLength };
    super({ ...parts, start: { ...start, shardByte }, end });
    this.#control = control;
    if (byteLength !== undefined) this.#pass(byteLength);
  }

  override async close(): Promise<readonly WrittenRegion[]> {
    const regions = await super.close();
    if (!this.#hasPassedTurn) this.#pass(regions.reduce((sum, { start, end }) => sum + end - start, 0));
    return regions;
  }

  /** The next task may be writing after the claimed bytes. */
  override async rollBack(): Promise<boolean> {
    return !this.#hasPassedTurn;
  }

  #pass(byteLength: number): void {
    this.#control.count('claimedBytes', byteLength);
    this.#hasPassedTurn = true;
    this.#control.passTurn();
  }
}

function roundDown(address: number): number {
  return address - (address % DIRECT_ALIGNMENT);
}

function roundUp(address: number): number {
  return Math.ceil(address / DIRECT_ALIGNMENT) * DIRECT_ALIGNMENT;
}
