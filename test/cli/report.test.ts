/** `--report` and `--profile`: the files written, and those that cannot be. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import { shuffle } from '#src/index.js';
import { commandInProcess } from '../fixtures/command-in-process.js';
import { DONE, seen } from '../fixtures/command-outcome.js';
import { runShell } from '../fixtures/run-shell.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';

const directory = useMemoryDirectory();

beforeEach(() => {
  writeFileSync(directory.path('in'), 'a\nb\n');
});

function pileshuf(report: string, ...more: readonly string[]) {
  const argv = ['-q', 'in', '-o', 'out', '-T', directory.temp, '--report', report, ...more];
  return commandInProcess(argv, { cwd: directory.path() });
}

const json = (name: string) => JSON.parse(readFileSync(directory.path(name), 'utf8'));

describe('--report', () => {
  it('writes a page or its data, in place of a former file only with --force', async () => {
    expect(seen(await pileshuf('r.html'))).toEqual(DONE);
    expect(readFileSync(directory.path('r.html'), 'utf8')).toMatch(/^<!DOCTYPE html>/);
    writeFileSync(directory.path('r.json'), 'x'.repeat(100_000));
    expect(seen(await pileshuf('r.json', '--force'))).toEqual(DONE);
    expect(json('r.json')).toMatchObject({ result: { records: 2, bytes: 4 } });
    expect(readdirSync(directory.path()).sort()).toEqual(
      ['in', 'out', 'r.html', 'r.json', 'temp'].filter((name) => existsSync(directory.path(name))),
    );
  });

  it('has the command that gives the same bytes', async () => {
    writeFileSync(directory.path('in'), Array.from({ length: 100 }, (_, i) => `${i}\n`).join(''));
    await pileshuf('r.json');
    const { call } = json('r.json');
    expect(call).toMatchObject({ isSeedDrawn: true, output: 'out' });
    const former = readFileSync(directory.path('out'));
    const script = `node=$1 command=$2; pileshuf() { "$node" "$command" "$@" --force; }; cd "$SITE" && ${call.command}`;
    expect(await runShell(script, [], { SITE: directory.path() })).toMatchObject({ exitCode: 0 });
    expect(readFileSync(directory.path('out')).equals(former)).toBe(true);
    await pileshuf('r.json', '--force', '--seed', "it's 1");
    expect(json('r.json').call.command).toMatch(/--seed 'it'\\''s 1'$/);
  });

  it('is not where standard output goes', async () => {
    const script = 'cd "$SITE" && "$@" > r.html; echo $?';
    const { stdout, stderr } = await runShell(script, ['in', '-T', directory.temp, '--report', 'r.html', '--force'], {
      SITE: directory.path(),
    });
    expect({ stdout: stdout.toString(), stderr }).toEqual({
      stdout: '2\n',
      stderr: expect.stringMatching(/it is standard output; name another file/),
    });
  });

  it('leaves the output alone when it fails, and says so', async () => {
    const file = directory.path('r.json');
    const options = {
      inputs: [directory.path('in')],
      output: directory.path('out'),
      tempDirs: [directory.temp],
      force: true,
    };
    const warnings: string[] = [];
    const appears = () => {
      if (!existsSync(file)) writeFileSync(file, 'of somebody else');
    };
    const job = { ...options, force: false, onProgress: appears, onWarning: (line: string) => warnings.push(line) };
    await expect(shuffle({ ...job, report: file })).resolves.toMatchObject({ records: 2 });
    expect(warnings).toEqual([
      expect.stringMatching(
        /^`report` .*r\.json: cannot write it: the output \S+ appeared .*; the output is complete$/,
      ),
    ]);
    expect(readFileSync(file, 'utf8')).toBe('of somebody else');
    expect(readdirSync(directory.path()).filter((name) => name.startsWith('.'))).toEqual([]);
    warnings.length = 0;
    const fails = () => {
      throw new Error('a full mailbox');
    };
    await expect(shuffle({ ...job, force: true, report: fails })).resolves.toMatchObject({ records: 2 });
    expect(warnings).toEqual(['`report`: cannot tell it: a full mailbox; the output is complete']);
    for (const report of [7, {}, { file: 7 }])
      await expect(shuffle({ ...options, report: report as never })).rejects.toThrow(
        /`report`: expected the path of a file, or a function/,
      );
  });
});

describe('--profile', () => {
  const profiled = (...words: readonly string[]) =>
    commandInProcess(['in', '-T', directory.temp, '--progress', 'none', ...words], { cwd: directory.path() });

  it('writes where the time went, with --force in place of a former file', async () => {
    writeFileSync(directory.path('profile'), 'x'.repeat(100_000));
    expect(await profiled('-q', '-o', 'out', '--profile', 'profile', '--force')).toMatchObject({
      exitCode: 0,
      stderr: '',
    });
    expect(json('profile')).toMatchObject({ records: 2, bytes: 4 });
    // Node starts before the job does.
    expect(json('profile').seconds.start).toBeGreaterThan(0);
    expect(json('profile').pass1.scatter).toBeGreaterThan(0);
  });

  it('leaves a shard alone that has its name, and fails nothing when it cannot be written after all', async () => {
    mkdirSync(directory.path('shards'));
    const shard = 'shards/shard-00000-of-00001';
    for (const [words, reason] of [
      [['-o', 'shards', '--shards', '1', '--profile', shard], 'it exists already'],
      [['-o', 'out', '--profile', '/dev/full'], 'no space left on the device'],
    ] as const) {
      const { exitCode, stderr } = await profiled(...words);
      expect(exitCode).toBe(0);
      const failed = `warning: --profile ${words.at(-1)}: cannot write it: ${reason}; the output is complete`;
      expect(stderr.split('\n')).toContain(`pileshuf: ${failed}`);
    }
    for (const name of [shard, 'out']) expect(readFileSync(directory.path(name), 'utf8')).toHaveLength(4);
  });
});
