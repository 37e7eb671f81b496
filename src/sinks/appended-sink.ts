/**
 * A sink for records whose place is known only when those before them are written. It gathers records in its buffers,
 * used together as one. Each time they are full, it appends their bytes when it is its turn.
 *
 * It may make members of them (../formats/encoded-members.ts): compressed ones, so that a file is a sequence of members of a few MiB that
 * others can read in parallel, or units, of which each part of a shard is one. A task makes members ahead, and they wait in
 * spare memory for its turn. A task that finds no spare memory left waits for its turn, and from then on appends at once. To a
 * shard that a task begins it appends at once anyway: those before it never write there.
 *
 *     task 0   | compress, append | compress, append |
 *     task 1   | compress | compress | compress | append 3 | compress, append |
 */
import { ifPossible, thenAlwaysAsync } from '../floor/cleanup.js';
import { inPhaseAsync } from '../floor/phase-clock.js';
import { compressedMembers, type EncodedMember, type MemberWriter } from '../formats/encoded-members.js';
import { openEncoder } from '../formats/encoder-table.js';
import { NO_TRANSFERS, type WrittenRegion } from '../job-directory/notes.js';
import { checksumTextOf } from '../piles/pile-totals.js';
import { StagedShard, StreamShard } from './appended-shards.js';
import { ClaimedSink, FilesSink } from './files-sink.js';
import type { AppendedTarget, OpenShard, OutputSink, SinkParts, StreamTarget } from './output-target.js';
import { type PartCursor, shardCursor, unitCursor } from './part-cursor.js';

/** Consecutive appended bytes in one shard. */
interface Region {
  readonly shard: number;
  /** True if it begins its shard, so that it may be appended whenever it is there. */
  readonly isFirst: boolean;
  /** True if the last record of its shard is in it. */
  isWhole: boolean;
  recordBytes: number;
  storedBytes: number;
  checksum: string;
  /** Undefined until its first bytes are appended. */
  start: number | undefined;
  /** Undefined until then. */
  opened: OpenShard | undefined;
}

interface PendingMember {
  readonly region: Region;
  readonly member: EncodedMember;
  /** Spare memory that was taken for it. */
  readonly spareBytes: number;
}

export class AppendedSink implements OutputSink {
  readonly #parts: SinkParts<AppendedTarget | StreamTarget>;
  readonly #cursor: PartCursor;
  /** The writer of members. Undefined: records are appended as they are. */
  readonly #members: MemberWriter | undefined;
  /** The buffers, with what lies between them. */
  readonly #address: number;
  readonly #capacityBytes: number;
  readonly #pendingMembers: PendingMember[] = [];
  readonly #regions: Region[] = [];
  #region: Region;
  /** The shard that was appended to last. */
  #open: { readonly region: Region; readonly shard: OpenShard } | undefined;
  fillAddress: number;

  constructor(parts: SinkParts<AppendedTarget | StreamTarget>) {
    const { addresses, capacityBytes } = parts.buffer;
    const { target, units, start } = parts;
    this.#parts = parts;
    this.#cursor = cursorOf(parts);
    this.#members = units?.members ?? (target.compression && compressedMembers(openEncoder(target.compression)));
    this.#address = addresses[0];
    this.#capacityBytes = (addresses.at(-1) ?? addresses[0]) + capacityBytes - addresses[0];
    this.fillAddress = this.#address;
    this.#region = this.#beginRegion(units === undefined ? start.shard : this.#cursor.shard);
  }

  get ownShard(): number | undefined {
    return this.#cursor.isOwn ? this.#cursor.shard : undefined;
  }

  get nextCut(): { by: 'rank' | 'byte'; at: number } {
    return { by: this.#cursor.by, at: this.#cursor.end };
  }

  get needsNoTurn(): boolean {
    return this.#regions.every(({ isFirst }) => isFirst);
  }

  get roomBytes(): number {
    return this.#address + this.#capacityBytes - this.fillAddress;
  }

  advance(byteLength: number): void {
    this.fillAddress += byteLength;
  }

  async flush(): Promise<boolean> {
    const byteLength = this.fillAddress - this.#address;
    if (byteLength === 0) return false;
    const records = this.#parts.buffer.memory().subarray(this.#address, this.fillAddress);
    if (this.#cursor.isOwn) {
      if (this.#members === undefined) await this.#appendPlain(records);
      else await this.#addToMember(this.#members, records);
    }
    this.fillAddress = this.#address;
    return true;
  }

  async #addToMember(members: MemberWriter, records: Uint8Array): Promise<void> {
    this.#region.recordBytes += records.byteLength;
    members.add(records);
    if (members.endsWithBuffer) await this.#endMember(members);
  }

  /** The buffers are the memory in which plain records wait for their turn. */
  async #appendPlain(records: Uint8Array): Promise<void> {
    const { control, start, hasher, buffer } = this.#parts;
    const region = this.#region;
    region.recordBytes += records.byteLength;
    region.storedBytes += records.byteLength;
    hasher?.add(buffer.memory(), this.#address, records.byteLength);
    if (!region.isFirst) control.waitForTurn(start.turn);
    const position = await inPhaseAsync('write', () => this.#append(region, records));
    region.start ??= position;
  }

  async #endMember(members: MemberWriter): Promise<void> {
    const member = members.end();
    if (member === undefined) return;
    const { control, start } = this.#parts;
    const region = this.#region;
    region.storedBytes += member.byteLength;
    this.#hash(member);
    const waiting = { region, member, spareBytes: 0 };
    if (region.isFirst) {
      await thenAlwaysAsync(
        () => this.#appendOne(waiting),
        () => this.#release(waiting),
      );
      return;
    }
    const { memoryBytes: spareBytes } = member;
    const mayWait = !control.hasTurn(start.turn) && control.takeSpare(spareBytes);
    this.#pendingMembers.push(mayWait ? { ...waiting, spareBytes } : waiting);
    if (!mayWait) await this.#appendPending();
  }

  async awaitWrites(): Promise<void> {}

  async cut(): Promise<void> {
    await this.#endPart();
    this.#cursor.next();
    if (this.#cursor.shard === this.#region.shard) return;
    this.#endRegion(true);
    this.#region = this.#beginRegion(this.#cursor.shard);
  }

  async #endPart(): Promise<void> {
    await this.flush();
    if (this.#members?.endsWithBuffer === false) await this.#endMember(this.#members);
  }

  async close(): Promise<readonly WrittenRegion[]> {
    await this.#endPart();
    this.#endRegion(false);
    if (!this.needsNoTurn) {
      await this.#appendPending();
      this.#closeShard();
      this.#parts.control.passTurn();
    }
    return this.#regions.flatMap(({ shard, start, storedBytes, recordBytes, checksum, opened }) => {
      if (start === undefined) return [];
      const proof = opened?.awaitTransfers?.() ?? NO_TRANSFERS;
      return [{ shard, start, end: start + storedBytes, recordBytes, checksum, sum: undefined, ...proof }];
    });
  }

