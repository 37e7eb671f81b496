/** Two attempts at one slice: the first has its name, and the second must have found the same records. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { pileTotalsOf } from '#src/piles/pile-totals.js';
import { publishIfFirst } from '#src/stages/scatter-slices.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';

const directory = useMemoryDirectory();

type DoneSlice = Parameters<typeof publishIfFirst>[1];

/** As an attempt has made it; only what the comparison reads. */
function attempt(name: string, checksum: bigint, leftOut?: { records: number; bytes: number }): DoneSlice {
  writeFileSync(directory.path(`${name}.index`), name);
  const totals = pileTotalsOf([{ records: 2, bytes: 9, checksum }]);
  return { slice: 0, pileSet: { name }, totals, leftOut } as unknown as DoneSlice;
}

describe('the second attempt at a slice', () => {
  const layoutOf = () => ({ pileCount: 1, stripeCount: 1, disks: [], indexDirectory: directory.path() });

  async function both(second: bigint, leftOut?: { records: number; bytes: number }) {
    const first = attempt('first', 1n);
    const none = () => Promise.reject(new RangeError('no attempt was before it'));
    await publishIfFirst(layoutOf(), first, none);
    await publishIfFirst(layoutOf(), attempt('second', second, leftOut), () => Promise.resolve(first));
    const left = readdirSync(directory.path()).filter((name) => name.endsWith('.index'));
    return { left, content: readFileSync(directory.path('set-000000.index'), 'utf8') };
  }

  it('is removed if it found the same', async () => {
    expect(await both(1n)).toEqual({ left: ['set-000000.index'], content: 'first' });
  });

  it('is an error if it found other records', async () => {
    await expect(both(2n)).rejects.toMatchObject({
      code: 'ERR_VERIFICATION',
      message: expect.stringMatching(/two attempts at slice 0 found different records: 2 with the checksum 0{15}2, /),
    });
  });

  it('may differ in what cannot be in the head', async () => {
    expect(await both(2n, { records: 1, bytes: 3 })).toEqual({ left: ['set-000000.index'], content: 'first' });
  });
});
