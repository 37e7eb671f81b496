// @ts-check
// The order-free checksum that tells whether an output is a permutation of its inputs: the number of lines, the number
// of bytes, and the sum of a 64-bit hash of each line. It shares no code with pileshuf, so that both cannot have the
// same error. Costs a few seconds a gigabyte or less, and never counts in a measured time.

import fs from 'node:fs';

/**
 * @typedef {object} LineChecksum
 * @property {number} lines
 * @property {number} bytes
 * @property {string} sum 16 hex digits
 */

const blockByteLength = 4 << 20;
const newline = 10;
const start1 = 0x811c9dc5 | 0;
const start2 = 0x2f0b4c47;

/**
 * @param {string[]} files read one after the other; a last line without a newline counts as a line of its own
 * @returns {LineChecksum}
 */
export function checksumLines(files) {
  const block = Buffer.allocUnsafe(blockByteLength);
  const total = { lines: 0, bytes: 0, sum1: 0, sum2: 0 };
  for (const file of files) addFile(file, block, total);
  const sum = [total.sum1, total.sum2].map((half) => (half >>> 0).toString(16).padStart(8, '0')).join('');
  return { lines: total.lines, bytes: total.bytes, sum };
}

/** @param {string} file @param {Buffer} block @param {{ lines: number, bytes: number, sum1: number, sum2: number }} total */
function addFile(file, block, total) {
  const fd = fs.openSync(file, 'r');
  let { lines, sum1, sum2 } = total;
  let hash1 = start1;
  let hash2 = start2;
  let isInLine = false;
  for (;;) {
    const end = fs.readSync(fd, block, 0, block.length, null);
    if (end === 0) break;
    total.bytes += end;
    for (let i = 0; i < end; i++) {
      const byte = /** @type {number} */ (block[i]);
      if (byte !== newline) {
        // Two polynomial hashes by different odd multipliers; the processor runs the two chains side by side.
        hash1 = Math.imul(hash1 ^ byte, 0x01000193);
        hash2 = Math.imul(hash2 + byte, 0x5bd1e995);
        continue;
      }
      lines++;
      sum1 = (sum1 + mix(hash1 ^ (hash2 >>> 15))) | 0;
      sum2 = (sum2 + mix(hash2 ^ (hash1 >>> 13))) | 0;
      hash1 = start1;
      hash2 = start2;
    }
    isInLine = block[end - 1] !== newline;
  }
  fs.closeSync(fd);
  if (isInLine) {
    lines++;
    sum1 = (sum1 + mix(~hash1)) | 0; // not what the same line with its newline gives
    sum2 = (sum2 + mix(~hash2)) | 0;
  }
  Object.assign(total, { lines, sum1, sum2 });
}

/** The finaliser of MurmurHash3 (public domain): without it a sum of weak hashes would be weak. @param {number} hash */
function mix(hash) {
  let mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}
