/**
 * A sink for records whose place is known only when those before them are written. It gathers records in its buffers,
 * used together as one. Each time they are full, it appends their bytes when it is its turn.
 *
 * It may compress: then the bytes of full buffers become one member, so that a file is a sequence of members of a few
 * MiB that others can read in parallel. A task compresses ahead, and its members wait in spare memory for its turn. A
 * task that finds no spare memory left waits for its turn, and from then on appends at once.
 *
 *     task 0   | compress, append | compress, append |
 *     task 1   | compress | compress | compress | append 3 | compress, append |
 */
import type { MemberEncoder } from '../formats/codec.js';
import { openEncoder } from '../formats/encoder-table.js';
import { closeFile, type OpenFile, openStagedOutput, shortenFile, versionOf, withFile, writeAt } from '../io/files.js';
import { freeBytes } from '../machine/free-bytes.js';
import { inPhase, inPhaseAsync } from '../phase-clock.js';
import { checksumTextOf } from '../piles/pile-totals.js';
import { cutAt } from '../plan/shard-cuts.js';
import { ClaimedSink, FilesSink } from './files-sink.js';
import {
  type AppendedTarget,
  type OutputSink,
  type SinkParts,
  type StreamTarget,
  stagedPath,
  type WrittenRegion,
} from './output-target.js';
import { writeToStream } from './stream-output.js';

/** Consecutive appended bytes in one shard. */
interface Region {
  readonly shard: number;
  recordBytes: number;
  storedBytes: number;
  checksum: string;
  /** Undefined until its first bytes are appended. */
  start: number | undefined;
}

interface WaitingMember {
  readonly region: Region;
  readonly bytes: Uint8Array;
  /** Spare memory that was taken for it. */
  readonly spareBytes: number;
}

export class AppendedSink implements OutputSink {
  readonly #parts: SinkParts<AppendedTarget | StreamTarget>;
  readonly #encoder: MemberEncoder | undefined;
  /** The buffers, with what lies between them. */
  readonly #address: number;
  readonly #capacityBytes: number;
  readonly #waiting: WaitingMember[] = [];
  readonly #regions: Region[] = [];
  #region: Region;
  /** The staged file of the shard that was appended to last. */
  #file: { readonly shard: number; readonly file: OpenFile } | undefined;
  /** Where that file ends. */
  #end = 0;
  fillAddress: number;

  constructor(parts: SinkParts<AppendedTarget | StreamTarget>) {
    const { addresses, capacityBytes } = parts.buffer;
    const { compression } = parts.target;
    this.#parts = parts;
    this.#encoder = compression && openEncoder(compression);
    this.#address = addresses[0];
    this.#capacityBytes = (addresses.at(-1) ?? addresses[0]) + capacityBytes - addresses[0];
    this.fillAddress = this.#address;
    this.#region = this.#beginRegion(parts.start.shard);
  }

  get nextCut(): { by: 'rank' | 'byte'; at: number } {
    const { target } = this.#parts;
    if (target.kind === 'stream') return { by: 'byte', at: Number.POSITIVE_INFINITY };
    return { by: target.cuts.by, at: cutAt(target.cuts, this.#region.shard + 1) };
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
    if (this.#isOwn(this.#region.shard)) {
      if (this.#encoder === undefined) await this.#appendPlain(records);
      else await this.#appendMember(this.#encoder, records);
    }
    this.fillAddress = this.#address;
    return true;
  }

  #isOwn(shard: number): boolean {
    const { target } = this.#parts;
    if (target.kind === 'stream' || target.own === undefined) return true;
    return shard >= target.own.first && shard < target.own.end;
  }

  /** The buffers are the memory in which plain records wait for their turn. */
  async #appendPlain(records: Uint8Array): Promise<void> {
    const { control, start, hasher, buffer } = this.#parts;
    const region = this.#region;
    region.recordBytes += records.byteLength;
    region.storedBytes += records.byteLength;
    hasher?.add(buffer.memory(), this.#address, records.byteLength);
    control.waitForTurn(start.turn);
    const position = await inPhaseAsync('write', () => this.#append(region.shard, records));
    region.start ??= position;
  }

  async #appendMember(encoder: MemberEncoder, records: Uint8Array): Promise<void> {
    const bytes = inPhase('encode', () => encoder.encode(records));
    const region = this.#region;
    region.recordBytes += records.byteLength;
    region.storedBytes += bytes.byteLength;
    this.#hash(bytes);
    const { control, start } = this.#parts;
    const mayWait = !control.hasTurn(start.turn) && control.takeSpare(bytes.byteLength);
    this.#waiting.push({ region, bytes, spareBytes: mayWait ? bytes.byteLength : 0 });
    if (!mayWait) await this.#appendWaiting();
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

  async takeBack(): Promise<boolean> {
    const { target, control } = this.#parts;
    for (const { spareBytes } of this.#waiting.splice(0)) control.giveSpare(spareBytes);
    if (target.kind === 'stream') return this.#regions.every(({ start }) => start === undefined);
    // The turn was not passed on: nobody has appended anything after these regions.
    for (const { shard, start } of this.#regions) {
      if (start === undefined) continue;
      const byteLength = target.headerBytes + start;
      withFile(openStagedOutput(stagedPath(target.stagingDirectory, shard)), (file) => shortenFile(file, byteLength));
    }
    return true;
  }

  async abandon(): Promise<void> {
    this.#closeFile();
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

  /** The hasher works on linear memory; the buffers are free now. */
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
    const { control, start } = this.#parts;
    control.waitForTurn(start.turn);
    for (const { region, bytes, spareBytes } of this.#waiting.splice(0)) {
      const position = await inPhaseAsync('write', () => this.#append(region.shard, bytes));
      region.start ??= position;
      freeBytes(bytes);
      control.giveSpare(spareBytes);
    }
  }

  /** @returns where the bytes begin in their shard, counted from the end of the header. */
  async #append(shard: number, bytes: Uint8Array): Promise<number> {
    const { target, control } = this.#parts;
    if (target.kind === 'stream') {
      const position = control.counted('claimedBytes');
      await writeToStream({ fd: target.fd, path: target.path, role: 'output' }, bytes, control);
      control.count('claimedBytes', bytes.byteLength);
      return position;
    }
    const file = this.#openFile(shard, target);
    await control.duringAsync(target.gate, () => writeAt(file, bytes, 0, bytes.byteLength, this.#end));
    control.countMoved(target.gate, 'written', bytes.byteLength);
    const position = this.#end - target.headerBytes;
    this.#end += bytes.byteLength;
    return position;
  }

  #openFile(shard: number, { stagingDirectory, headerBytes }: AppendedTarget): OpenFile {
    if (this.#file?.shard === shard) return this.#file.file;
    this.#closeFile();
    const file = openStagedOutput(stagedPath(stagingDirectory, shard));
    this.#file = { shard, file };
    // A new file leaves room for its header.
    this.#end = Math.max(headerBytes, versionOf(file).byteLength);
    return file;
  }

  #closeFile(): void {
    const open = this.#file;
    this.#file = undefined;
    if (open !== undefined) closeFile(open.file);
  }
}

/** @param byteLength of all records that will come, if that is known. */
export function openSink({ target, ...parts }: SinkParts, byteLength?: number): OutputSink {
  switch (target.kind) {
    case 'placed':
      return new FilesSink({ target, ...parts });
    case 'claimed':
      return new ClaimedSink({ target, ...parts }, byteLength);
    default:
      return new AppendedSink({ target, ...parts });
  }
}
