/**
 * Jobs that are killed while their outputs get their final names, or while they remove their temp files. An output with a
 * final name is whole; `--resume` finishes the moves, and `--force` undoes them before the job starts anew.
 */

import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ShuffleOptions } from '#src/index.js';
import { atScale, fromCi, sampled } from '../fixtures/scale.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';
import { runInProcess } from './job-in-process.js';
import { type Content, contentOf, runJob, undisturbed } from './resumable-job.js';
import { OUTPUT_BYTES, SMALL_SIZES, smallSizes, writeInputs } from './small-job.js';

/** Few slices: each has a file to be removed in the end. */
const SIZES = { ...SMALL_SIZES, sliceBytes: OUTPUT_BYTES / 4 };
const FORMER = [
  ['notes.txt', 'precious notes\n'],
  ['shard-00000-of-00002.input', 'precious shard 0\n'],
  ['shard-00001-of-00002.input', 'precious shard 1\n'],
  ['.shard.complete.json', '{"shards":2}\n'],
] as const;

interface Kind {
  readonly name: string;
  readonly words: readonly string[];
  readonly options: Partial<ShuffleOptions>;
  /** Makes what is there before. */
  readonly prepare: (output: string) => void;
}

const shards = { by: 'count', shardCount: 3 } as const;
const KINDS: readonly Kind[] = [
  { name: 'a new file', words: [], options: {}, prepare: () => {} },
  {
    name: 'a file that is replaced',
    words: ['--force'],
    options: {},
    prepare: (output) => writeFileSync(output, 'precious\n'),
  },
  { name: 'a new directory', words: ['--shards', '3'], options: { shards }, prepare: () => {} },
  {
    name: 'an existing directory',
    words: ['--shards', '3'],
    options: { shards },
    prepare: (output) => makeDirectory(output, FORMER.slice(0, 1)),
  },
  {
    name: 'an existing directory, in which shards are replaced',
    words: ['--shards', '3', '--force'],
    options: { shards },
    prepare: (output) => makeDirectory(output, FORMER),
  },
];

function makeDirectory(path: string, files: readonly (readonly [string, string])[]): void {
  mkdirSync(path);
  for (const [name, text] of files) writeFileSync(join(path, name), text);
}

/** What of the output is under a final name is as it was, or as it is to be. */
function expectNothingHalf(output: string, former: Content | undefined, expected: Content): void {
  const content = existsSync(output) ? contentOf(output) : undefined;
  if (typeof content !== 'object') {
    expect([former, expected]).toContain(content);
    return;
  }
  const whole = [former, expected].flatMap((files) => (typeof files === 'object' ? files : []));
  for (const file of content) if (!file[0].startsWith('.pileshuf-')) expect(whole).toContainEqual(file);
}

/** Only every so many-th place is tried. */
const step = atScale(23, 3, 1);

const directory = useMemoryDirectory();

describe.each(sampled(KINDS, 5, 4))('$name', (kind) => {
  async function expectedOf(inputs: readonly string[]): Promise<Content> {
    kind.prepare(directory.path('undisturbed'));
    return await undisturbed(directory, { inputs, ...kind.options });
  }

  /** Kills the job after step `nth`. @returns whether it had that many. */
  async function killAt(output: string, at: 'output-move' | 'job-removal', nth: number, resume: readonly string[]) {
    const sabotage = { act: 'signal', signal: 'SIGKILL', at, nth, afterwards: true } as const;
    const { signal, exitCode } = await runJob(directory, argv(output, resume), {
      sabotage,
      sizes: smallSizes(SIZES),
    });
    if (signal === null) expect(exitCode).toBe(0);
    return signal === 'SIGKILL';
  }

  let inputs: string[] = [];
  const argv = (output: string, more: readonly string[], seed = '1') => [
    ...[...inputs, '-o', output, '-T', directory.temp, '--workers', '2', '--seed', seed],
    ...new Set([...kind.words, ...more]),
  ];

  it.each([
    ['outputs get their names', 'output-move', step],
    // They are all alike.
    ['what it had is removed', 'job-removal', 5 * step],
  ] as const)('is completed when the job is killed while %s', async (_, at, stride) => {
    inputs = writeInputs(directory);
    const expected = await expectedOf(inputs);
    let kills = 0;
    for (let nth = 1; ; nth += stride) {
      const output = directory.path(`out-${nth}`);
      kind.prepare(output);
      const former = existsSync(output) ? contentOf(output) : undefined;
      if (!(await killAt(output, at, nth, ['--resume']))) break;
      kills += 1;
      const what = `step ${nth}`;
      expectNothingHalf(output, former, expected);
      const { exitCode, failure, slicesMade } = await runInProcess(argv(output, ['--resume']), SIZES);
      // When the last trace of the job is gone, the job is finished.
      const isFinished = failure?.code === 'ERR_OUTPUT_EXISTS';
      if (!isFinished) expect(failure, what).toBe(undefined);
      expect(exitCode, what).toBe(isFinished ? 2 : 0);
      if (at === 'output-move') expect({ isFinished, slicesMade }, what).toEqual({ isFinished: false, slicesMade: [] });
      expect(contentOf(output), what).toEqual(expected);
      expect(readdirSync(directory.temp), what).toEqual([]);
    }
    expect(kills).toBeGreaterThan(0);
  });

  it.runIf(fromCi)('is made anew with --force when the job is killed while outputs get their names', async () => {
    inputs = writeInputs(directory);
    const expected = await expectedOf(inputs);
    for (const resume of [[], ['--resume']]) {
      let kills = 0;
      for (let nth = 1; ; nth += 4 * step) {
        const output = directory.path(`out-${resume.length}-${nth}`);
        kind.prepare(output);
        if (!(await killAt(output, 'output-move', nth, resume))) break;
        kills += 1;
        const { exitCode, report } = await runInProcess(argv(output, ['--force'], '2'), SIZES);
        expect({ exitCode, resumed: report?.resumed }).toEqual({ exitCode: 0, resumed: undefined });
        expect(contentOf(output)).not.toEqual(expected);
        expect(readdirSync(directory.temp)).toEqual([]);
      }
      expect(kills).toBeGreaterThan(0);
    }
  });
});
