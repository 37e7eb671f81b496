/** The CRCs that services know, a byte at a time. */

/** @type {Record<string, { bits: bigint, polynomial: bigint }>} by the ends of the names of headers */
const KINDS = {
  crc32: { bits: 32n, polynomial: 0xedb88320n },
  crc32c: { bits: 32n, polynomial: 0x82f63b78n },
  crc64nvme: { bits: 64n, polynomial: 0x9a6c9329ac4bc9b5n },
};

/** @param {string} kind @param {Uint8Array} bytes */
export function reflectedCrc(kind, bytes) {
  const { bits, polynomial } = KINDS[kind] ?? { bits: 0n, polynomial: 0n };
  const table = Array.from({ length: 256 }, (_, byte) => {
    let crc = BigInt(byte);
    for (let bit = 0; bit < 8; bit++) crc = (crc >> 1n) ^ (crc & 1n ? polynomial : 0n);
    return crc;
  });
  const ones = (1n << bits) - 1n;
  let crc = ones;
  for (const byte of bytes) crc = (crc >> 8n) ^ (table[Number(crc & 255n) ^ byte] ?? 0n);
  const result = Buffer.alloc(8);
  result.writeBigUInt64BE(crc ^ ones);
  return result.subarray(8 - Number(bits) / 8);
}