  async rollBack(): Promise<boolean> {
    const { headerBytes } = this.#parts.target;
    this.#dropPending();
    this.#abandonShard();
    // A part that came late would replace that of the next try.
    for (const { opened } of this.#regions) ifPossible(() => opened?.awaitTransfers?.());
    // The turn was not passed on: nobody has appended anything after these regions.
    const undone = this.#regions.map(({ opened, start }) =>
      opened === undefined ? true : opened.rollBack(start === undefined ? opened.end : headerBytes + start),
    );
    return undone.every(Boolean);
  }

  async abandon(): Promise<void> {
    this.#dropPending();
    this.#members?.close();
    this.#abandonShard();
  }

  #dropPending(): void {
    for (const waiting of this.#pendingMembers.splice(0)) this.#release(waiting);
  }

  #beginRegion(shard: number): Region {
    const region: Region = {
      shard,
      isFirst: this.#cursor.beginsShard,
      isWhole: false,
      recordBytes: 0,
      storedBytes: 0,
      checksum: '',
      start: undefined,
      opened: undefined,
    };
    this.#regions.push(region);
    this.#parts.hasher?.begin();
    return region;
  }

  #endRegion(isWhole: boolean): void {
    const { hasher } = this.#parts;
    const region = this.#region;
    if (hasher !== undefined) region.checksum = checksumTextOf(hasher.checksum());
    region.isWhole = isWhole;
    // What is open has memory that others may need, so nobody waits with it.
    if (this.#open?.region === region) this.#closeShard();
  }

  /** The hasher works on linear memory; the buffers are free now. */
  #hash(member: EncodedMember): void {
    const { hasher, buffer } = this.#parts;
    if (hasher === undefined) return;
    const memory = buffer.memory();
    for (const bytes of member.pieces()) {
      for (let done = 0; done < bytes.byteLength; done += this.#capacityBytes) {
        const piece = bytes.subarray(done, done + this.#capacityBytes);
        memory.set(piece, this.#address);
        hasher.add(memory, this.#address, piece.byteLength);
      }
    }
  }

  async #appendPending(): Promise<void> {
    const { control, start } = this.#parts;
    control.waitForTurn(start.turn);
    for (let next = this.#pendingMembers[0]; next !== undefined; next = this.#pendingMembers[0]) {
      await this.#appendOne(next);
      this.#pendingMembers.shift();
      this.#release(next);
    }
  }

  async #appendOne({ region, member }: PendingMember): Promise<void> {
    for (const bytes of member.pieces()) {
      const position = await inPhaseAsync('write', () => this.#append(region, bytes));
      region.start ??= position;
    }
    if (member.description !== undefined) this.#open?.shard.describe?.(member.description);
  }

  #release({ member, spareBytes }: PendingMember): void {
    member.release();
    this.#parts.control.giveSpare(spareBytes);
  }

  /** @returns where the bytes begin in their shard, counted from the end of the header. */
  async #append(region: Region, bytes: Uint8Array): Promise<number> {
    const { target, control } = this.#parts;
    const shard = this.#openShard(region);
    const position = shard.end - target.headerBytes;
    await control.duringAsync(target.gate, () => shard.append(bytes));
    control.countMoved(target.gate, 'written', bytes.byteLength);
    return position;
  }

  #openShard(region: Region): OpenShard {
    if (this.#open?.region === region) return this.#open.shard;
    this.#closeShard();
    const { target, control, openShard } = this.#parts;
    const open = () =>
      target.kind === 'stream' ? new StreamShard(target, control) : new StagedShard(target, region.shard);
    const shard = openShard?.(region.shard) ?? open();
    this.#open = { region, shard };
    region.opened = shard;
    return shard;
  }

  #abandonShard(): void {
    const open = this.#open;
    this.#open = undefined;
    open?.shard.abandon();
  }

  #closeShard(): void {
    const open = this.#open;
    this.#open = undefined;
    open?.shard.close(open.region.isWhole);
  }
}

function cursorOf({ target, start, units }: SinkParts<AppendedTarget | StreamTarget>): PartCursor {
  return units === undefined ? shardCursor(target.cuts, start.shard, target.own) : unitCursor(units.own, target.own);
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
