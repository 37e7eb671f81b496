/**
 * From seed and ordinal to keys. The literals come from Python's hashlib, by the rule of docs/ORDER.md:
 *
 *     int.from_bytes(sha256(pack('<Q', len(seed)) + seed + pack('<Q', len(id)) + id).digest()[:8], 'little')
 */
import { describe, expect, it } from 'vitest';
import { deriveInputKey, deriveRangeKey, deriveSampleSeed, generateSeed } from '#src/floor/keys.js';

describe('deriveInputKey', () => {
  it.each([
    ['', '0', 0xadccc1303011c7e1n],
    ['42', '0', 0x070ac6acc7877114n],
    ['42', '1', 0xf1d4dbc6745c9f71n],
    ['1', '11', 0xce97952cb62061dan],
    ['11', '1', 0x75c96bd90815d234n],
    ['\0', '0', 0xdf8fed655ef3f9fdn],
    ['Ł', '0', 0x1b84583272d36913n],
    ['A', '0', 0xebf06172f37deb39n],
    ['\u{1f600}', '123456', 0xcd16766c3f783933n],
  ])('of seed %j and input %s', (seed, id, key) => {
    expect(deriveInputKey(seed, id)).toBe(key);
  });

  it('tells all seeds and inputs apart, also those that read the same one behind the other', () => {
    const seeds = ['1', '11', '111', 'A', 'Ł', '', '\0', '\0\0', '0', ' ', 'a'];
    const ids = ['0', '1', '10', '11', '110'];
    const keys = seeds.flatMap((seed) => ids.map((id) => deriveInputKey(seed, id)));
    expect(new Set(keys).size).toBe(seeds.length * ids.length);
  });
});

describe('deriveRangeKey', () => {
  it.each([
    ['', '0-0', 0x4a3a74d1174de287n],
    ['42', '1-10', 0xb589b79ef1455fb9n],
    ['Ł', '0-18446744073709551615', 0x2a0ef1114e087990n],
  ])('of seed %j and range %s', (seed, range, key) => {
    expect(deriveRangeKey(seed, range)).toBe(key);
  });
});

describe('deriveSampleSeed', () => {
  it.each([
    ['', 'af5570f5a1810b7af78caf4bc70a660f0df51e42baf91d4de5b2328de0e83dfc'],
    ['42', '11fb9aabf18da8612ea4a3b0b63710aec3bdc51429a179be5cd7d9cda7d8e43d'],
    ['Ł', '8cd8ca3f5c9cc10f6572da2561beabba564492c5e1c28157a9a461de7e936445'],
  ])('of seed %j', (seed, digest) => {
    expect(deriveSampleSeed(seed)).toBe(digest);
  });
});

describe('generateSeed', () => {
  it('draws 64 bits, another seed each time', () => {
    const seeds = new Set(Array.from({ length: 100 }, generateSeed));
    expect(seeds.size).toBe(100);
    for (const seed of seeds) expect(seed).toMatch(/^[0-9a-f]{16}$/);
  });
});
