/**
 * The memory that an error advises for long records is enough at once, whatever the job does with them: several threads
 * meet one at the same time, and each finds room, or its slice waits until it is alone.
 */
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { type ShuffleOptions, shuffle, verifyPermutation } from '#src/index.js';
import { drawsFor } from '../fixtures/draws.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';

const directory = useMemoryDirectory();

const MIB = 2 ** 20;
const WORKERS = 4;
const LEAST_BYTES = 4 * MIB;
const ENOUGH_BYTES = 256 * MIB;

const random = drawsFor('advised memory');
/** Each has short lines around a long one. */
const INPUTS = Array.from({ length: 8 }, (_, input) => {
  const lines = Array.from({ length: 4000 }, (__, i) => `${input} ${i} ${'.'.repeat(random() * 400)}\n`);
  lines.splice(3000, 0, `${input} ${'x'.repeat(2.5 * MIB)}\n`);
  return gzipSync(lines.join(''), { level: 1 });
});

function writeInputs(): string[] {
  return INPUTS.map((bytes, input) => {
    writeFileSync(directory.path(`in-${input}.gz`), bytes);
    return directory.path(`in-${input}.gz`);
  });
}

/** Does the job with the least budget, or else with the one that the error advises. @returns that one. */
async function doAsAdvised(job: (memoryBytes: number) => Promise<unknown>): Promise<number> {
  const error = await job(LEAST_BYTES).then(
    () => expect.fail('the least budget is enough'),
    (reason: unknown) => String(reason),
  );
  const advised = /does not fit the memory budget; expected `memoryBytes` of at least (\d+)M$/.exec(error)?.[1];
  const memoryBytes = Number(advised ?? expect.fail(error)) * MIB;
  await job(memoryBytes);
  return memoryBytes;
}

/** The records of a file, or of the shards in a directory, in their order. */
function recordsIn(path: string): Buffer {
  if (!statSync(path).isDirectory()) return readFileSync(path);
  const shards = readdirSync(path).filter((name) => name.startsWith('shard-'));
  return Buffer.concat(shards.sort().map((name) => gunzipSync(readFileSync(`${path}/${name}`))));
}

const half = (name: string, range: string) => ({ name, inputs: `**/in-${range}.gz`, share: 1 });
const shapes: Readonly<Record<string, Partial<ShuffleOptions>>> = {
  'compressed shards': { shards: { by: 'count', shardCount: 16 }, compress: { codec: 'gzip', level: 1 } },
  'compressed shards of a job that can be resumed': {
    shards: { by: 'count', shardCount: 16 },
    compress: { codec: 'gzip', level: 1 },
    resume: true,
  },
  'one file of a job that can be resumed': { resume: true },
  'the first records': { headCount: 20_000 },
  'distinct records': { unique: true },
  'a mix whose inputs are counted first': {
    mix: { unit: 'records', groups: [half('a', '[0-3]'), half('b', '[4-7]')] },
  },
};

describe('the advised memory is enough for', () => {
  it.each(Object.entries(shapes))('%s', async (_, options) => {
    const inputs = writeInputs();
    const run = (output: string, workers: number) => (memoryBytes: number) =>
      shuffle({
        inputs,
        seed: 's',
        tempDirs: [directory.temp],
        memoryBytes,
        workers,
        ...options,
        output: directory.path(output),
      });
    await run('expected', 1)(ENOUGH_BYTES);
    expect(await doAsAdvised(run('out', WORKERS))).toBeLessThan(ENOUGH_BYTES);
    expect(recordsIn(directory.path('out')).equals(recordsIn(directory.path('expected')))).toBe(true);
  });

  it('a comparison, in which no thread can wait for the others', async () => {
    const inputs = writeInputs();
    const output = directory.path('out');
    await shuffle({ inputs, output, seed: 's', tempDirs: [directory.temp], memoryBytes: ENOUGH_BYTES });
    await doAsAdvised((memoryBytes) => verifyPermutation({ inputs, outputs: [output], memoryBytes, workers: WORKERS }));
  });
});
