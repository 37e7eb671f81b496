/** `--profile`: the file written, and places where no file can be written. */
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
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

  it('needs a directory that is there, before the job begins', async () => {
    const line = (name: string) => `--profile ${name}/profile: ${name} is no directory; name a file in one`;
    for (const name of ['none', 'in'])
      await expectRefusal(directory.path(), () => pileshuf(`${name}/profile`), 2, line(name));
  });

  it('says in words why a directory cannot be reached', async () => {
    symlinkSync('loop', directory.path('loop'));
    const line = '--profile loop/profile: cannot write to loop: too many symbolic links';
    await expectRefusal(directory.path(), () => pileshuf('loop/profile'), 2, line);
  });

  it.each([
    ['out', /the output; name another file/],
    ['./out', /the output; name another file/],
    ['in', /one of the inputs; name another file/],
    ['-', /expected the name of a file; standard output is for records/],
  ])('takes the place of nothing else: %s', (profile, line) =>
    expectRefusal(directory.path(), () => pileshuf(profile, '--force'), 2, line),
  );

  it('lies outside of input directories, where a later job would read it', async () => {
    mkdirSync(directory.path('corpus'));
    writeFileSync(directory.path('corpus', 'data'), 'c\n');
    for (const profile of ['corpus/data', 'corpus/new', 'corpus/../corpus/new']) {
      const line = `--profile ${profile}: it lies in the input directory corpus, where a later job would read it; name a file elsewhere`;
      await expectRefusal(directory.path(), () => pileshuf(profile, '--force', 'corpus'), 2, line);
    }
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

  it('needs a name that is no directory', async () => {
    mkdirSync(directory.path('folder'));
    const line = /^pileshuf: --profile folder: it is a directory; expected the name of a file/;
    await expectRefusal(directory.path(), () => pileshuf('folder'), 2, line);
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
