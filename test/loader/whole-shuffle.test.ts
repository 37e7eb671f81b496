/** Epoch 0 has the bytes of `shuffleStore`, whatever was appended and expired before. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { appendToStore, expireStore, openStore, shuffleStore } from '#src/index.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';

const directory = useMemoryDirectory();
const corpus = fileURLToPath(new URL('../../examples/corpus/', import.meta.url));

/** The records of all ranks, joined in their order. */
async function strided(path: string, worldSize: number): Promise<Buffer> {
  const store = openStore(path);
  const shares: Buffer[][] = [];
  for (let rank = 0; rank < worldSize; rank++) {
    const share: Buffer[] = [];
    for await (const record of store.epoch(0, { rank, worldSize })) share.push(Buffer.from(record));
    shares.push(share);
  }
  await store.close();
  return Buffer.concat(
    Array.from({ length: store.records }, (_, i) => shares[i % worldSize]?.[Math.floor(i / worldSize)] ?? Buffer.of()),
  );
}

describe('epoch 0', () => {
  it('has the bytes of shuffleStore, also after appends and expiry', async () => {
    const path = directory.path('store');
    const append = (generation: string, ...names: string[]) =>
      appendToStore(path, {
        inputs: names.map((name) => corpus + name),
        inputIds: 'name',
        seed: '42',
        piles: 13,
        generation,
      });
    const expectSame = async (output: string) => {
      await shuffleStore(path, { output: directory.path(output) });
      const expected = readFileSync(directory.path(output));
      expect(expected.byteLength).toBeGreaterThan(100_000);
      for (const worldSize of [1, 3]) expect((await strided(path, worldSize)).equals(expected)).toBe(true);
    };
    await append('2026-01-01', 'africa.jsonl', 'oceans.jsonl.gz');
    await append('2026-02-01', 'europe.jsonl', 'middle-east.jsonl.gz');
    await expectSame('both');
    await expireStore(path, { before: '2026-01-15' });
    await append('2026-02-01', 'south-asia.jsonl.gz');
    await expectSame('window');
  });
});
