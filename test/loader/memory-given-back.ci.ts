/** A program that opens one loader after the other does not keep the memory of each. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { appendToStore } from '#src/index.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';

const directory = useMemoryDirectory();

const MIB = 2 ** 20;
const DATA_BYTES = 40 * MIB;
const LOADERS = 25;
const library = new URL('../../dist/bundle/index.js', import.meta.url).href;

it('memory after many loaders is about that of a few', async () => {
  writeFileSync(directory.path('in'), `${'x'.repeat(1023)}\n`.repeat(DATA_BYTES / 1024));
  await appendToStore(directory.path('store'), { inputs: [directory.path('in')], inputIds: ['in'], piles: 4 });
  const code = `
    const { openStore } = await import(${JSON.stringify(library)});
    const held = [];
    for (let i = 0; i < ${LOADERS}; i++) {
      const store = openStore(process.argv[1], { workers: 1 });
      for await (const batch of store.epoch(i).batches(1000));
      await store.close();
      held.push(process.memoryUsage.rss());
    }
    process.stdout.write(String(held.at(-1) - held[0]));
  `;
  const argv = ['--input-type=module', '-e', code, '--', directory.path('store')];
  const grownBytes = Number(execFileSync(process.execPath, argv, { encoding: 'utf8' }));
  // If no memory were freed, this would be 600 MiB; the collector may be up to 200 MiB late.
  expect(grownBytes).toBeLessThan(350 * MIB);
});
