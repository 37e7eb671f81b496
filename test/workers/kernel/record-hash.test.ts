/**
 * The hash of a record: values computed from docs/ORDER.md by a separate program; kernel against twin for every length
 * up to 300, with garbage behind the end, which the kernel reads and must not use; and the purpose of a checksum: any
 * single error in a record changes its hash. Bytes in pieces have the hash of the whole, whatever the pieces.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ARENA_START, Kernel } from '#workers/kernel/kernel.js';
import { recordHash } from './kernel-twin.js';

const kernel = new Kernel();
kernel.ensureArena(64 * 1024);

function kernelHash(bytes: Uint8Array, alignment = 0, garbage = 0xa5): bigint {
  const start = ARENA_START + alignment;
  kernel.bytes.fill(garbage, ARENA_START, start + bytes.byteLength + 64);
  kernel.bytes.set(bytes, start);
  return BigInt.asUintN(64, kernel.wasm.recordHash(start, bytes.byteLength));
}

/** The same bytes every time, without a pattern. */
function noise(byteLength: number): Uint8Array {
  let state = 0x2545f491;
  return Uint8Array.from({ length: byteLength }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state >>> 24;
  });
}

describe('recordHash', () => {
  it.each([
    ['', 0x0000000000000000n],
    ['\n', 0x5ab46b88c0a56c57n],
    ['a\n', 0x27dabab73bd18b0bn],
    ['fifteen bytes.\n', 0x5565e346332925can],
    ['sixteen bytes..\n', 0x4d9353bde2a4877fn],
    ['seventeen bytes.\n', 0xb09f0d82748fefb4n],
    ['1234567890'.repeat(8), 0x71ed925d7f1c40d8n],
    ['\0'.repeat(33), 0x56f43f759a28d221n],
    ['\u{ff}'.repeat(64), 0x6eec35bdd6e6a85en],
  ])('kernel and twin give the value of %j', (text, value) => {
    const bytes = Buffer.from(text, 'latin1');
    expect(kernelHash(bytes)).toBe(value);
    expect(recordHash(bytes)).toBe(value);
  });

  it('equals the twin for every length from 0 to 300, whatever lies after', () => {
    const bytes = noise(300);
    for (let byteLength = 0; byteLength <= 300; byteLength++) {
      const record = bytes.subarray(0, byteLength);
      const expected = recordHash(record);
      for (const garbage of [0x00, 0x5a, 0xff]) {
        expect(kernelHash(record, byteLength % 17, garbage), `${byteLength} bytes before ${garbage}`).toBe(expected);
      }
    }
  });

  it('changes with any bit, with two blocks or words exchanged, and with zeros at the end', () => {
    const hashes = new Set<bigint>();
    let records = 0;
    const add = (record: Uint8Array) => {
      records += 1;
      hashes.add(kernelHash(record));
    };
    for (const original of [noise(77), new Uint8Array(77), new Uint8Array(77).fill(0xff)]) {
      add(original);
      for (let bit = 0; bit < 77 * 8; bit++) {
        const changed = Uint8Array.from(original);
        changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        add(changed);
      }
      for (let byteLength = 0; byteLength < 77; byteLength++) {
        if (byteLength > 0 || original[0] === 0) add(original.subarray(0, byteLength));
      }
    }
    const bytes = noise(64);
    for (const size of [4, 8, 16, 32]) {
      for (let a = 0; a < 64; a += size) {
        for (let b = a + size; b < 64; b += size) {
          const changed = Uint8Array.from(bytes);
          changed.set(bytes.subarray(b, b + size), a);
          changed.set(bytes.subarray(a, a + size), b);
          add(changed);
        }
      }
    }
    // The three empty beginnings are one record.
    expect(hashes.size).toBe(records);
  });

  it('changes where a product changes by as much as the input, and the other way', () => {
    // The factor x2 of block 0 is its third word xor 0x2c81017c: here it is 1.
    const block = Buffer.alloc(16);
    block.writeUInt32LE(0x2c81017c ^ 1, 8);
    const hash = kernelHash(block);
    for (let bit = 0; bit < 32; bit++) {
      const changed = Buffer.from(block);
      changed.writeUInt32LE((1 << bit) >>> 0, 0);
      expect(kernelHash(changed), `bit ${bit}`).not.toBe(hash);
    }
  });
});

/** The kernel's hash of pieces that lie apart, with garbage around each. */
function hashOfPieces(pieces: readonly Uint8Array[]): bigint {
  kernel.wasm.beginHash(0);
  for (const [i, piece] of pieces.entries()) {
    const start = ARENA_START + (i % 17);
    kernel.bytes.fill(0xa5, ARENA_START, start + piece.byteLength + 64);
    kernel.bytes.set(piece, start);
    kernel.wasm.addToHash(0, start, start + piece.byteLength);
  }
  return BigInt.asUintN(64, kernel.wasm.hashOfPieces(0));
}

describe('hashOfPieces', () => {
  it('equals the hash of the whole, however the bytes are cut', () => {
    const lengths = fc.array(fc.oneof(fc.nat({ max: 3 }), fc.nat({ max: 40 }), fc.nat({ max: 3000 })), {
      maxLength: 20,
    });
    fc.assert(
      fc.property(lengths, (ofPieces) => {
        const bytes = noise(ofPieces.reduce((sum, length) => sum + length, 0));
        let end = 0;
        const pieces = ofPieces.map((length) => {
          end += length;
          return bytes.subarray(end - length, end);
        });
        expect(hashOfPieces(pieces)).toBe(recordHash(bytes));
      }),
      { numRuns: 500 },
    );
  });

  it('is not disturbed by other hashes meanwhile', () => {
    const bytes = noise(100);
    kernel.bytes.set(bytes, ARENA_START);
    kernel.wasm.beginHash(0);
    kernel.wasm.addToHash(0, ARENA_START, ARENA_START + 41);
    kernel.wasm.recordHash(ARENA_START + 5, 77);
    kernel.wasm.addToHash(0, ARENA_START + 41, ARENA_START + 100);
    expect(BigInt.asUintN(64, kernel.wasm.hashOfPieces(0))).toBe(recordHash(bytes));
  });
});
