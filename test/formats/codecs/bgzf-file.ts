/** BGZF files by their published layout, member by member, valid or not. */
import { crc32, deflateRawSync } from 'node:zlib';

const TRAILER_BYTES = 8;

/** What a member says of itself where that is not so. */
export interface MemberLies {
  /** Added to the bytes that it says it has. */
  readonly storedBytes?: number;
  /** Added to the bytes that it says it decodes to. */
  readonly decodedBytes?: number;
}

/** Other subfields of its header, before and behind the one of BGZF. */
export interface OtherSubfields {
  readonly before: Uint8Array;
  readonly behind: Uint8Array;
}

export function bgzfMember(
  content: Uint8Array,
  { storedBytes = 0, decodedBytes = 0 }: MemberLies = {},
  { before, behind }: OtherSubfields = { before: Buffer.alloc(0), behind: Buffer.alloc(0) },
): Buffer {
  const deflated = deflateRawSync(content, { level: 1 });
  const fixed = Buffer.from([0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 0xff, 0, 0]);
  fixed.writeUInt16LE(before.byteLength + 6 + behind.byteLength, 10);
  const size = Buffer.from([0x42, 0x43, 2, 0, 0, 0]);
  const headerBytes = fixed.byteLength + before.byteLength + size.byteLength + behind.byteLength;
  size.writeUInt16LE(headerBytes + deflated.byteLength + TRAILER_BYTES - 1 + storedBytes, 4);
  const header = Buffer.concat([fixed, before, size, behind]);
  const trailer = Buffer.alloc(TRAILER_BYTES);
  trailer.writeUInt32LE(crc32(content), 0);
  trailer.writeUInt32LE(content.byteLength + decodedBytes, 4);
  return Buffer.concat([header, deflated, trailer]);
}

/** The empty member at the end of a file that is whole. */
export const BGZF_END = bgzfMember(new Uint8Array());

/** Members of these contents, and the one that ends a file. */
export function bgzfFile(contents: readonly Uint8Array[]): Buffer {
  return Buffer.concat([...contents.map((content) => bgzfMember(content)), BGZF_END]);
}

/** A file of `bytes` with members of the given sizes, over and over; some of them may be 0. */
export function bgzfOf(bytes: Uint8Array, memberBytes: readonly number[]): Buffer {
  return bgzfFile(piecesOf(bytes, memberBytes));
}

/** `bytes` in pieces of the given sizes, over and over; at least one size is not 0. */
export function piecesOf(bytes: Uint8Array, pieceBytes: readonly number[]): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  for (let start = 0, i = 0; start < bytes.byteLength; i++) {
    const size = pieceBytes[i % pieceBytes.length] ?? 1;
    pieces.push(bytes.subarray(start, start + size));
    start += size;
  }
  return pieces;
}
