/**
 * A resumable job that finds its result wrong, and does not know which part: an attempt to resume would fail in the same
 * way, so the error does not advise to resume, no file is kept, and the same command starts anew.
 */
import { existsSync, readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { useTestDirectory } from '../fixtures/temp-directory.js';
import { contentOf, runJob, undisturbed } from './resumable-job.js';
import type { Sabotage } from './sabotage.js';
import { OUTPUT_BYTES, writeInputs } from './small-job.js';

const directory = useTestDirectory();

describe('a wrong result', () => {
  it.each<[string, Sabotage, RegExp]>([
    ['a pile', { act: 'replace-gathered' }, /^verification failed: pile \d+ came out of pass 2 with /],
    [
      'an output',
      { act: 'short-output-write', outputBytes: OUTPUT_BYTES },
      /^verification failed: the staged output \S+\/0\.part has \d+ bytes on disk, expected/,
    ],
  ])('is not resumed, and leaves no files: %s', async (_, sabotage, message) => {
    const inputs = writeInputs(directory);
    const output = directory.path('out');
    const argv = [...inputs, '-o', output, '-T', directory.temp, '--workers', '2', '--seed', '1', '--resume'];
    const wrong = await runJob(directory, argv, { sabotage });
    expect(wrong).toMatchObject({ exitCode: 4, failure: { message: expect.stringMatching(message) } });
    expect(wrong.failure?.resume).toBeUndefined();
    expect(existsSync(output)).toBe(false);
    expect(readdirSync(directory.temp)).toEqual([]);
    const anew = await runJob(directory, argv);
    expect(anew).toMatchObject({ exitCode: 0, warnings: [] });
    expect(anew.report?.resumed).toBeUndefined();
    expect(contentOf(output)).toBe(await undisturbed(directory, { inputs }));
  });
});
