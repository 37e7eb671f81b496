/**
 * A job that was killed while all its data was in memory: nothing can be resumed. It starts anew, with the same checks
 * as any job.
 */
import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type ShuffleOptions, shuffle } from '#src/index.js';
import { systemFileCalls } from '#src/io/file-calls.js';
import { useFileCalls } from '../fixtures/replaced-file-calls.js';
import { fromCi } from '../fixtures/scale.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';
import { killBefore, lastCall } from './stopped-attempt.js';

const directory = useTestDirectory();
const calls = useFileCalls();

const run = (options: Partial<ShuffleOptions> = {}) =>
  shuffle(
    {
      inputs: [directory.path('in')],
      output: directory.path('out'),
      tempDirs: [directory.temp],
      seed: 's',
      resume: true,
      force: true,
      ...options,
    },
    { inline: true },
  );
const watches = (path: string) => path.startsWith(directory.path());

describe('a job that was killed with all in memory', () => {
  it.runIf(fromCi)('is refused when there is too little space for it on disk', async () => {
    writeFileSync(directory.path('in'), 'a line\n'.repeat(2_000_000));
    const opensInput = await lastCall(
      ({ name, path }) => name === 'open' && path === directory.path('in'),
      watches,
      () => run(),
    );
    await killBefore(opensInput, watches, () => run());
    calls.replace({
      statFileSystem: (path) => ({ ...systemFileCalls.statFileSystem(path), bavail: 0, bfree: 0 }),
    });
    const onDisk = run({ memoryBytes: 2 ** 24 });
    await expect(onDisk).rejects.toMatchObject({
      code: 'ERR_NO_SPACE',
      message: expect.stringMatching(/^not enough space/),
    });
    calls.replace({});
    expect((await run()).records).toBe(2_000_000);
  });
});
