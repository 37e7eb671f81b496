/** A further kind of input takes a line in the registry, its facts, and a reader: jobs and passes are as they were. */
import { readFileSync, writeFileSync } from 'node:fs';
import { afterEach, expect, it } from 'vitest';
import { shuffle } from '#src/index.js';
import { ADDRESS_FACTS, INPUT_KINDS } from '#src/places/inputs/input-kinds.js';
import { useMemoryDirectory } from '../../fixtures/temp-directory.js';

const directory = useMemoryDirectory();
const objects = new Map<string, Buffer>();
const kind = {
  ...ADDRESS_FACTS,
  hasName: (path: string) => path.startsWith('memory:'),
  isFar: false,
  load: async () => ({
    open(path: string) {
      const content = objects.get(path) ?? Buffer.of();
      return {
        version: { identity: path, byteLength: content.byteLength, modifiedNanoseconds: 0n },
        readAt: (bytes: Uint8Array, offset: number, byteLength: number, position: number) =>
          content.copy(bytes, offset, position, position + byteLength),
        close() {},
      };
    },
  }),
};
afterEach(() => INPUT_KINDS.splice(INPUT_KINDS.indexOf(kind), 1));

it('a shuffle reads lines from it, in slices, as from files', async () => {
  INPUT_KINDS.push(kind);
  const names = ['a.txt', 'b.txt'];
  for (const [i, name] of names.entries()) {
    const lines = Array.from({ length: 2000 + i }, (_, line) => `${name} ${line}\n`).join('');
    writeFileSync(directory.path(name), lines);
    objects.set(`memory:${name}`, Buffer.from(lines));
  }
  const job = (inputs: string[], output: string) =>
    shuffle(
      { inputs, output: directory.path(output), seed: 's', tempDirs: [directory.temp] },
      { inline: true, pileCount: 5, sliceBytes: 7000, mayUseRamPool: false },
    );
  const ofFiles = await job(
    names.map((name) => directory.path(name)),
    'of-files',
  );
  const report = await job(
    names.map((name) => `memory:${name}`),
    'out',
  );
  expect(report).toMatchObject({ records: 4001, checksum: ofFiles.checksum });
  expect(readFileSync(directory.path('out'))).toEqual(readFileSync(directory.path('of-files')));
});
