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
 *
 * A compressed member ends where the records say (member-cutter.ts), and may reach from the part of one task into that of the
 * next. The task with the end of a member compresses it: the records before its own are handed on (../floor/relay.ts). Until they
 * are, its own records of that member wait, too.
 */
import { ifPossible, thenAlwaysAsync } from '../floor/cleanup.js';
import { inPhase, inPhaseAsync } from '../floor/phase-clock.js';
import type { MemberEncoder } from '../formats/codec.js';
import { type EncodedMember, memberOf } from '../formats/encoded-members.js';
import { openEncoder } from '../formats/encoder-table.js';
import { NO_TRANSFERS, type WrittenRegion } from '../job-directory/notes.js';
import { checksumTextOf } from '../piles/pile-totals.js';
import { StagedShard, StreamShard } from './appended-shards.js';
import { ClaimedSink, FilesSink } from './files-sink.js';
import { MemberCutter, type OpenMember } from './member-cutter.js';
import type {
  AppendedTarget,
  LastShard,
  OpenShard,
  OutputHasher,
  OutputSink,
  SinkParts,
  StreamTarget,
} from './output-target.js';
import { type PartCursor, shardCursor, unitCursor } from './part-cursor.js';

const NOTHING = new Uint8Array();

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
  /** The encoder of members. Undefined: the records are not compressed. */
  readonly #encoder: MemberEncoder | undefined;
  readonly #cutter: MemberCutter;
  /** The buffers, with what lies between them. */
  readonly #address: number;
  readonly #capacityBytes: number;
  readonly #pendingMembers: PendingMember[] = [];
  readonly #regions: Region[] = [];
  #region: Region;
  /** The shard that was appended to last. */
  #open: { readonly region: Region; readonly shard: OpenShard } | undefined;
  /** True until the open member ends whose first records are those of other tasks. */
  #continues = false;
  /** That member, until it is compressed, and the spare memory that was taken for it. */
  #first: { readonly member: OpenMember; readonly spareBytes: number } | undefined;
  #hasHandedOn = false;
  /** The bytes that the output has already of the records that come next. */
  #skippedBytes: number;
  fillAddress: number;

  /** @param last undefined: nobody knows yet. */
  constructor(parts: SinkParts<AppendedTarget | StreamTarget>, last: LastShard | undefined) {
    const { addresses, capacityBytes } = parts.buffer;
    const { target, units, start, memberBytes, memberBuffers } = parts;
    this.#parts = parts;
    this.#cursor = cursorOf(parts);
    this.#encoder = target.compression && units === undefined ? openEncoder(target.compression) : undefined;
    this.#skippedBytes = start.skippedBytes ?? 0;
    const shardByte = this.#isCut ? this.#findStart(last) : 0;
    this.#continues = shardByte > 0;
    this.#cutter = new MemberCutter(memberBuffers, memberBytes, shardByte);
    this.#address = addresses[0];
    this.#capacityBytes = (addresses.at(-1) ?? addresses[0]) + capacityBytes - addresses[0];
    this.fillAddress = this.#address;
    this.#region = this.#beginRegion(units === undefined ? start.shard : this.#cursor.shard);
  }

  /** Returns where the records begin in their shard, and tells the next task where its own do. */
  #findStart(last: LastShard | undefined): number {
    const { start, control } = this.#parts;
    const { relay } = control;
    const shardByte = start.shardByte ?? relay.startOf(start.turn);
    if (last !== undefined) relay.tellStart(start.turn + 1, last.isNew ? last.bytes : shardByte + last.bytes);
    return shardByte;
  }

  /** True if the present records go to compressed members of this sink. */
  get #isCut(): boolean {
    return this.#encoder !== undefined && this.#cursor.isOwn;
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
    const leftBytes = this.#address + this.#capacityBytes - this.fillAddress;
    return this.#isCut ? Math.min(leftBytes, this.#cutter.roomBytes) : leftBytes;
  }

  get leftBytes(): number {
    return this.#isCut ? this.#skippedBytes + this.#cutter.leftBytes : Number.POSITIVE_INFINITY;
  }

  advance(byteLength: number, endsRecord = true): void {
    this.fillAddress += byteLength;
    if (this.#isCut) this.#cutter.advance(Math.max(0, byteLength - this.#skippedBytes), endsRecord);
  }

  async beginLong(byteLength: number): Promise<void> {
    if (!this.#isCut || this.#skippedBytes > 0 || byteLength <= this.#parts.memberBytes) return;
    await this.#endCompressed(NOTHING);
    this.#cutter.begin(this.#cutter.shardByte, true);
  }

  async flush(): Promise<boolean> {
    const { units, buffer } = this.#parts;
    const isFull = this.#isCut && this.#cutter.isFull;
    const records = buffer.memory().subarray(this.#address, this.fillAddress);
    if (records.byteLength === 0 && !isFull) return false;
    this.fillAddress = this.#address;
    if (!this.#cursor.isOwn) return true;
    if (this.#encoder !== undefined) {
      const skipped = Math.min(this.#skippedBytes, records.byteLength);
      this.#skippedBytes -= skipped;
      const own = records.subarray(skipped);
      if (isFull) await this.#endCompressed(own);
      else this.#cutter.add(own);
      return true;
    }
    this.#region.recordBytes += records.byteLength;
    if (units !== undefined) units.members.add(records);
    else await this.#appendPlain(records);
    return true;
  }

  /** The buffers are the memory in which plain records wait for their turn. */
  async #appendPlain(records: Uint8Array): Promise<void> {
    const { control, start } = this.#parts;
    if (!this.#region.isFirst) control.waitForTurn(start.turn);
    await this.#append(this.#region, records);
  }

  async #endCompressed(records: Uint8Array): Promise<void> {
    if (!this.#continues) return this.#addMember(this.#region, this.#compress(this.#region, this.#cutter.end(records)));
    const { control, start } = this.#parts;
    this.#continues = false;
    const member = this.#cutter.endFirst(records);
    const { byteLength } = member.bytes;
    const mayWait = !control.relay.has(start.turn) && control.takeSpare(byteLength);
    this.#first = { member, spareBytes: mayWait ? byteLength : 0 };
    if (!mayWait) this.#compressFirst();
  }

  /** Compresses the member that other tasks began, as soon as their records are there. */
  #compressFirst(): void {
    const { control, start } = this.#parts;
    const [region = this.#region] = this.#regions;
    if (this.#first === undefined) return;
    const { member } = this.#first;
    if (!this.#hasHandedOn) member.addBefore(control.relay.openRecords(start.turn));
    const compressed = this.#compress(region, member.bytes);
    this.#freeFirst();
    if (compressed !== undefined) this.#pendingMembers.unshift({ region, member: compressed, spareBytes: 0 });
  }

  #freeFirst(): void {
    this.#first?.member.free();
    this.#parts.control.giveSpare(this.#first?.spareBytes ?? 0);
    this.#first = undefined;
  }

  #compress(region: Region, records: Uint8Array): EncodedMember | undefined {
    const encoder = this.#encoder;
    if (encoder === undefined || records.byteLength === 0) return undefined;
    region.recordBytes += records.byteLength;
    return memberOf(inPhase('compress', () => encoder.encode(records)));
  }

  async #addMember(region: Region, member: EncodedMember | undefined): Promise<void> {
    if (member === undefined) return;
    const { control, start } = this.#parts;
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
    if (this.#isCut) await this.#endCompressed(NOTHING);
    this.#cursor.next();
    if (this.#cursor.shard === this.#region.shard) return;
    this.#endRegion(true);
    this.#cutter.begin(0);
    this.#region = this.#beginRegion(this.#cursor.shard);
  }

  async #endPart(): Promise<void> {
    await this.flush();
    const { units } = this.#parts;
    if (units !== undefined) await this.#addMember(this.#region, units.members.end());
  }

  async close(): Promise<readonly WrittenRegion[]> {
    await this.#endPart();
    if (this.#encoder !== undefined) await this.#handOn();
    this.#endRegion(false);
    if (!this.needsNoTurn) {
      await this.#appendPending();
      this.#noteOpenRecords();
      this.#closeShard();
      this.#parts.control.passTurn();
    }
    return this.#regions.flatMap(({ shard, start, storedBytes, recordBytes, checksum, opened }) => {
      if (start === undefined) return [];
      const proof = opened?.awaitTransfers?.() ?? NO_TRANSFERS;
      return [{ shard, start, end: start + storedBytes, recordBytes, checksum, sum: undefined, ...proof }];
    });
  }

  async #handOn(): Promise<void> {
    const { control, start } = this.#parts;
    const { relay } = control;
    const { turn } = start;
    if (start.isLast === true) await this.#endCompressed(NOTHING);
    const before = relay.openRecords(turn);
    this.#first?.member.addBefore(before);
    relay.tellStart(turn + 1, this.#cutter.shardByte);
    relay.handOn(turn, this.#continues ? before.byteLength : 0, this.#cutter.openBytes);
    this.#hasHandedOn = true;
    this.#compressFirst();
    this.#cutter.free();
  }

  /** A task may have gathered records of a shard and ended no member there: its notes tell the shard nevertheless. */
  #noteOpenRecords(): void {
    const region = this.#region;
    if (!this.#isCut || this.#cutter.shardByte === 0 || region.start !== undefined) return;
    region.start = this.#openShard(region).end - this.#parts.target.headerBytes;
    this.#parts.hasher?.begin();
    this.#noteChecksum(region);
  }

  async rollBack(): Promise<boolean> {
    const { headerBytes } = this.#parts.target;
    this.#dropPending();
    this.#abandonShard();
    // The next task may have taken the open records.
    if (this.#hasHandedOn) return false;
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
    this.#parts.units?.members.close();
    this.#cutter.free();
    this.#abandonShard();
  }

  #dropPending(): void {
    this.#freeFirst();
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
    return region;
  }

  #endRegion(isWhole: boolean): void {
    const region = this.#region;
    region.isWhole = isWhole;
    // What is open has memory that others may need, so nobody waits with it.
    if (this.#open?.region === region) this.#closeShard();
  }

  /** The hasher works on linear memory; the buffers are free now, unless they have the bytes. */
  #hash(hasher: OutputHasher, bytes: Uint8Array): void {
    const memory = this.#parts.buffer.memory();
    const isHere = bytes.buffer === memory.buffer;
    for (let done = 0; done < bytes.byteLength; done += this.#capacityBytes) {
      const piece = bytes.subarray(done, done + this.#capacityBytes);
      if (!isHere) memory.set(piece, this.#address);
      hasher.add(memory, isHere ? piece.byteOffset : this.#address, piece.byteLength);
    }
  }

  #noteChecksum(region: Region): void {
    const { hasher } = this.#parts;
    if (hasher !== undefined) region.checksum = checksumTextOf(hasher.checksum());
  }

  async #appendPending(): Promise<void> {
    const { control, start } = this.#parts;
    this.#compressFirst();
    control.waitForTurn(start.turn);
    for (let next = this.#pendingMembers[0]; next !== undefined; next = this.#pendingMembers[0]) {
      await this.#appendOne(next);
      this.#pendingMembers.shift();
      this.#release(next);
    }
  }

  async #appendOne({ region, member }: PendingMember): Promise<void> {
    for (const bytes of member.pieces()) await this.#append(region, bytes);
    if (member.description !== undefined) this.#open?.shard.describe?.(member.description);
  }

  #release({ member, spareBytes }: PendingMember): void {
    member.release();
    this.#parts.control.giveSpare(spareBytes);
  }

  /** The members of a region are appended one after the other, without those of others between them. */
  async #append(region: Region, bytes: Uint8Array): Promise<void> {
    const { target, control, hasher } = this.#parts;
    if (hasher !== undefined) {
      if (region.start === undefined) hasher.begin();
      this.#hash(hasher, bytes);
      this.#noteChecksum(region);
    }
    const shard = this.#openShard(region);
    const position = shard.end - target.headerBytes;
    await inPhaseAsync('write', () => control.duringAsync(target.gate, () => shard.append(bytes)));
    control.countMoved(target.gate, 'written', bytes.byteLength);
    region.start ??= position;
    region.storedBytes += bytes.byteLength;
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

/** @param last what the records that will come add to their last shard, if that is known. */
export function openSink({ target, ...parts }: SinkParts, last?: LastShard): OutputSink {
  switch (target.kind) {
    case 'placed':
      return new FilesSink({ target, ...parts });
    case 'claimed':
      return new ClaimedSink({ target, ...parts }, last?.bytes);
    default:
      return new AppendedSink({ target, ...parts }, last);
  }
}
