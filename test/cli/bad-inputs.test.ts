/**
 * Inputs that cannot be read or hold the wrong content: exit code 3, one line that names the input, no
 * output, and an existing output stays unchanged even with --force.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { gzipSync } from 'node:zlib';
import { beforeEach, describe, it } from 'vitest';
import { commandInProcess } from '../fixtures/command-in-process.js';
import { runCommand } from '../fixtures/run-command.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';
import { expectRefusal } from './refusal.js';
import { openToUnprivileged, reasonNotToDropPrivileges, runUnprivileged } from './unprivileged.js';

const directory = useTestDirectory();

beforeEach(() => {
  writeFileSync(directory.path('good'), 'a\nb\n');
  writeFileSync(directory.path('existing'), 'precious\n');
});

/** The bad input comes behind a good one; `output` is replaced if all goes well, which it must not. */
async function expectBadInput(
  inputs: readonly string[],
  line: RegExp | string,
  { options = [], stdin }: { readonly options?: readonly string[]; readonly stdin?: Buffer | string } = {},
) {
  const argv = ['-q', 'good', ...inputs, '-T', directory.temp, '-o', 'existing', '--force', '-S', '64M', ...options];
  const cwd = directory.path();
  const run = () => (stdin === undefined ? commandInProcess(argv, { cwd }) : runCommand(argv, { cwd, stdin }));
  await expectRefusal(cwd, run, 3, line);
}

describe('an input that cannot be read', () => {
  it('is reported when it is a socket', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(directory.path('socket'), resolve));
    try {
      await expectBadInput(['socket'], 'the input socket is neither a file, a directory nor a pipe');
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
  });

  describe.skipIf(reasonNotToDropPrivileges)(`without permission ${reasonNotToDropPrivileges ?? ''}`, () => {
    beforeEach(() => openToUnprivileged(directory.path()));

    it.each([
      ['a file', 'secret', 'cannot open secret: permission denied'],
      ['a file of a directory', 'corpus', 'cannot open corpus/secret: permission denied'],
      ['a directory', 'locked', 'cannot list the directory locked: permission denied'],
      ['a file below a directory', 'locked/file', 'cannot examine locked/file: permission denied'],
    ])('is reported: %s', async (_, input, line) => {
      writeFileSync(directory.path('secret'), 's\n', { mode: 0o000 });
      mkdirSync(directory.path('corpus'));
      writeFileSync(directory.path('corpus', 'secret'), 's\n', { mode: 0o000 });
      mkdirSync(directory.path('locked'), { mode: 0o000 });
      const argv = ['good', input, '-T', directory.temp, '-o', 'existing', '--force'];
      await expectRefusal(directory.path(), () => runUnprivileged(argv, directory.path()), 3, line);
    });
  });
});

describe('what comes through standard input', () => {
  it('is reported when it is a gzip file that is cut off', async () => {
    const text = Array.from({ length: 20_000 }, (_, i) => `${(i * 2_654_435_761) % 4_294_967_296}\n`).join('');
    const whole = gzipSync(text);
    const line = /: the gzip data ends at byte \d+ \(compressed\) inside a member: the file is truncated; /;
    await expectBadInput(['-'], line, { stdin: whole.subarray(0, whole.length >> 1) });
  });

  it('is reported when a record of it is too long, with its place', () =>
    expectBadInput(
      ['-'],
      /^pileshuf: (standard input|-): the record at byte 6 is longer than the 3000 bytes that --max-record allows; raise it/,
      { options: ['--max-record', '3000B'], stdin: `short\n${'x'.repeat(4000)}\nshort\n` },
    ));
});
