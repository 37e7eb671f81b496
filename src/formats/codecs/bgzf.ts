/**
 * BGZF (SAM specification, section 4.1): gzip of which each member says how long it is, as `bgzip` writes it. What
 * decodes gzip decodes it, too, but it can be read from any of its members on.
 *
 *     byte 0   1f 8b 08   FLG with FEXTRA   6 bytes as always
 *         10   06 00   'B' 'C' 02 00        the one extra field that `bgzip` writes and reads
 *         16   u16 bytes of the member, less 1
 *     end - 4  u32 bytes that it decodes to, at most 65,536
 */
import type { Codec, MemberStart, StoredBytes } from '../codec.js';
import { gzip } from './gzip.js';

const HEADER_BYTES = 18;
const LEAST_MEMBER_BYTES = HEADER_BYTES + 2 + 8;
const MOST_DECODED_BYTES = 65_536;
const FEXTRA = 4;
/** At byte 10. */
const EXTRA_FIELD = Buffer.from([6, 0, 0x42, 0x43, 2, 0]);

export const bgzf: Codec = { ...gzip, name: 'bgzf', suffixes: ['.bgz', '.bgzf'], matches, listMembers };

function matches(head: Uint8Array): boolean {
  const hasExtraField = ((head[3] ?? 0) & FEXTRA) !== 0 && EXTRA_FIELD.equals(head.subarray(10, 16));
  return gzip.matches(head) && hasExtraField;
}

function* listMembers(bytes: StoredBytes): Generator<MemberStart, number | undefined, void> {
  let decodedStart = 0;
  for (let storedStart = 0; storedStart < bytes.byteLength; ) {
    const header = Buffer.from(bytes.read(storedStart, HEADER_BYTES));
    if (header.byteLength < HEADER_BYTES || !matches(header)) return undefined;
    const memberBytes = header.readUInt16LE(16) + 1;
    if (memberBytes < LEAST_MEMBER_BYTES) return undefined;
    const storedEnd = storedStart + memberBytes;
    const size = Buffer.from(bytes.read(storedEnd - 4, 4));
    if (size.byteLength < 4 || size.readUInt32LE() > MOST_DECODED_BYTES) return undefined;
    yield { storedStart, decodedStart };
    storedStart = storedEnd;
    decodedStart += size.readUInt32LE();
  }
  return decodedStart;
}
