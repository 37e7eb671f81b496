/** Positions beyond 32 bits: records before, across and after the fourth GiB of a file that is mostly a hole. */
import { closeSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { indexFile, openIndexed } from '#src/index.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';

const GIB = 2 ** 30;
const directory = useMemoryDirectory();

describe('a file of more than 4 GiB', () => {
  it('has all its records', async () => {
    const path = directory.path('in');
    const file = openSync(path, 'w');
    // Where lines end; what is between is zero.
    const ends = [10, GIB - 5, 2 * GIB, 3 * GIB - 1, 4 * GIB - 70, 4 * GIB + 30, 5 * GIB - 2];
    for (const end of ends) writeSync(file, '\n', end - 1);
    ftruncateSync(file, 5 * GIB);
    closeSync(file);
    const index = directory.path('index');
    const { records } = await indexFile(path, { index, memoryBytes: 4 * GIB, maxRecordBytes: 1.5 * GIB });
    expect(records).toBe(8);
    const indexed = openIndexed(path, { index });
    expect(Buffer.from(await indexed.get(5))).toEqual(Buffer.concat([Buffer.alloc(99), Buffer.from('\n')]));
    expect(Buffer.from(await indexed.get(7)).toString()).toBe('\0\0\n');
    expect((await indexed.get(6)).byteLength).toBe(GIB - 32);
    await indexed.close();
  });
});
