/** `--profile`: the file written, and files that cannot be written. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import { commandInProcess } from '../fixtures/command-in-process.js';
import { DONE, seen } from '../fixtures/command-outcome.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';
import { expectRefusal } from './refusal.js';

const directory = useTestDirectory();

beforeEach(() => {
  writeFileSync(directory.path('in'), 'a\nb\n');
});

function pileshuf(profile: string, ...more: readonly string[]) {
  const argv = ['-q', 'in', '-o', 'out', '-T', directory.temp, '--profile', profile, ...more];
  return commandInProcess(argv, { cwd: directory.path() });
}

describe('--profile', () => {
  it('writes where the time went, with --force in place of a former file', async () => {
    writeFileSync(directory.path('profile'), 'x'.repeat(100_000));
    const line = 'pileshuf: --profile profile: the file exists already; give --force to replace it';
    await expectRefusal(directory.path(), () => pileshuf('profile'), 2, line.replace('pileshuf: ', ''));
    expect(seen(await pileshuf('profile', '--force'))).toEqual(DONE);
    const profile = JSON.parse(readFileSync(directory.path('profile'), 'utf8'));
    expect(profile).toMatchObject({ records: 2, bytes: 4 });
    // Node starts before the job does.
    expect(profile.seconds.start).toBeGreaterThan(0);
    expect(profile.pass1.scatter).toBeGreaterThan(0);
  });

  it('leaves a shard alone that has its name', async () => {
    mkdirSync(directory.path('out'));
    const shard = 'out/shard-00000-of-00001';
    const { exitCode, stderr } = await commandInProcess(
      [...['in', '-o', 'out', '--shards', '1', '-T', directory.temp], '--progress', 'none', '--profile', shard],
      { cwd: directory.path() },
    );
    expect(exitCode).toBe(0);
    expect(stderr).toMatch(
      /^pileshuf: warning: --profile .*: cannot write it: it exists already; the output is complete$/m,
    );
    expect(readFileSync(directory.path(shard), 'utf8')).toHaveLength(4);
  });

  it('fails nothing when it cannot be written after all', async () => {
    const { exitCode, stderr } = await commandInProcess(
      ['in', '-o', 'out', '-T', directory.temp, '--progress', 'none', '--profile', '/dev/full'],
      { cwd: directory.path() },
    );
    expect(exitCode).toBe(0);
    expect(stderr).toMatch(
      /^pileshuf: warning: --profile \/dev\/full: cannot write it: no space left on the device; the output is complete$/m,
    );
    expect(existsSync(directory.path('out'))).toBe(true);
  });
});
