/** The checksums of HDF5: lookup3 of Bob Jenkins for structures, Fletcher's sum for chunks. */

const START = 0xdeadbeef;
/** The bits by which each step turns a word, within the bytes and at their end. */
const TURNS = [4, 6, 8, 16, 19, 4] as const;
const LAST_TURNS = [14, 11, 25, 16, 4, 14, 24] as const;

export function lookup3(bytes: Uint8Array): number {
  const { byteLength } = bytes;
  let a = (START + byteLength) | 0;
  let b = a;
  let c = a;
  const word = (at: number) => {
    let value = 0;
    for (let i = Math.min(4, byteLength - at) - 1; i >= 0; i--) value = (value << 8) | (bytes[at + i] ?? 0);
    return value;
  };
  // Three words go in at a time. The steps are of one kind, with the words in other roles.
  for (let at = 0; at < byteLength; at += 12) {
    a = (a + word(at)) | 0;
    b = (b + word(at + 4)) | 0;
    c = (c + word(at + 8)) | 0;
    if (byteLength - at > 12)
      for (const turn of TURNS) {
        const mixed = ((a - c) ^ rotate(c, turn)) | 0;
        [a, b, c] = [b, (c + b) | 0, mixed];
      }
    else {
      [a, b, c] = [c, a, b];
      for (const turn of LAST_TURNS) [a, b, c] = [b, c, ((a ^ c) - rotate(c, turn)) | 0];
    }
  }
  return c >>> 0;
}

function rotate(value: number, count: number): number {
  return (value << count) | (value >>> (32 - count));
}

/** The words that can be added before a sum of 32 bits overflows. */
const WORDS_AT_ONCE = 360;

/** Sums words of 16 bits, the first byte first; a last byte alone is the first byte of a word. */
export function fletcher32(bytes: Uint8Array): number {
  let [one, two] = [0, 0];
  const fold = (sum: number) => (sum & 0xffff) + (sum >>> 16);
  const end = bytes.byteLength - (bytes.byteLength % 2);
  for (let at = 0; at < end; ) {
    const stop = Math.min(end, at + 2 * WORDS_AT_ONCE);
    for (; at < stop; at += 2) {
      one += ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);
      two += one;
    }
    one = fold(one);
    two = fold(two >>> 0);
  }
  if (end < bytes.byteLength) {
    one += (bytes[end] ?? 0) << 8;
    two += one;
    one = fold(one);
    two = fold(two >>> 0);
  }
  return ((fold(two) << 16) | fold(one)) >>> 0;
}
