/** Frames made by the zstd command, and their contents. */

/** @param {string} base64 */
const bytes = (base64) => new Uint8Array(Buffer.from(base64, 'base64'));

/** `zstd --check`: declares its size, with a checksum. */
export const declared = {
  stored: bytes('KLUv/SQ/3QEA9AJwaWxlIGJ5IHBpbGUsIGFmdGVyLCBhbmQgZXZlciBpbiBpdHMgb3duIG9yZGVyCgMARA1yuSJt+QKxWKYw'),
  content: Buffer.from('pile by pile, pile after pile, and every pile in its own order\n'),
};

/** `zstd --no-check < file`: neither size nor checksum. */
export const undeclared = {
  stored: bytes('KLUv/QBYbQEAEkUKCrAbxiRJiHDOmEVBeNZsWbJjxYbdasEeNVqU6FChQadSoKdZkqMYrgIA'),
  content: Buffer.from(Array.from({ length: 30 }, (_, i) => `${i + 1} `).join('')),
};

/** `zstd` of an empty file. */
export const empty = { stored: bytes('KLUv/SQAAQAAmenYUQ=='), content: Buffer.alloc(0) };

/** `zstd -19 --check`: three blocks. */
export const severalBlocks = {
  stored: bytes(
    'KLUv/aRONAUAhAUA4gkaFZApD2D9wsdCzd7dTlKEFOHB9W4GAZp4VtRvXk08K+I3ryaeFe2bVxPPivTNq4lnRfnm1cSzInzzauJZ0b15' +
      'NfGsyN68mnhW9T5/r8/j7/YChMIoh7hyAoOY5CcYzs9izoMLx+nGIIpiqCHQ5/534DWWNRJIEPj/RxDw4u9/B6HxX24FCoIKSAEMmUFA' +
      '3AMI0gJjBjAAhwSglKAwS9vtdJRimJlHxoFMZooAuwpUAAAAAQD9/5f2uQYCRQAAAAEASzQ5AAJatFdc',
  ),
  content: Buffer.from(
    Array.from({ length: 9000 }, (_, i) => `line ${i % 97} of a text that repeats itself\n`).join(''),
  ),
};

/** A skippable frame, as pzstd puts before each frame. */
export const skippable = Uint8Array.of(0x53, 0x2a, 0x4d, 0x18, 5, 0, 0, 0, 0x28, 0xb5, 0x2f, 0xfd, 1);

/**
 * A frame of blocks that repeat one byte, 128 KiB each, the longest there are, with neither size nor checksum.
 * @param {number} count of blocks.
 */
export function repeatedByte(count) {
  const blocks = Array.from({ length: count }, (_, i) => [...blockHeader(128 * 1024, 1, i === count - 1), 0x7a]);
  return Uint8Array.of(0x28, 0xb5, 0x2f, 0xfd, 0, 0x40, ...blocks.flat());
}

/**
 * @param {number} size
 * @param {number} type 0: as they are; 1: one byte, repeated; 2: compressed; 3: reserved.
 * @param {boolean} isLast
 */
export function blockHeader(size, type, isLast) {
  const header = size * 8 + type * 2 + Number(isLast);
  return [header & 255, (header >>> 8) & 255, (header >>> 16) & 255];
}
