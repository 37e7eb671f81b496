/**
 * Checks what another decoder made of a gzip file: every member must have decoded to the length and the CRC-32 that its
 * trailer declares, and the members must fill the file. The check needs nothing from that decoder but the decoded bytes.
 *
 * Only decoding shows where a member ends. So the check looks for the beginnings of headers in the stored bytes. Each may
 * be the end of the current member, and the 8 bytes before it would be the trailer. It is the end if, after as many
 * decoded bytes as the trailer says, they have its CRC-32: other bytes pass with a probability of 2^-64.
 *
 * It refuses what is valid but rare, too: zeros behind the last member, headers with a checksum, and empty members that
 * have a name. `node:zlib` decides about every file that is refused here.
 */
import { crc32 } from 'node:zlib';

const TRAILER_BYTES = 8;
const MAGIC = Buffer.from([0x1f, 0x8b, 8]);
/** The trailer of one member and the beginning of the next one, up to its flags. */
const SEAM_BYTES = TRAILER_BYTES + MAGIC.byteLength + 1;
const FEXTRA = 4;
/** A checksum of the header, and the flags that no version of gzip has defined. */
const REFUSED_FLAGS = 0xe2;
/** The length is declared modulo this. */
const LENGTH_MODULUS = 2 ** 32;
const EMPTY_MEMBER_BYTES = 20;
const EMPTY_BGZF_MEMBER_BYTES = 28;
/**
 * Of the places where a member may end, the first few are considered, and one more for each of so many stored bytes: a
 * false one is found once in 128 MiB of compressed bytes.
 */
const FIRST_PLACES = 3;
const STORED_BYTES_PER_PLACE = 2 ** 21;

/** The place of a header, and what the 8 bytes before it would declare as the trailer of a member. */
interface Place {
  readonly storedStart: number;
  readonly flags: number;
  readonly crc: number;
  readonly decodedBytes: number;
}

/** Decoded bytes that no trailer has confirmed yet. */
export interface Unconfirmed {
  /** Decoded bytes before them. */
  readonly start: number;
  readonly byteLength: number;
  readonly crc: number;
}

export class GzipCheck {
  #storedBytes = 0;
  /** The last stored bytes, fewer than those of a seam. */
  #tail: Buffer = Buffer.alloc(0);
  /** Headers behind the beginning of the current member, in order. */
  #places: Place[] = [];
  #member: Pick<Place, 'storedStart' | 'flags'> | undefined;
  #memberStart = 0;
  #memberBytes = 0;
  #crc = 0;

  /**
   * Notes the next stored bytes. Those with the trailer of a member and with the next header must come here before its
   * last decoded byte comes to `decoded`.
   */
  stored(piece: Uint8Array): void {
    const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
    if (this.#storedBytes === 0 && MAGIC.equals(bytes.subarray(0, MAGIC.byteLength))) {
      const flags = bytes[MAGIC.byteLength] ?? REFUSED_FLAGS;
      if ((flags & REFUSED_FLAGS) === 0) this.#member = { storedStart: 0, flags };
    }
    const seam = Buffer.concat([this.#tail, bytes.subarray(0, SEAM_BYTES - 1)]);
    this.#findPlaces(seam, this.#storedBytes - this.#tail.byteLength);
    this.#findPlaces(bytes, this.#storedBytes);
    this.#storedBytes += bytes.byteLength;
    const end = bytes.byteLength < SEAM_BYTES ? seam : bytes;
    this.#tail = Buffer.from(end.subarray(Math.max(0, end.byteLength - (SEAM_BYTES - 1))));
  }

  #findPlaces(bytes: Buffer, start: number): void {
    for (let at = bytes.indexOf(MAGIC, TRAILER_BYTES); at >= 0; at = bytes.indexOf(MAGIC, at + 1)) {
      const flags = bytes[at + MAGIC.byteLength];
      if (flags === undefined) return;
      if ((flags & REFUSED_FLAGS) !== 0) continue;
      const crc = bytes.readUInt32LE(at - TRAILER_BYTES);
      const decodedBytes = bytes.readUInt32LE(at - 4);
      this.#places.push({ storedStart: start + at, flags, crc, decodedBytes });
    }
  }

  /** Notes the next decoded bytes. */
  decoded(piece: Uint8Array): void {
    for (let at = 0; at < piece.byteLength; ) {
      this.#endMembers();
      const count = Math.min(piece.byteLength - at, this.#bytesToNextPlace());
      this.#crc = crc32(piece.subarray(at, at + count), this.#crc);
      this.#memberBytes += count;
      at += count;
    }
  }

  /** Whether all stored bytes are members, and they declare what was decoded; after the last bytes of both. */
  isWhole(): boolean {
    this.#endMembers();
    const { byteLength } = this.#tail;
    if (this.#member === undefined || byteLength < TRAILER_BYTES) return false;
    const trailer = {
      storedStart: this.#storedBytes,
      flags: 0,
      crc: this.#tail.readUInt32LE(byteLength - TRAILER_BYTES),
      decodedBytes: this.#tail.readUInt32LE(byteLength - 4),
    };
    return this.#isEndOf(this.#member, trailer);
  }

  get unconfirmed(): Unconfirmed {
    return { start: this.#memberStart, byteLength: this.#memberBytes, crc: this.#crc };
  }

  /** Ends the current member, and empty ones behind it, if they end here. */
  #endMembers(): void {
    for (;;) {
      const member = this.#member;
      if (member === undefined) return;
      const index = this.#placesToConsider(member).findIndex((place) => this.#isEndOf(member, place));
      if (index < 0) return;
      this.#member = this.#places[index];
      this.#places = this.#places.slice(index + 1);
      this.#memberStart += this.#memberBytes;
      this.#memberBytes = 0;
      this.#crc = 0;
    }
  }

  #isEndOf(member: Pick<Place, 'storedStart' | 'flags'>, { storedStart, crc, decodedBytes }: Place): boolean {
    if (decodedBytes !== this.#memberBytes % LENGTH_MODULUS || crc !== this.#crc) return false;
    if (this.#memberBytes > 0) return true;
    // Zeros are a trailer of no bytes: only an empty member of the usual length is believed.
    const emptyBytes = (member.flags & FEXTRA) === 0 ? EMPTY_MEMBER_BYTES : EMPTY_BGZF_MEMBER_BYTES;
    return storedStart - member.storedStart === emptyBytes;
  }

  /** Decoded bytes until the current member may end. */
  #bytesToNextPlace(): number {
    const member = this.#member;
    if (member === undefined) return Number.POSITIVE_INFINITY;
    const behind = this.#memberBytes % LENGTH_MODULUS;
    return this.#placesToConsider(member).reduce((least, { decodedBytes }) => {
      const count = decodedBytes - behind;
      return Math.min(least, count > 0 ? count : count + LENGTH_MODULUS);
    }, Number.POSITIVE_INFINITY);
  }

  #placesToConsider({ storedStart: start }: Pick<Place, 'storedStart'>): readonly Place[] {
    const end = this.#places.findIndex(
      ({ storedStart }, index) => index >= FIRST_PLACES + (storedStart - start) / STORED_BYTES_PER_PLACE,
    );
    return end < 0 ? this.#places : this.#places.slice(0, end);
  }
}
