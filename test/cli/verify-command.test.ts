/** `pileshuf verify`: what it prints, as text and as JSON, and its exit codes. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import { appendToStore } from '#src/index.js';
import { commandInProcess } from '../fixtures/command-in-process.js';
import { runCommand } from '../fixtures/run-command.js';
import { runShell } from '../fixtures/run-shell.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';

const directory = useMemoryDirectory();
const run = (...argv: string[]) => commandInProcess(['verify', ...argv], { cwd: directory.path() });

beforeEach(() => {
  mkdirSync(directory.path('in'));
  writeFileSync(directory.path('in', 'a'), '1\n2\n3\n');
  writeFileSync(directory.path('in', 'b'), '4\n\x1b[31m\n');
  writeFileSync(directory.path('out'), '\x1b[31m\n3\n1\n4\n2\n');
});

describe('outputs', () => {
  it('that have the records of the inputs are said to', async () => {
    const { exitCode, stdout, stderr } = await run('out', '--against', 'in/a', 'in/b');
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(stdout.toString()).toMatch(
      /^inputs {3}2 files, 5 records, 14 bytes, checksum [0-9a-f]{16}\noutputs {2}1 file, 5 records, 14 bytes, .*\nthe outputs have exactly the records of the inputs \(.* s\)\n$/,
    );
  });

  it('that do not end with exit code 4, and the records are shown', async () => {
    writeFileSync(directory.path('out'), '3\n1\n4\n2\n2\n');
    const { exitCode, stdout, stderr } = await run('out', '--against', 'in');
    expect(exitCode).toBe(4);
    expect(stderr).toBe(
      'pileshuf: verification failed: the outputs lack 1 record of the inputs and have 1 record that the inputs lack\n',
    );
    expect(stdout.toString().split('\n').slice(2)).toEqual([
      'missing  1 record:',
      '  in/b, byte 2 (6 bytes): \\x1b[31m\\n',
      'extra    1 record:',
      '  out, byte 6 (2 bytes; 1 in the inputs, 2 in the outputs): 2\\n',
      '',
    ]);
  });

  it('that have another header end with exit code 4, and the difference is shown once', async () => {
    writeFileSync(directory.path('out'), '0\n3\n2\n');
    const { exitCode, stdout, stderr } = await run('out', '--header', '1', '--against', 'in/a');
    expect({ exitCode, stderr }).toEqual({
      exitCode: 4,
      stderr: 'pileshuf: verification failed: the outputs have another header than the inputs\n',
    });
    expect(stdout.toString().split('\n').slice(2)).toEqual([
      'header   byte 0 of the header of out differs from that of in/a: expected "1\\n", got "0\\n"',
      '',
    ]);
  });

  it('are told of as JSON', async () => {
    const { exitCode, stdout } = await run('out', '--json', '--against', 'in/a');
    expect(exitCode).toBe(4);
    expect(JSON.parse(stdout.toString())).toMatchObject({
      isPermutation: false,
      inputs: { records: 3 },
      outputs: { records: 5 },
      differences: { extra: { records: 2 }, isComplete: true },
    });
  });

  it('may be told of by the exit code alone', async () => {
    expect(await run('out', '-q', '--against', 'in')).toMatchObject({ exitCode: 0, stdout: Buffer.of(), stderr: '' });
  });

  it('may be standard input or a pipe, which cannot be read again', async () => {
    const whole = await runCommand(['verify', '-', '--against', 'in'], {
      cwd: directory.path(),
      stdin: '4\n\x1b[31m\n3\n2\n1',
    });
    expect(whole).toMatchObject({ exitCode: 0, stderr: '' });
    const script = 'cd "$SITE" && "$1" "$2" verify <(head -n 4 out) --against in';
    const less = await runShell(script, [], { SITE: directory.path() });
    expect(less.exitCode).toBe(4);
    expect(less.stderr).toMatch(/4 records of 12 bytes, expected 5 of 14; a stream cannot be read again to find what /);
  });
});

describe('one directory', () => {
  it('is compared with its marker', async () => {
    mkdirSync(directory.path('shards'));
    await commandInProcess(['in', '-o', 'shards', '--shards', '2', '-q'], { cwd: directory.path() });
    const { exitCode, stdout } = await run('shards');
    expect(exitCode).toBe(0);
    expect(stdout.toString()).toMatch(
      /^shard {2}2 shards, 5 records, 14 B, checksum \S+: as the marker says\nthis does not tell whether these are /,
    );
    rmSync(directory.path('shards', 'shard-00001-of-00002'));
    const less = await run('shards', '--json');
    expect(less).toMatchObject({
      exitCode: 4,
      stderr: expect.stringMatching(/shards\/\.shard\.complete\.json: shard 1 of 2 is missing or doubled; /),
    });
    expect(JSON.parse(less.stdout.toString())).toMatchObject({ isWhole: false, sets: [{ missingShards: [1] }] });
  });

  it('may be a pile store', async () => {
    await appendToStore(directory.path('store'), { inputs: [directory.path('in')], piles: 2 }, { inline: true });
    const { exitCode, stdout } = await run('store');
    expect(exitCode).toBe(0);
    expect(stdout.toString()).toMatch(/^the pile store store is whole: 5 records, 14 B, checksum \S+, state 2\n$/);
    const withOption = await run('store', '--csv');
    expect(withOption).toMatchObject({
      exitCode: 2,
      stderr: expect.stringMatching(/--csv has no effect on a pile st/),
    });
  });
});
