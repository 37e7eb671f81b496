/** The checksums of HDF5: lookup3 of Bob Jenkins for structures, Fletcher's sum for chunks. */

const START = 0xdeadbeef;

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
  let at = 0;
  for (; byteLength - at > 12; at += 12) {
    a = (a + word(at)) | 0;
    b = (b + word(at + 4)) | 0;
    c = (c + word(at + 8)) | 0;
    a = ((a - c) ^ rotate(c, 4)) | 0;
    c = (c + b) | 0;
    b = ((b - a) ^ rotate(a, 6)) | 0;
    a = (a + c) | 0;
    c = ((c - b) ^ rotate(b, 8)) | 0;
    b = (b + a) | 0;
    a = ((a - c) ^ rotate(c, 16)) | 0;
    c = (c + b) | 0;
    b = ((b - a) ^ rotate(a, 19)) | 0;
    a = (a + c) | 0;
    c = ((c - b) ^ rotate(b, 4)) | 0;
    b = (b + a) | 0;
  }
  if (at === byteLength) return c >>> 0;
  a = (a + word(at)) | 0;
  b = (b + word(at + 4)) | 0;
  c = (c + word(at + 8)) | 0;
  c = ((c ^ b) - rotate(b, 14)) | 0;
  a = ((a ^ c) - rotate(c, 11)) | 0;
  b = ((b ^ a) - rotate(a, 25)) | 0;
  c = ((c ^ b) - rotate(b, 16)) | 0;
  a = ((a ^ c) - rotate(c, 4)) | 0;
  b = ((b ^ a) - rotate(a, 14)) | 0;
  return ((c ^ b) - rotate(b, 24)) >>> 0;
}

function rotate(value: number, count: number): number {
  return (value << count) | (value >>> (32 - count));
}

/** So many words can be added before a sum of 32 bits overflows. */
const WORDS_AT_ONCE = 360;

/** Of words of 16 bits, the first byte first; a last byte alone is the first byte of a word. */
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
