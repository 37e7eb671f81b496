/** A pile that a loader reads wrong is read once more. */
import { describe, expect, it } from 'vitest';
import { openStore } from '#src/index.js';
import { systemFileCalls } from '#src/io/file-calls.js';
import { makeStore, someRecords } from '../fixtures/make-store.js';
import { useFileCalls } from '../fixtures/replaced-file-calls.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';

const directory = useMemoryDirectory();
const calls = useFileCalls();

/** Bits flip in the first `flips` reads of pile data. */
function flipBits(flips: number): void {
  const piles = new Set<number>();
  let left = flips;
  calls.replace({
    open: (path, ...rest) => {
      const fd = systemFileCalls.open(path, ...rest);
      if (path.endsWith('.pile')) piles.add(fd);
      else piles.delete(fd);
      return fd;
    },
    read: (fd, bytes, offset, ...rest) => {
      const count = systemFileCalls.read(fd, bytes, offset, ...rest);
      if (piles.has(fd) && left > 0) {
        left -= 1;
        bytes[offset + 14] = (bytes[offset + 14] ?? 0) ^ 1;
      }
      return count;
    },
  });
}

async function readEpoch(onWarning: (line: string) => void): Promise<string[]> {
  const records: string[] = [];
  const store = openStore(directory.path('store'), { onWarning });
  for await (const batch of store.epoch(0).batches(100)) {
    for (const record of batch) records.push(Buffer.from(record).toString());
  }
  return records;
}

describe('a loader', () => {
  it('reads a pile once more, and gives up when it is wrong again', async () => {
    await makeStore(directory.path('store'), { seed: 's', pileCount: 2, inputs: { a: someRecords('a', 50) } });
    const warnings: string[] = [];
    const expected = await readEpoch(expect.unreachable);
    flipBits(1);
    expect(await readEpoch((line) => warnings.push(line))).toEqual(expected);
    expect(warnings).toEqual([expect.stringMatching(/^verification failed: .*; it is tried once more$/)]);
    flipBits(1000);
    await expect(readEpoch(() => {})).rejects.toMatchObject({
      code: 'ERR_VERIFICATION',
      message: expect.stringMatching(/^verification failed: twice in a row: /),
    });
  });
});
