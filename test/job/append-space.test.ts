/** A disk that is too full for an append: if the size is known, the error comes before the first write. */
import { readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeEach, describe, expect, it } from 'vitest';
import { appendToStore, shuffleStore } from '#src/index.js';
import { reasonNotToMount, useMounts } from '../fixtures/mounts.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';

const LINES = Array.from({ length: 60_000 }, (_, i) => `${i * 7919} of a line that is longer than its number\n`).join(
  '',
);

describe.skipIf(reasonNotToMount !== undefined)(`a store on a small disk ${reasonNotToMount ?? ''}`, () => {
  const directory = useMemoryDirectory();
  const mountTmpfs = useMounts();
  let store = '';

  beforeEach(async () => {
    store = `${mountTmpfs(directory.path('disk'), 'size=1m')}/store`;
    writeFileSync(directory.path('few'), 'a\nb\n');
    await appendToStore(store, { inputs: [directory.path('few')], piles: 2, seed: 's' }, { inline: true });
  });

  async function expectAsBefore(): Promise<void> {
    const output = directory.path('out');
    expect(await shuffleStore(store, { output, force: true }, { inline: true })).toMatchObject({ records: 2 });
  }

  it('refuses plain inputs that cannot fit', async () => {
    writeFileSync(directory.path('large'), LINES);
    await expect(appendToStore(store, { inputs: [directory.path('large')] }, { inline: true })).rejects.toMatchObject({
      code: 'ERR_NO_SPACE',
      message: expect.stringMatching(
        /^not enough space for the pile store on the device of .*: about [\d.]+ [GM]B are needed and [\d.]+ [kM]?B are free; free some space$/,
      ),
    });
    await expectAsBefore();
  });

  it('makes no store for those', async () => {
    writeFileSync(directory.path('large'), LINES);
    const other = join(dirname(store), 'other');
    await expect(appendToStore(other, { inputs: [directory.path('large')] }, { inline: true })).rejects.toMatchObject({
      code: 'ERR_NO_SPACE',
    });
    expect(readdirSync(dirname(store))).toEqual(['store']);
  });

  it('warns of compressed ones, and stays as it was when they do not fit', async () => {
    writeFileSync(directory.path('large.gz'), gzipSync(LINES));
    const warnings: string[] = [];
    const options = { inputs: [directory.path('large.gz')], onWarning: (line: string) => warnings.push(line) };
    await expect(appendToStore(store, options, { inline: true })).rejects.toMatchObject({ code: 'ERR_NO_SPACE' });
    expect(warnings).toEqual([
      expect.stringMatching(/^by a sample of the inputs, there may not be enough space for the/),
    ]);
    await expectAsBefore();
  });
});
