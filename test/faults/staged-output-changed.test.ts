/**
 * A resumed job reads the staged output of the earlier attempt back before it relies on it: one changed byte ends the job,
 * and no output appears.
 */

import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { exitCodeOf } from '#src/cli/exit-code.js';
import type { PileshufError } from '#src/index.js';
import { readFinishedRanges } from '#src/job-directory/notes.js';
import { recordBytesOf } from '#src/sinks/output-target.js';
import { sampled } from '../fixtures/scale.js';
import { jobDirectoryOf, useStoppedJob } from './stopped-job.js';
import { COMPRESSED_SHARDS, FILE } from './tiny-job-kinds.js';

describe.each(sampled([FILE, COMPRESSED_SHARDS], 2))('$name', (kind) => {
  const stopped = useStoppedJob(kind);

  /** As they lie in the files: they are counted from the end of the header. */
  const finishedRegions = () =>
    readFinishedRanges(jobDirectoryOf(stopped().job), { pileCount: 4, mostShards: 3 })
      .ranges.flatMap((range) => range.regions)
      .map((region) => ({
        ...region,
        start: stopped().job.storedHeaderBytes + region.start,
        end: stopped().job.storedHeaderBytes + region.end,
      }));

  function staged(shard: number): string {
    const name = readdirSync(stopped().job.outputDirectory).find((entry) => entry.endsWith('.out')) ?? '';
    return join(stopped().job.outputDirectory, name, `${shard}.part`);
  }

  it('resumes where nothing changed', async () => {
    const bytes = recordBytesOf(finishedRegions());
    expect((await stopped().job.run()).resumed?.outputBytes).toBe(bytes);
    expect(stopped().job.content()).toEqual(stopped().expected);
    expect(stopped().job.leftovers()).toEqual([]);
  });

  it('is refused for the first and the last byte of each region, until --force', async () => {
    for (const { shard, start, end } of finishedRegions()) {
      for (const position of [start, end - 1]) {
        const path = staged(shard);
        const bytes = readFileSync(path);
        const former = bytes[position] ?? 0;
        for (const [byte, isRight] of [
          [former ^ 1, false],
          [former, true],
        ] as const) {
          bytes[position] = byte;
          writeFileSync(path, bytes);
          if (!isRight) await expectRefused(`bytes ${start} to ${end} of the staged output ${path} are not what`);
        }
      }
    }
    expect((await stopped().job.run()).resumed?.outputBytes).toBeGreaterThan(0);
    expect(stopped().job.content()).toEqual(stopped().expected);
  });

  it('starts anew with --force', async () => {
    const [{ shard, start } = expect.fail('there is one')] = finishedRegions();
    const path = staged(shard);
    const bytes = readFileSync(path);
    bytes[start] = (bytes[start] ?? 0) ^ 1;
    writeFileSync(path, bytes);
    await expectRefused(path);
    await stopped().job.run({ resume: false, force: true });
    expect(stopped().job.content()).toEqual(stopped().expected);
    expect(stopped().job.leftovers()).toEqual([]);
  });

  it('is refused when an output is shorter or gone', async () => {
    const [{ shard, end } = expect.fail('there is one')] = finishedRegions();
    const path = staged(shard);
    const bytes = readFileSync(path);
    writeFileSync(path, bytes.subarray(0, end - 1));
    await expectRefused(path);
    writeFileSync(path, bytes.subarray(0, end - 1 - stopped().job.storedHeaderBytes));
    await expectRefused(`the staged output ${path} has ${statSync(path).size} bytes, expected at least the `);
    rmSync(path);
    await expectRefused(`the staged output ${path} has 0 bytes, expected at least the `);
  });

  /** All files stay, and the error does not advise to resume. */
  async function expectRefused(message: string) {
    const before = stopped().job.leftovers();
    const failure = (await stopped()
      .job.run()
      .catch((error: unknown) => error)) as PileshufError;
    expect(failure).toMatchObject({ code: 'ERR_VERIFICATION', unfinishedJob: undefined });
    expect(failure.message).toContain(message);
    expect(failure.message).toMatch(/; give `force` without `resume` to start anew$/);
    expect(exitCodeOf(failure, undefined)).toBe(4);
    expect(stopped().job.leftovers()).toEqual(before);
    expect(stopped().job.content()).toEqual({});
  }
});
