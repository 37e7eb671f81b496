/**
 * Outputs and temp directories that cannot or must not be written: an exit code and one line before any record is
 * read, and existing files stay unchanged.
 */
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import { commandInProcess } from '../fixtures/command-in-process.js';
import { DONE, seen } from '../fixtures/command-outcome.js';
import { reasonNotToMount, useBindMounts, useMounts } from '../fixtures/mounts.js';
import { runCommand } from '../fixtures/run-command.js';
import { runShell } from '../fixtures/run-shell.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';
import { expectRefusal } from './refusal.js';
import { openToUnprivileged, reasonNotToDropPrivileges, runUnprivileged } from './unprivileged.js';

const directory = useTestDirectory();

beforeEach(() => {
  writeFileSync(directory.path('in'), 'a\nb\n');
  mkdirSync(directory.path('corpus'));
  writeFileSync(directory.path('corpus', '1'), 'c\nd\n');
  writeFileSync(directory.path('existing'), 'precious\n');
});

/** Runs in the test's directory; `argv` names the output, and the input unless that is `in`. */
function pileshuf(argv: readonly string[], input = 'in') {
  const words = ['-q', input, ...argv, '-T', directory.temp];
  const run = argv.includes('-o') ? commandInProcess : runCommand;
  return run(words, { cwd: directory.path() });
}

describe('an output file', () => {
  it('may be the input with --force', async () => {
    expect(seen(await pileshuf(['-o', 'in', '--force']))).toEqual(DONE);
    expect(readFileSync(directory.path('in'), 'utf8').split('\n').sort()).toEqual(['', 'a', 'b']);
  });
});

describe('a temp directory', () => {
  it('may lie in an input directory', async () => {
    const argv = ['-q', 'corpus', '-T', 'corpus', '-o', 'out'];
    expect(seen(await commandInProcess(argv, { cwd: directory.path() }))).toEqual(DONE);
    expect(readdirSync(directory.path('corpus'))).toEqual(['1']);
  });

  it('is told with what named it', async () => {
    const run = (TMPDIR: string, output: string[]) =>
      runCommand(['-q', 'in', ...output], { cwd: directory.path(), env: { TMPDIR } });
    for (const output of [['-o', 'out'], []]) {
      await expectRefusal(
        directory.path(),
        () => run('none', output),
        2,
        'the temp directory none (of the variable TMPDIR) does not exist; name another with --temp-dir',
      );
    }
  });
});

describe.skipIf(reasonNotToDropPrivileges)(`permissions ${reasonNotToDropPrivileges ?? ''}`, () => {
  beforeEach(() => openToUnprivileged(directory.path()));

  it('are missing to replace a file of another user in a directory with the sticky bit', async () => {
    mkdirSync(directory.path('sticky'));
    chmodSync(directory.path('sticky'), 0o1777);
    writeFileSync(directory.path('sticky', 'shard-00000-of-00001'), 'precious\n');
    chmodSync(directory.path('sticky', 'shard-00000-of-00001'), 0o666);
    for (const argv of [
      ['-o', 'sticky/shard-00000-of-00001'],
      ['-o', 'sticky', '--shards', '2'],
    ]) {
      await expectRefusal(
        directory.path(),
        () => runUnprivileged(['in', ...argv, '-T', directory.temp, '--force'], directory.path()),
        2,
        /^pileshuf: the output sticky\/shard-00000-of-00001 cannot be replaced: it belongs to user 0, and in .*\/sticky only the owner of a file may replace it \(sticky bit\); name another output$/,
      );
    }
  });

  const NO_OUTPUT =
    /^pileshuf: cannot make the output in .*\/locked: permission denied; expected a writable directory$/;

  it.each<[string, readonly string[], RegExp | string, Record<string, string>?]>([
    [
      'the temp directory',
      ['-T', 'locked', '-o', 'out'],
      'cannot make a directory in the temp directory locked: permission denied; name a writable directory with -T',
    ],
    ['the output, beside which temp data would lie', ['-o', 'locked/out'], NO_OUTPUT, { TMPDIR: '' }],
    ['one file', ['-o', 'locked/out'], NO_OUTPUT],
    ['shards in an existing directory', ['-o', 'locked', '--shards', '2'], NO_OUTPUT],
    ['shards in a new directory', ['-o', 'locked/new', '--shards', '2'], NO_OUTPUT],
  ])('are missing for %s', async (_, words, line, env = { TMPDIR: directory.temp }) => {
    mkdirSync(directory.path('locked'), { mode: 0o555 });
    const run = () => runUnprivileged(['in', ...words], directory.path(), env);
    await expectRefusal(directory.path(), run, 1, line);
  });
});

