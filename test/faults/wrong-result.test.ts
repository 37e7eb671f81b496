/**
 * A resumable job that finds its result wrong. It makes a wrong pile once more, from its temp data. If that is wrong again,
 * the temp data stays for a later attempt. If nobody knows which part of the output is wrong, an attempt to resume would fail
 * in the same way: the error does not advise to resume, no file is kept, and the same command starts anew.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { ShuffleOptions } from '#src/index.js';
import { fromCi, sampled } from '../fixtures/scale.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';
import { contentOf, runJob, undisturbed } from './resumable-job.js';
import { OUTPUT_BYTES, writeInputs } from './small-job.js';

const directory = useTestDirectory();

const FORMS: readonly [string, readonly string[], Partial<ShuffleOptions>][] = [
  ['one file', [], {}],
  ['shards of equal counts', ['--shards', '3'], { shards: { by: 'count', shardCount: 3 } }],
  ['shards of equal sizes', ['--shard-bytes', '50000B'], { shards: { by: 'bytes', maxShardBytes: 50_000 } }],
  ['unique records', ['--unique'], { unique: true }],
  ['compressed members', ['--compress', 'gzip'], {}],
];

describe.each(sampled(FORMS, 4))('a pile that is wrong, in a job that writes %s', (_, words, options) => {
  it.runIf(fromCi)('is made once more, and again by a later attempt, from the temp data', async () => {
    const inputs = writeInputs(directory);
    const output = directory.path('out');
    const argv = [...inputs, '-o', output, '-T', directory.temp, '--workers', '2', '--seed', '1', '--resume', ...words];
    const wrong = await runJob(directory, argv, { sabotage: { act: 'repeat-gathered', nth: 9, ever: true } });
    expect(wrong).toMatchObject({
      exitCode: 4,
      failure: {
        message: expect.stringMatching(/^verification failed: twice in a row: pile \d+ came out of pass 2 with /),
        resume: { directory: expect.any(String) },
      },
    });
    expect(existsSync(output)).toBe(false);
    const later = await runJob(directory, argv, { sabotage: { act: 'repeat-gathered', nth: 4 } });
    expect(later).toMatchObject({
      exitCode: 0,
      warnings: [expect.stringMatching(/pile \d+ came out of pass 2 .*; it is tried once more$/)],
      splitsRead: 0,
    });
    expect(readdirSync(directory.temp)).toEqual([]);
    const written = words.includes('gzip') ? gunzipSync(readFileSync(output)).toString('latin1') : contentOf(output);
    expect(written).toEqual(await undisturbed(directory, { inputs, ...options }));
  });
});

describe('a wrong result', () => {
  it('in an unknown part is not resumed, and leaves no files', async () => {
    const inputs = writeInputs(directory);
    const output = directory.path('out');
    const argv = [...inputs, '-o', output, '-T', directory.temp, '--workers', '2', '--seed', '1', '--resume'];
    const wrong = await runJob(directory, argv, { sabotage: { act: 'short-output-write', outputBytes: OUTPUT_BYTES } });
    const message = /^verification failed: the staged output \S+\/0\.part has \d+ bytes on disk, expected/;
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
