/** A further kind of place takes a line in the registry and the calls of `ObjectStore`: jobs and tasks are as they were. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { afterEach, expect, it } from 'vitest';
import { shuffle } from '#src/index.js';
import { OUTPUT_KINDS } from '#src/places/outputs/output-kinds.js';
import { errorOf } from '../../fixtures/error-of.js';
import { useMemoryDirectory } from '../../fixtures/temp-directory.js';
import { memoryPlaces } from './memory-places.js';

const directory = useMemoryDirectory();
const objects = new Map<string, Buffer>();
const kind = {
  hasName: (output: string) => output.startsWith('memory:'),
  open: async () => memoryPlaces(objects),
};
afterEach(() => OUTPUT_KINDS.splice(OUTPUT_KINDS.indexOf(kind), 1));

it('a shuffle writes shards to it, as to a directory', async () => {
  OUTPUT_KINDS.push(kind);
  writeFileSync(directory.path('in'), Array.from({ length: 3000 }, (_, i) => `${i}\n`).join(''));
  const job = (output: string) =>
    shuffle(
      {
        inputs: [directory.path('in')],
        output,
        shards: { by: 'count', shardCount: 3 },
        seed: 's',
        tempDirs: [directory.temp],
      },
      { inline: true, pileCount: 5, mayUseRamPool: false },
    );
  await job(directory.path('out'));
  const { shards } = await job('memory:out');
  const names = readdirSync(directory.path('out'));
  expect([...objects.keys()].sort()).toEqual(names.map((name) => `memory:out/${name}`).sort());
  for (const name of names)
    expect(String(objects.get(`memory:out/${name}`))).toBe(readFileSync(directory.path('out', name), 'utf8'));
  expect(shards).toHaveLength(3);
  expect(readdirSync(directory.temp)).toEqual([]);
  expect(await errorOf(job('memory:out'))).toMatchObject({ code: 'ERR_OUTPUT_EXISTS' });
});
