/** Reads a store by docs/ARCHITECTURE.md, with Node's own modules only, and checks every claim of the page. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { appendToStore, shuffleStore } from '#src/index.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';
import { recordHash } from '../workers/kernel/kernel-twin.js';

const directory = useTestDirectory();

interface StoredRecord {
  readonly key: bigint;
  readonly bytes: Buffer;
}

function readSealed(path: string, kind: string): Record<string, unknown> {
  const file = readFileSync(path);
  const end = file.indexOf('\n');
  const [magic, isKind, version, byteLength, digest] = file.subarray(0, end).toString().split(' ');
  const json = file.subarray(end + 1);
  expect({ magic, isKind, version }).toEqual({ magic: 'pileshuf', isKind: kind, version: '1' });
  expect(Number(byteLength)).toBe(json.byteLength);
  const told = Buffer.from(`${magic} ${isKind} ${version} ${byteLength} `);
  expect(createHash('sha256').update(told).update(json).digest('hex')).toBe(digest);
  return JSON.parse(json.toString());
}

/** The records of a pile set, pile by pile. */
function readPileSet(path: string): StoredRecord[] {
  const index = readFileSync(`${path}.index`);
  const u64 = (at: number) => Number(index.readBigUInt64LE(at));
  const u32 = (at: number) => index.readUInt32LE(at);
  expect(index.subarray(0, 8).toString()).toBe('pileset3');
  const [segments, piles, stripes, disks, described] = [u64(8), u32(16), u32(20), u32(24), u32(28)];
  expect([stripes, disks]).toEqual([1, 1]);
  expect(u32(32)).toBe(crc32(index.subarray(44, 52)));
  expect(u32(36)).toBe(crc32(index.subarray(index.byteLength - described)));
  expect(u32(40)).toBe(crc32(index.subarray(0, 40)));
  const dataBytes = u64(44);
  expect(existsSync(`${path}.0.pile`)).toBe(dataBytes > 0);
  const data = dataBytes > 0 ? readFileSync(`${path}.0.pile`) : Buffer.of();
  expect(data.byteLength).toBe(dataBytes);
  const segmentsAt = 52 + 48 * piles;
  expect(index.byteLength).toBe(segmentsAt + 24 * segments + described);
  expect(JSON.parse(index.subarray(index.byteLength - described).toString()).name).toBe(path.split('/').at(-1));

  const all: StoredRecord[] = [];
  for (let pile = 0; pile < piles; pile++) {
    const at = 52 + 48 * pile;
    const [first, count] = [u64(at), u64(at + 8)];
    const entries = index.subarray(segmentsAt + 24 * first, segmentsAt + 24 * (first + count));
    expect(u32(at + 40)).toBe(crc32(entries));
    expect(u32(at + 44)).toBe(crc32(index.subarray(at, at + 44), pile));
    const pieces = Array.from({ length: count }, (_, i) => {
      const [place, byteLength] = [Number(entries.readBigUInt64LE(24 * i)), entries.readUInt32LE(24 * i + 8)];
      expect(entries.readUInt32LE(24 * i + 12)).toBe(byteLength);
      const piece = data.subarray(place, place + byteLength);
      expect(entries.readBigUInt64LE(24 * i + 16)).toBe(recordHash(piece));
      return piece;
    });
    const records = recordsOf(Buffer.concat(pieces));
    const keys = [pile, pile + 1].map((j) => (BigInt(j) * 2n ** 64n + BigInt(piles) - 1n) / BigInt(piles));
    for (const { key } of records) expect(key >= (keys[0] ?? 0n) && key < (keys[1] ?? 0n)).toBe(true);
    expect(records).toHaveLength(u64(at + 16));
    expect(Buffer.concat(records.map(({ bytes }) => bytes)).byteLength).toBe(u64(at + 24));
    expect(checksumOf(records)).toBe(index.readBigUInt64LE(at + 32));
    all.push(...records);
  }
  return all;
}

function recordsOf(stored: Buffer): StoredRecord[] {
  const records: StoredRecord[] = [];
  for (let at = 0; at < stored.byteLength; ) {
    const end = at + 12 + stored.readUInt32LE(at + 8);
    records.push({ key: stored.readBigUInt64LE(at), bytes: stored.subarray(at + 12, end) });
    at = end;
  }
  return records;
}

function checksumOf(records: readonly StoredRecord[]): bigint {
  return BigInt.asUintN(
    64,
    records.reduce((sum, { bytes }) => sum + recordHash(bytes), 0n),
  );
}

describe('a store', () => {
  it('is what the page says', async () => {
    const store = directory.path('store');
    const tuning = { bufferBytes: 300, sliceBytes: 2000, inline: true };
    for (const [i, count] of [200, 90, 0].entries()) {
      const input = directory.path(`in-${i}`);
      writeFileSync(input, Array.from({ length: count }, (_, line) => `${i} ${line * 7919}\n`).join(''));
      await appendToStore(store, { inputs: [input], inputIds: [`id ${i}`], generation: `g${i}`, piles: 5 }, tuning);
    }
    expect(readdirSync(store).toSorted()).toEqual(['manifests', 'pile-sets', 'reached', 'store']);
    const settings = readSealed(`${store}/store`, 'store');
    expect(settings).toEqual({ id: expect.any(String), seed: expect.any(String), pileCount: 5 });
    const newest = readdirSync(`${store}/manifests`).toSorted().at(-1) ?? '';
    expect(readdirSync(`${store}/reached`)).toEqual([newest]);
    expect(readFileSync(`${store}/reached/${newest}`)).toHaveLength(0);
    const manifest = readSealed(`${store}/manifests/${newest}`, 'store-manifest');
    expect(manifest).toMatchObject({ storeId: settings['id'], number: Number(newest), oldest: 1, removed: [] });
    const commits = manifest['commits'] as { pileSets: { name: string; diskBytes: number }[] }[];

    const all: StoredRecord[] = [];
    for (const [i, { pileSets, ...commit }] of commits.entries()) {
      const records = pileSets.flatMap(({ name, diskBytes }) => {
        const path = `${store}/pile-sets/${name}`;
        expect(statSync(`${path}.0.pile`, { throwIfNoEntry: false })?.size ?? 0).toBe(diskBytes);
        return readPileSet(path);
      });
      expect(commit).toEqual({
        name: expect.stringMatching(/^[0-9a-f]{16}$/),
        since: 2 + i,
        generation: `g${i}`,
        time: expect.any(Number),
        inputIds: [`id ${i}`],
        format: 'delimited 0a',
        records: records.length,
        bytes: Buffer.concat(records.map(({ bytes }) => bytes)).byteLength,
        checksum: checksumOf(records).toString(16).padStart(16, '0'),
        longestRecordBytes: Math.max(0, ...records.map(({ bytes }) => bytes.byteLength)),
      });
      all.push(...records);
    }
    expect(all).toHaveLength(290);
    await shuffleStore(store, { output: directory.path('out') }, { inline: true });
    const inOrder = all.sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ bytes }) => bytes);
    expect(readFileSync(directory.path('out')).equals(Buffer.concat(inOrder))).toBe(true);
  });
});
