/** Jobs whose inputs, temp data and output lie on one disk that rotates, which takes one call at a time. */
import { readFileSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { type ShuffleOptions, shuffle } from '#src/index.js';
import { SMALL_SIZES, SORTED_OUTPUT, writeInputs } from '../faults/small-job.js';
import { sortLines } from '../fixtures/command-outcome.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

vi.mock('#src/io/devices.js', async (importOriginal) => ({
  ...(await importOriginal<object>()),
  isAnonymousDevice: () => false,
  describeDevice: () => ({ id: 'disk', deviceClass: 'rotating', ioLimit: 1 }),
}));

const directory = useTestDirectory();

describe.each([
  ['on the calling thread', true],
  ['on threads', false],
])('a job %s', (_, inline) => {
  it.each<[string, Partial<ShuffleOptions>]>([
    ['that can be resumed', { resume: true }],
    ['of shards that can be resumed', { resume: true, shards: { by: 'count', shardCount: 3 } }],
    ['that leaves nothing', {}],
  ])('%s comes to its end', async (__, options) => {
    const output = directory.path('out');
    const { shards } = await shuffle(
      { inputs: writeInputs(directory), output, tempDirs: [directory.temp], workers: 2, ...options },
      { ...SMALL_SIZES, inline },
    );
    const text = (shards.length > 0 ? shards : [output]).map((path) => readFileSync(path, 'latin1')).join('');
    expect(sortLines(text)).toEqual(SORTED_OUTPUT);
  });
});
