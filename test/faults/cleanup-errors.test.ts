/**
 * Jobs that cannot remove their temp data at the end: the caller gets a warning, and the result stays the same, be it
 * an error or success.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { AbortError, type ShuffleOptions, SystemError, shuffle } from '#src/index.js';
import { sortLines } from '../fixtures/command-outcome.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';
import { SMALL_SIZES, SORTED_OUTPUT, writeInputs } from './small-job.js';

const directory = useTestDirectory();

/** What every removal of a directory ends with, done or not. */
const stuck = new SystemError('ERR_IO', 'cannot remove it: made up; remove it by hand');
vi.mock('#src/io/directories.js', async (importOriginal) => {
  const original = await importOriginal<typeof import('#src/io/directories.js')>();
  return {
    ...original,
    removeDirectory: (path: string) => {
      original.removeDirectory(path);
      throw stuck;
    },
    removeContents: (path: string, stays: (name: string) => boolean) => {
      original.removeContents(path, stays);
      throw stuck;
    },
  };
});

let warnings: string[] = [];
beforeEach(() => {
  warnings = [];
});

/** Runs a job that is stopped in `phase`; undefined: never. */
function runJob(phase: 'scatter' | 'shuffle' | undefined, options: Partial<ShuffleOptions>) {
  const controller = new AbortController();
  return shuffle(
    {
      inputs: writeInputs(directory),
      tempDirs: [directory.temp],
      memoryBytes: 2 ** 26,
      workers: 2,
      signal: controller.signal,
      onProgress: (progress) => {
        if (progress.phase === phase) controller.abort();
      },
      onWarning: (line) => warnings.push(line),
      ...options,
    },
    { ...SMALL_SIZES, inline: true },
  );
}

describe('temp data that cannot be removed', () => {
  it.each(['scatter', 'shuffle'] as const)('is reported with the error that ends the job in %s', async (phase) => {
    const thrown: unknown = await runJob(phase, { output: directory.path('out') }).catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(AbortError);
    const { message, cleanupErrors } = thrown as AbortError;
    const advice = phase === 'shuffle' ? '; a job started with `resume` keeps its finished work' : '';
    expect(message).toBe(`stopped before the end; no output was written${advice}`);
    expect(cleanupErrors.length).toBeGreaterThan(0);
    expect(new Set(cleanupErrors)).toEqual(new Set([stuck]));
    expect(warnings).toEqual(cleanupErrors.map(() => stuck.message));
  });

  it('is reported with that error when the output is a stream', async () => {
    const thrown: unknown = await runJob('scatter', { output: '/dev/null' }).catch((error: unknown) => error);
    expect(thrown).toMatchObject({
      message: 'stopped before the end; the output may be incomplete',
      cleanupErrors: [stuck],
    });
  });

  it('does not make a successful job fail', async () => {
    await runJob(undefined, { output: directory.path('out') });
    expect(sortLines(readFileSync(directory.path('out'), 'latin1'))).toEqual(SORTED_OUTPUT);
    expect(warnings.length).toBeGreaterThan(0);
    expect(readdirSync(directory.temp)).toEqual([]);
  });
});
