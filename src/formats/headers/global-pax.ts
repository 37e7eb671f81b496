/**
 * Global pax headers at the beginning of a tar file, which speak of all its members; git archive writes one. After the
 * records come the two zero blocks that end every tar file.
 */
import { corruptInputError } from '../../errors.js';
import { type HeaderRule, headerDifference, headerOfBytes } from '../header.js';
import {
  BLOCK_BYTES,
  isZeroBlock,
  parseExtendedHeader,
  parseTarHeader,
  problemOfExtendedHeader,
  storedDataBytes,
} from '../tar-header.js';

export const globalPax: HeaderRule = {
  measure: (head, isWhole, path) => {
    const fail = (position: number, problem: string) => corruptInputError(path, `byte ${position} ${problem}`);
    for (let at = 0; ; ) {
      const end = lookAtHeader(head, at, fail);
      if (end === at) return headerOfBytes(head.subarray(0, at));
      if (end !== undefined) at = end;
      else if (isWhole)
        throw fail(head.byteLength, 'is the end of the input; expected a tar file, which ends in zero blocks');
      else return undefined;
    }
  },
  difference: (expected, got) => {
    // The times when they were written may differ.
    const difference = headerDifference(
      Buffer.concat(whatIsSaid(expected.bytes)),
      Buffer.concat(whatIsSaid(got.bytes)),
    );
    return difference && { ...difference, position: placeOf(difference.position, got.bytes) };
  },
  headerOf: ({ bytes }) => bytes,
  trailer: new Uint8Array(2 * BLOCK_BYTES),
};

function whatIsSaid(bytes: Uint8Array): Uint8Array[] {
  const lines: Uint8Array[] = [];
  for (let at = 0; at < bytes.byteLength; ) {
    const header = parseTarHeader(bytes.subarray(at, at + BLOCK_BYTES));
    if (typeof header === 'string') throw new RangeError(`byte ${at} of a header ${header}`);
    at += BLOCK_BYTES;
    lines.push(bytes.subarray(at, at + header.dataBytes));
    at += storedDataBytes(header);
  }
  return lines;
}

function placeOf(offset: number, bytes: Uint8Array): number {
  let before = 0;
  for (const lines of whatIsSaid(bytes)) {
    if (offset < before + lines.byteLength) return lines.byteOffset - bytes.byteOffset + offset - before;
    before += lines.byteLength;
  }
  return bytes.byteLength;
}

/**
 * Returns the end of the global header that begins at `at`; `at`: none begins there; undefined: more bytes are needed.
 */
function lookAtHeader(
  head: Buffer,
  at: number,
  fail: (position: number, problem: string) => Error,
): number | undefined {
  if (head.byteLength < at + BLOCK_BYTES) return undefined;
  const block = head.subarray(at, at + BLOCK_BYTES);
  if (isZeroBlock(block)) return at;
  const header = parseTarHeader(block);
  if (typeof header === 'string') throw fail(at, header);
  if (header.type !== 'g') return at;
  const problem = problemOfExtendedHeader(header);
  if (problem !== undefined) throw fail(at, problem);
  const end = at + BLOCK_BYTES + storedDataBytes(header);
  if (head.byteLength < end) return undefined;
  const overrides = parseExtendedHeader(header, head.subarray(at + BLOCK_BYTES, at + BLOCK_BYTES + header.dataBytes));
  if (typeof overrides === 'string') throw fail(at, overrides);
  if (overrides.name === undefined && overrides.dataBytes === undefined) return end;
  throw fail(at, 'is a global pax header that gives all members one name or one size');
}
