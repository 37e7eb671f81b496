/**
 * Cuts the records of a compressed output into members, by a rule that knows nothing of piles and buffers: so the bytes are the
 * same whatever memory and threads make them. In each shard, with M = `MEMBER_BYTES`:
 *
 *     records  | ......|......|....|.........|..|......         | a longer one than M      |......
 *     bytes    0               M                2M                                         k M
 *     members  [                    )[             )[           )[ M       )[ M    )[ rest )[
 *
 * A member ends with the record that reaches the next multiple of M. A record of more than M bytes has members of its own. So a
 * member has less than 2 M bytes, and where the next one ends follows from the byte that is reached, wherever it began.
 */
import { VerificationError } from '../errors.js';

const NOTHING = new Uint8Array();

/** Buffers that a thread uses again: the first touch of a page costs more than the copy to it. */
export class MemberBuffers {
  readonly #idle: Uint8Array[] = [];

  take(byteLength: number): Uint8Array {
    return this.#idle.pop() ?? Buffer.allocUnsafeSlow(byteLength);
  }

  give(buffer: Uint8Array): void {
    this.#idle.push(buffer);
  }
}

/** The records of a member that is not compressed yet. */
export class OpenMember {
  readonly #buffers: MemberBuffers;
  readonly #memberBytes: number;
  #buffer: Uint8Array | undefined;
  #begin: number;
  #end: number;

  /** @param roomBefore for records that others have gathered. */
  constructor(buffers: MemberBuffers, memberBytes: number, roomBefore = 0) {
    this.#buffers = buffers;
    this.#memberBytes = memberBytes;
    this.#begin = roomBefore;
    this.#end = roomBefore;
  }

  get bytes(): Uint8Array {
    return this.#buffer?.subarray(this.#begin, this.#end) ?? NOTHING;
  }

  add(records: Uint8Array): void {
    this.#room().set(records, this.#end);
    this.#end += records.byteLength;
  }

  addBefore(records: Uint8Array): void {
    if (records.byteLength > this.#begin)
      throw new VerificationError(
        `${records.byteLength} bytes of records come before those of a task, expected at most ${this.#begin}; check the memory of this machine`,
      );
    this.#begin -= records.byteLength;
    this.#room().set(records, this.#begin);
  }

  clear(): void {
    this.#begin = 0;
    this.#end = 0;
  }

  free(): void {
    if (this.#buffer !== undefined) this.#buffers.give(this.#buffer);
    this.#buffer = undefined;
    this.clear();
  }

  #room(): Uint8Array {
    this.#buffer ??= this.#buffers.take(2 * this.#memberBytes);
    return this.#buffer;
  }
}

export class MemberCutter {
  readonly #buffers: MemberBuffers;
  readonly #memberBytes: number;
  #open: OpenMember;
  /** The byte of the shard after the last record. */
  #shardByte: number;
  /** The byte of the shard that ends the open member, or the record that reaches it does. */
  #fullAt = 0;
  #mayEnd = false;
  /** True in a record that has members of its own. */
  #isLong = false;

  /** @param shardByte where the first of the records lies. Those of the open member before it may be others'. */
  constructor(buffers: MemberBuffers, memberBytes: number, shardByte: number) {
    this.#buffers = buffers;
    this.#memberBytes = memberBytes;
    this.#shardByte = shardByte;
    this.#open = new OpenMember(buffers, memberBytes, shardByte % memberBytes);
    this.#findEnd();
  }

  get shardByte(): number {
    return this.#shardByte;
  }

  /** Records that begin before so many bytes belong to the open member. */
  get leftBytes(): number {
    return this.#fullAt - this.#shardByte;
  }

  /** The most bytes that may come at once. */
  get roomBytes(): number {
    return this.#isLong ? this.leftBytes : this.#memberBytes;
  }

  get isFull(): boolean {
    return this.#mayEnd && this.leftBytes <= 0;
  }

  get openBytes(): Uint8Array {
    return this.#open.bytes;
  }

  advance(byteLength: number, endsRecord: boolean): void {
    this.#shardByte += byteLength;
    this.#mayEnd = endsRecord || this.#isLong;
    if (!endsRecord || !this.#isLong) return;
    this.#isLong = false;
    this.#fullAt = this.#shardByte;
  }

  /** Begins a shard, or in it a record that is longer than a member. No member may be open. */
  begin(shardByte: number, isLong = false): void {
    this.#shardByte = shardByte;
    this.#isLong = isLong;
    this.#findEnd();
  }

  add(records: Uint8Array): void {
    this.#open.add(records);
  }

  /** Ends the open member with `records`. @returns all of its records, which are good until the next call. */
  end(records: Uint8Array): Uint8Array {
    this.#findEnd();
    const isHere = this.#open.bytes.byteLength === 0;
    if (!isHere) this.#open.add(records);
    const { bytes } = this.#open;
    this.#open.clear();
    return isHere ? records : bytes;
  }

  /** Ends the open member, whose first records are others'. @returns it, for the caller to free. */
  endFirst(records: Uint8Array): OpenMember {
    this.#findEnd();
    const first = this.#open;
    first.add(records);
    this.#open = new OpenMember(this.#buffers, this.#memberBytes);
    return first;
  }

  free(): void {
    this.#open.free();
  }

  #findEnd(): void {
    const before = this.#isLong ? this.#shardByte : Math.floor(this.#shardByte / this.#memberBytes) * this.#memberBytes;
    this.#fullAt = before + this.#memberBytes;
  }
}
