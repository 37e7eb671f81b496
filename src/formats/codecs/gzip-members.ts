/**
 * The members of gzip files whose headers declare their length: those of BGZF (SAM specification, section 4.1), as
 * `bgzip` writes it. Every gzip decoder decodes BGZF, too; in addition it can be read from any of its members on.
 *
 *     byte 0   1f 8b 08   FLG with FEXTRA   6 bytes as always
 *         10   u16 bytes of the extra field: 06 00
 *         12   'B' 'C' 02 00        the one subfield that `bgzip` writes and reads
 *         16   u16 bytes of the member, less 1
 *     end - 4  u32 bytes that it decodes to, at most 65,536
 */
import { corruptInput } from '../../errors.js';
import type { Member, StoredBytes } from '../codec.js';

const HEADER_BYTES = 18;
const LEAST_MEMBER_BYTES = HEADER_BYTES + 2 + 8;
const MOST_DECODED_BYTES = 65_536;
const FEXTRA = 4;
const EXTRA_FIELD_AT = 10;
const SUBFIELDS_AT = 12;
const LONGEST_EXTRA_END = SUBFIELDS_AT + 65_535;
const MAGIC = Buffer.from([0x1f, 0x8b, 8, FEXTRA]);
const EXTRA_FIELD = Buffer.from([6, 0, 0x42, 0x43, 2, 0]);

export function isBgzfHeader(head: Uint8Array): boolean {
  return hasExtraField(head) && EXTRA_FIELD.equals(head.subarray(EXTRA_FIELD_AT, EXTRA_FIELD_AT + EXTRA_FIELD.length));
}

/** Like `Codec.findMember`. */
export function findBgzfMember(bytes: Uint8Array): number {
  const within = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = within.indexOf(MAGIC); at >= 0; at = within.indexOf(MAGIC, at + 1)) {
    if (isBgzfHeader(within.subarray(at))) return at;
  }
  return -1;
}

/** Like `Codec.listMembers`. */
export function* listGzipMembers(bytes: StoredBytes): Generator<Member, number | undefined, void> {
  let decodedStart = 0;
  for (let storedStart = 0; storedStart < bytes.byteLength; ) {
    const header = Buffer.from(bytes.read(storedStart, HEADER_BYTES));
    if (header.byteLength < HEADER_BYTES || !isBgzfHeader(header)) {
      requireWholeSubfields(bytes.read(storedStart, LONGEST_EXTRA_END), storedStart, bytes.path);
      return undefined;
    }
    const memberBytes = header.readUInt16LE(16) + 1;
    if (memberBytes < LEAST_MEMBER_BYTES) return undefined;
    const storedEnd = storedStart + memberBytes;
    const size = Buffer.from(bytes.read(storedEnd - 4, 4));
    if (size.byteLength < 4 || size.readUInt32LE() > MOST_DECODED_BYTES) return undefined;
    const decodedBytes = size.readUInt32LE();
    yield { storedStart, decodedStart, decodedBytes };
    storedStart = storedEnd;
    decodedStart += decodedBytes;
  }
  return decodedStart;
}

/**
 * No checksum covers the length of an extra field (RFC 1952, section 2.3.1.1): with a damaged length it may reach to the
 * content of a later member, and the members in between would be missing unnoticed. An extra field consists of
 * subfields; bytes of other members do not.
 * @param member from its header on, to the end of the header or further.
 * @param start its position in the compressed input.
 * @throws InputError ERR_INPUT_CORRUPT
 */
export function requireWholeSubfields(member: Uint8Array, start: number, path: string): void {
  if (member.byteLength < SUBFIELDS_AT || !hasExtraField(member)) return;
  const header = Buffer.from(member.buffer, member.byteOffset, member.byteLength);
  const end = SUBFIELDS_AT + header.readUInt16LE(EXTRA_FIELD_AT);
  // Decoding finds a field that is cut off or reaches beyond the end of the file.
  if (end > header.byteLength) return;
  let at = SUBFIELDS_AT;
  while (at + 4 <= end) at += 4 + header.readUInt16LE(at + 2);
  if (at === end) return;
  throw corruptInput(
    path,
    `the extra field of the gzip header at byte ${start} (compressed) has ${end - SUBFIELDS_AT} bytes, which are not whole subfields; copy or make the file again`,
  );
}

function hasExtraField(header: Uint8Array): boolean {
  return header[0] === 0x1f && header[1] === 0x8b && ((header[3] ?? 0) & FEXTRA) !== 0;
}