describe.skipIf(reasonNotToMount)(`an output behind a mount ${reasonNotToMount ?? ''}`, () => {
  const bind = useBindMounts();

  it.each([
    ['the file', ['-o', 'mounted'], 'mounted'],
    ['the numbers', ['-o', 'mounted'], 'mounted'],
    ['a shard', ['-o', 'corpus', '--shards', '2'], 'corpus/shard-00000-of-00001'],
  ])('is refused when it is itself a mount point: %s', async (what, argv, path) => {
    writeFileSync(directory.path(path), 'precious\n');
    bind(directory.path('existing'), directory.path(path));
    const read = what === 'the numbers' ? ['-i', '1-9'] : ['in', '-T', directory.temp];
    await expectRefusal(
      directory.path(),
      () => commandInProcess(['-q', ...read, ...argv, '--force'], { cwd: directory.path() }),
      2,
      `the output ${path} cannot be replaced: it is a mount point, as of a file that is mounted into a container; mount its directory instead, or name another output and copy that`,
    );
  });

  it('is made in a directory that is a mount of the same file system', async () => {
    mkdirSync(directory.path('volume'));
    mkdirSync(directory.path('shards'));
    bind(directory.path('volume'), directory.path('shards'));
    const argv = ['-o', 'shards', '--shards', '2'];
    for (const force of [[], ['--force']]) expect(seen(await pileshuf([...argv, ...force]))).toEqual(DONE);
    const made = ['.shard.complete.json', 'shard-00000-of-00002', 'shard-00001-of-00002'];
    expect(readdirSync(directory.path('volume')).sort()).toEqual(made);
  });
});

describe.skipIf(reasonNotToMount)(`a full disk ${reasonNotToMount ?? ''}`, () => {
  const mount = useMounts();

  it.each(['--report full/r.json', '--report full/r.html', '--profile full/p.json'])(
    'leaves the output and a warning: %s',
    async (words) => {
      mount(directory.path('full'), 'size=8k');
      const [option = '', file = ''] = words.split(' ');
      writeFileSync(directory.path('full', 'data'), Buffer.alloc(8192));
      const { exitCode, stderr } = await commandInProcess(
        ['in', '-o', 'out', '-T', directory.temp, '--progress', 'none', option, file],
        { cwd: directory.path() },
      );
      expect(exitCode).toBe(0);
      const failed = `warning: ${words}: cannot write it: no space left on the device; the output is complete`;
      expect(stderr.split('\n')).toEqual([`pileshuf: ${failed}`, expect.stringMatching(/^pileshuf: 2 records/), '']);
      expect(readdirSync(directory.path('full'))).toEqual(['data']);
    },
  );
});

it('a name that is not UTF-8, which would become another name, is refused', async () => {
  const script = `cd '${directory.path()}' && "$@" -T '${directory.temp}' -o $'o\\xff'`;
  await expectRefusal(
    directory.path(),
    () => runShell(script, ['-q', 'in']),
    2,
    'the word o\ufffd is not valid UTF-8; rename the file, or use < or >; in --delimiter, write a byte as \\xHH',
  );
});
