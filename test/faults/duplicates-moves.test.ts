/**
 * The output and the file of duplicates appear together. The process is killed before each call from the first that moves them,
 * or the call fails: the output is never there without its duplicates, and what they replace is there until they are. The same
 * command then makes both.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type ShuffleOptions, shuffle } from '#src/index.js';
import { replaceFileCalls } from '#src/io/file-calls.js';
import { sampled } from '../fixtures/scale.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';
import { FaultyFileCalls } from './faulty-file-calls.js';
import { callsOf, killBefore } from './stopped-attempt.js';

const directory = useMemoryDirectory();

interface Kind {
  readonly name: string;
  readonly options: Partial<ShuffleOptions>;
  readonly hasFormer: boolean;
}

const SHARDS = { shards: { by: 'count', shardCount: 2 } } as const;

const KINDS: readonly Kind[] = [
  { name: 'a file', options: {}, hasFormer: false },
  { name: 'a file in place of another', options: { force: true }, hasFormer: true },
  { name: 'shards in a new directory', options: SHARDS, hasFormer: false },
  { name: 'shards in place of others', options: { ...SHARDS, force: true }, hasFormer: true },
];

const root = () => directory.path('job');
const watches = (path: string) => path === root() || path.startsWith(`${root()}/`);

function optionsOf({ options }: Kind): ShuffleOptions {
  const [output, duplicates] = ['result', 'lists/d'].map((name) => join(root(), name));
  const places = { inputs: [directory.path('in')], output, duplicates, tempDirs: [join(root(), 't')] };
  return { ...places, unique: true, seed: '1', workers: 1, memoryBytes: 2 ** 27, ...options };
}

const run = (kind: Kind, more: Partial<ShuffleOptions> = {}) =>
  shuffle({ ...optionsOf(kind), ...more }, { inline: true, pileCount: 2 });

async function prepare(kind: Kind): Promise<void> {
  rmSync(root(), { recursive: true, force: true });
  for (const name of ['', 't', 'lists']) mkdirSync(join(root(), name));
  if (!kind.hasFormer) return;
  writeFileSync(directory.path('in'), 'former\nformer\n');
  await run(kind);
  writeInput();
}

function writeInput(): void {
  writeFileSync(directory.path('in'), Array.from({ length: 60 }, (_, i) => `${i % 40}\n`).join(''));
}

/** What can be seen of the output, and of the duplicates. */
function visible() {
  const read = (path: string) => (existsSync(path) ? readFileSync(path, 'latin1') : '');
  const output = join(root(), 'result');
  const isDirectory =
    existsSync(output) &&
    readdirSync(root(), { withFileTypes: true }).some((entry) => entry.name === 'result' && entry.isDirectory());
  const names = isDirectory ? readdirSync(output).filter((name) => name.startsWith('shard')) : [];
  return {
    output: isDirectory
      ? names
          .sort()
          .map((name) => `${name}: ${read(join(output, name))}`)
          .join('')
      : read(output),
    duplicates: read(join(root(), 'lists/d')),
  };
}

/** Makes locks look like those of a process that is no more. */
function disownLocks(): void {
  for (const name of readdirSync(root(), { recursive: true }).map(String)) {
    if (!basename(name).startsWith('lock+')) continue;
    const path = join(root(), name);
    const other = (token: string) => createHash('sha1').update(token).digest('hex').slice(0, 16);
    renameSync(path, path.replace(/[0-9a-f]{16}$/, other));
  }
}

describe.each(sampled(KINDS, 2, 1))('$name and its duplicates', (kind) => {
  const isWhole = (seen: object, former: object, made: object) =>
    [former, made].some((each) => JSON.stringify(each) === JSON.stringify(seen));

  it('are never there one without the other', async () => {
    writeInput();
    await prepare(kind);
    const former = visible();
    const calls = await callsOf(watches, () => run(kind));
    const made = visible();
    expect(made.duplicates).toContain('"record":"0\\n"');
    const first = calls.findIndex(({ to = '' }) => to.endsWith('.job/commit'));
    expect(first).toBeGreaterThan(0);
    const moves = calls.slice(first).map((_, i) => first + i + 1);
    const problems: string[] = [];
    for (const nth of sampled(moves, 30, 0, 2)) {
      await prepare(kind);
      await killBefore(nth, watches, () => run(kind).catch(() => {}));
      const seen = visible();
      // Shards replace others one by one; the marker comes last.
      const isSeveral = kind.hasFormer && kind.options.shards !== undefined;
      const isAlone = seen.output === made.output && seen.duplicates !== made.duplicates;
      const isHalf = !isSeveral && ![former.output, made.output].includes(seen.output);
      if (isAlone || isHalf) problems.push(`killed before ${nth}: ${JSON.stringify(calls[nth - 1])}`);
      disownLocks();
      await run(kind, { force: true });
      if (!isWhole(visible(), made, made))
        problems.push(`killed before ${nth}, and done again: ${JSON.stringify(visible())}`);
      expect(readdirSync(root()).sort()).toEqual(['lists', 'result', 't']);
    }
    for (const nth of sampled(moves, 30, 15, 2)) {
      await prepare(kind);
      const faulty = new FaultyFileCalls({ kind: 'fails', errno: 'EIO' }, nth, watches);
      const calledBefore = replaceFileCalls(faulty.calls);
      await run(kind).catch(() => {});
      await faulty.settle();
      replaceFileCalls(calledBefore);
      if (!isWhole(visible(), former, made))
        problems.push(`failed: ${JSON.stringify(faulty.struck)} ${JSON.stringify(visible()).slice(0, 300)}`);
    }
    expect(problems).toEqual([]);
  });
});

it('a journal that is left names the advice', async () => {
  const [kind] = KINDS;
  if (kind === undefined) return;
  writeInput();
  await prepare(kind);
  const calls = await callsOf(watches, () => run(kind));
  const nth = calls.findIndex(({ name, to = '' }) => name === 'link' && to.endsWith('/result')) + 1;
  await prepare(kind);
  await killBefore(nth, watches, () => run(kind).catch(() => {}));
  disownLocks();
  rmSync(join(root(), 'lists/d'), { force: true });
  await expect(run(kind)).rejects.toMatchObject({
    code: 'ERR_JOB_UNFINISHED',
    message: expect.stringMatching(/: give `resume` to resume it, or `force` to discard it$/),
  });
});
