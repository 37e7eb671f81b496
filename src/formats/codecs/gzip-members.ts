/**
 * Members of gzip files whose headers declare their length: those of BGZF (SAM specification, section 4.1), as `bgzip`
 * writes it. Every gzip decoder decodes BGZF. In addition, it can be read from any of its members on.
 *
 *     byte 0   1f 8b 08   FLG with FEXTRA   6 bytes as always
 *         10   u16 bytes of the extra field: 06 00, or more with other subfields
 *         12   'B' 'C' 02 00        the subfield of BGZF, the only one that `bgzip` writes
 *         16   u16 bytes of the member, less 1
 *     end - 4  u32 bytes that it decodes to, at most 65,536
 */
import { corruptInputError } from '../../errors.js';
import type { StoredBytes, StoredMember } from '../codec.js';

export const MAGIC = Buffer.from([0x1f, 0x8b, 8]);
export const FLAGS_AT = 3;
const FLAGS = { headerChecksum: 2, extraField: 4, name: 8, comment: 16 } as const;
const FIXED_BYTES = 10;
const SUBFIELDS_AT = 12;
const LONGEST_EXTRA_END = SUBFIELDS_AT + 65_535;
/** The length of a header that has the subfield of BGZF alone. */
const USUAL_HEADER_BYTES = 18;
/** An empty block, checksum and length. */
const LEAST_BYTES_BEHIND_HEADER = 2 + 8;
const MOST_DECODED_BYTES = 65_536;
/** Identifier and length. */
const BGZF_SUBFIELD = Buffer.from([0x42, 0x43, 2, 0]);

export function isBgzfHeader(head: Uint8Array): boolean {
  return bgzfMemberBytes(bufferOf(head)) !== undefined;
}

export function findBgzfMember(bytes: Uint8Array): number {
  const within = bufferOf(bytes);
  for (let at = within.indexOf(MAGIC); at >= 0; at = within.indexOf(MAGIC, at + 1)) {
    if (isBgzfHeader(within.subarray(at))) return at;
  }
  return -1;
}

export function* listGzipMembers(bytes: StoredBytes): Generator<StoredMember, number | undefined, void> {
  let decodedStart = 0;
  for (let storedStart = 0; storedStart < bytes.byteLength; ) {
    const usual = bufferOf(bytes.read(storedStart, USUAL_HEADER_BYTES));
    const isUsual = hasExtraField(usual) && extraFieldEnd(usual) === USUAL_HEADER_BYTES;
    const header = isUsual ? usual : bufferOf(bytes.read(storedStart, LONGEST_EXTRA_END));
    if (!isUsual) refuseSwallowedMember(header, storedStart, bytes.path);
    const memberBytes = bgzfMemberBytes(header);
    if (memberBytes === undefined || memberBytes < extraFieldEnd(header) + LEAST_BYTES_BEHIND_HEADER) return undefined;
    const storedEnd = storedStart + memberBytes;
    const size = bufferOf(bytes.read(storedEnd - 4, 4));
    if (size.byteLength < 4 || size.readUInt32LE() > MOST_DECODED_BYTES) return undefined;
    const decodedBytes = size.readUInt32LE();
    yield { storedStart, decodedStart, decodedBytes };
    storedStart = storedEnd;
    decodedStart += decodedBytes;
  }
  return decodedStart;
}

/**
 * No checksum covers the length of an extra field (RFC 1952, section 2.3.1.1): with a damaged length the header may end
 * where that of a later member ends, and the members in between would be missing unnoticed.
 * @param member its bytes from the header on, to the end of the header or further.
 * @param start position in the compressed input.
 */
export function refuseSwallowedMember(member: Uint8Array, start: number, path: string): void {
  const header = bufferOf(member);
  if (!hasExtraField(header)) return;
  const end = headerEnd(header, 0);
  // Decoding reports a header that is cut off or reaches beyond the end of the file.
  if (end === undefined) return;
  const inside = header.subarray(0, end);
  for (let at = inside.indexOf(MAGIC, SUBFIELDS_AT); at >= 0; at = inside.indexOf(MAGIC, at + 1)) {
    if (headerEnd(inside, at) !== end) continue;
    throw corruptInputError(
      path,
      `the extra field of the gzip header at byte ${start} (compressed) reaches into the member at byte ${start + at}; copy or make the file again`,
    );
  }
}

function bgzfMemberBytes(header: Buffer): number | undefined {
  if (!hasExtraField(header)) return undefined;
  const end = extraFieldEnd(header);
  for (let at = SUBFIELDS_AT; at + 6 <= end && at + 6 <= header.byteLength; at += 4 + header.readUInt16LE(at + 2)) {
    if (header.compare(BGZF_SUBFIELD, 0, 4, at, at + 4) === 0) return header.readUInt16LE(at + 4) + 1;
  }
  return undefined;
}

/** Returns whether a gzip member begins here whose extra field, as far as its length, is in these bytes. */
function hasExtraField(header: Buffer): boolean {
  const [first, second, method, flags = 0] = header;
  if (first !== MAGIC[0] || second !== MAGIC[1] || method !== MAGIC[2]) return false;
  return header.byteLength >= SUBFIELDS_AT && (flags & FLAGS.extraField) !== 0;
}

function extraFieldEnd(header: Buffer): number {
  return SUBFIELDS_AT + header.readUInt16LE(FIXED_BYTES);
}

/** Returns where the header of a member ends; undefined: beyond `bytes`. */
export function headerEnd(bytes: Buffer, start: number): number | undefined {
  const header = bytes.subarray(start);
  if (header.byteLength < FIXED_BYTES) return undefined;
  const flags = header.readUInt8(FLAGS_AT);
  if (flags & FLAGS.extraField && header.byteLength < SUBFIELDS_AT) return undefined;
  let end = start + (flags & FLAGS.extraField ? extraFieldEnd(header) : FIXED_BYTES);
  for (const text of [FLAGS.name, FLAGS.comment]) {
    if ((flags & text) === 0) continue;
    const nul = bytes.indexOf(0, end);
    if (nul < 0) return undefined;
    end = nul + 1;
  }
  if (flags & FLAGS.headerChecksum) end += 2;
  return end <= bytes.byteLength ? end : undefined;
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
