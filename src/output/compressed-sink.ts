/**
 * A sink that compresses. Records are gathered in the sink's buffers, all of them together as one, and what they
 * hold becomes one member whenever they are full, so that a file is a sequence of members of a few MiB that others
 * can read in parallel. Nobody knows where a member will lie before those before it are written: tasks compress
 * ahead, hold what they have in spare memory, and append it when it is their turn. A task that finds no more spare
 * memory waits for its turn, and from then on appends at once.
 *
 *     task 0   | compress, append | compress, append |
 *     task 1   | compress | compress | compress | append 3 | compress, append |
 */

import type { MemberEncoder } from '../formats/codec.js';
import { type Compression, openEncoder } from '../formats/encoder-table.js';
import { freeBytes } from '../formats/free-bytes.js';
import type { JobControl } from '../job-control.js';
import { inPhase, inPhaseAsync } from '../phase-clock.js';
import { cutAt, type ShardCuts } from '../plan/shard-cuts.js';
import type { MemberAppender } from './member-appender.js';
import type { OutputHasher, OutputSink, SinkBuffer, SinkStart } from './output-sink.js';
import { checksumTextOf, type WrittenRegion } from './output-target.js';

interface CompressedSinkParts {
  readonly compression: Compression;
  readonly start: SinkStart;
  /** Undefined: one output that is not cut. */
  readonly cuts: ShardCuts | undefined;
  readonly buffer: SinkBuffer;
  readonly appender: MemberAppender;
  readonly control: JobControl;
  readonly hasher: OutputHasher | undefined;
}

/** Members one behind the other in one shard. */
interface Region {
  readonly shard: number;
  recordBytes: number;
  storedBytes: number;
  checksum: string;
  /** Where it lies; undefined until its first member is appended. */
  start: number | undefined;
}

/** A member that is not appended yet. */
interface WaitingMember {
  readonly region: Region;
  readonly bytes: Uint8Array;
  /** Spare memory that was taken for it. */
  readonly spareBytes: number;
}

export class CompressedSink implements OutputSink {
  readonly #parts: CompressedSinkParts;
  readonly #encoder: MemberEncoder;
  /** The buffers, with what lies between them. */
  readonly #address: number;
  readonly #capacityBytes: number;
  readonly #waiting: WaitingMember[] = [];
  readonly #regions: Region[] = [];
  #region: Region;
  fillAddress: number;

  constructor(parts: CompressedSinkParts) {
    const { addresses, capacityBytes } = parts.buffer;
    this.#parts = parts;
    this.#encoder = openEncoder(parts.compression);
    this.#address = addresses[0];
    this.#capacityBytes = (addresses.at(-1) ?? addresses[0]) + capacityBytes - addresses[0];
    this.fillAddress = this.#address;
    this.#region = this.#beginRegion(parts.start.shard);
  }

  get nextCut(): { by: 'rank' | 'byte'; at: number } {
    const { cuts } = this.#parts;
    if (cuts === undefined) return { by: 'byte', at: Number.POSITIVE_INFINITY };
    return { by: cuts.by, at: cutAt(cuts, this.#region.shard + 1) };
  }

  get roomBytes(): number {
    return this.#address + this.#capacityBytes - this.fillAddress;
  }

  filled(byteLength: number): void {
    this.fillAddress += byteLength;
  }

  async flush(): Promise<boolean> {
    const byteLength = this.fillAddress - this.#address;
    if (byteLength === 0) return false;
    const records = this.#parts.buffer.memory().subarray(this.#address, this.fillAddress);
    const bytes = inPhase('encode', () => this.#encoder.encode(records));
    this.fillAddress = this.#address;
    const region = this.#region;
    region.recordBytes += byteLength;
    region.storedBytes += bytes.byteLength;
    this.#hash(bytes);
    const { control, start } = this.#parts;
    const mayWait = !control.hasTurn(start.turn) && control.takeSpare(bytes.byteLength);
    this.#waiting.push({ region, bytes, spareBytes: mayWait ? bytes.byteLength : 0 });
    if (!mayWait) await this.#appendWaiting();
    return true;
  }

  async settle(): Promise<void> {}

  async cut(): Promise<void> {
    await this.flush();
    this.#endRegion();
    this.#region = this.#beginRegion(this.#region.shard + 1);
  }

  async close(): Promise<readonly WrittenRegion[]> {
    await this.flush();
    this.#endRegion();
    await this.#appendWaiting();
    this.#parts.control.passTurn();
    return this.#regions.flatMap(({ shard, start, storedBytes, recordBytes, checksum }) =>
      start === undefined ? [] : [{ shard, start, end: start + storedBytes, recordBytes, checksum }],
    );
  }

  async abandon(): Promise<void> {
    this.#parts.appender.close();
  }

  #beginRegion(shard: number): Region {
    const region: Region = { shard, recordBytes: 0, storedBytes: 0, checksum: '', start: undefined };
    this.#regions.push(region);
    this.#parts.hasher?.begin();
    return region;
  }

  #endRegion(): void {
    const { hasher } = this.#parts;
    if (hasher !== undefined) this.#region.checksum = checksumTextOf(hasher.checksum());
  }

  /** The hasher works on linear memory: the buffers are free by now. */
  #hash(bytes: Uint8Array): void {
    const { hasher, buffer } = this.#parts;
    if (hasher === undefined) return;
    const memory = buffer.memory();
    for (let done = 0; done < bytes.byteLength; done += this.#capacityBytes) {
      const piece = bytes.subarray(done, done + this.#capacityBytes);
      memory.set(piece, this.#address);
      hasher.add(memory, this.#address, piece.byteLength);
    }
  }

  async #appendWaiting(): Promise<void> {
    const { appender, control, start } = this.#parts;
    control.waitForTurn(start.turn);
    for (const { region, bytes, spareBytes } of this.#waiting.splice(0)) {
      const position = await inPhaseAsync('write', () => appender.append(region.shard, bytes));
      region.start ??= position;
      freeBytes(bytes);
      control.giveSpare(spareBytes);
    }
  }
}
