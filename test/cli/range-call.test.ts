/** Calls with --input-range: what the words mean, and the command as a process: closed pipes, signals, full disks. */
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseCommand } from '#src/cli/command.js';
import { command } from '#src/cli/commands/shuffle.js';
import { rangeOptionsOf } from '#src/cli/range-call.js';
import type { RangeOptions } from '#src/index.js';
import { commandInProcess } from '../fixtures/command-in-process.js';
import { runCommand } from '../fixtures/run-command.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

const directory = useTestDirectory();

function parse(...argv: string[]): RangeOptions {
  const parsed = parseCommand(command, argv);
  return parsed.kind === 'print' ? expect.fail('it prints') : rangeOptionsOf(parsed);
}

describe('the words of a range', () => {
  it.each<[string, RangeOptions]>([
    ['-i 1-10', { range: { low: 1n, high: 10n } }],
    ['-i1-10', { range: { low: 1n, high: 10n } }],
    ['--input-range=007-0010', { range: { low: 7n, high: 10n } }],
    ['-i 0-18446744073709551615', { range: { low: 0n, high: 2n ** 64n - 1n } }],
    ['-i 1-0', { range: { low: 1n, high: 0n } }],
    ['-i 1-10 -n 5 -n3 --head-count=99999999999999999999999', { range: { low: 1n, high: 10n }, headCount: 3 }],
    [
      '-ri 1-9 -n 0 -z -o out --force --seed s --workers 2 -q --progress none',
      {
        range: { low: 1n, high: 9n },
        repeat: true,
        headCount: 0,
        zeroTerminated: true,
        output: 'out',
        force: true,
        seed: 's',
        workers: 2,
      },
    ],
  ])('%s', (line, expected) => {
    expect(parse(...line.split(' '))).toEqual(expected);
  });
});

describe('the command', () => {
  const { path } = directory;
  const call = (line: string) => commandInProcess(line.split(' '), { cwd: path() });

  it('writes a range into a file, with a summary', async () => {
    const { exitCode, stdout, stderr } = await call('-i 1-5 --seed 42 -o out --workers 2');
    expect({ exitCode, stdout: stdout.toString() }).toEqual({ exitCode: 0, stdout: '' });
    expect(readFileSync(path('out'), 'latin1').split('\n').sort()).toEqual(['', '1', '2', '3', '4', '5']);
    expect(stderr).toMatch(
      /^pileshuf: 5 numbers, 10 bytes in [\d.]+ s, [\d.]+ k?B\/s, seed 42, checksum [0-9a-f]{16}\n$/,
    );
    const json = await call('-i 1-5 --seed 42 -o out --force --progress json');
    const events = json.stderr
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(events.at(-1)).toMatchObject({ event: 'summary', numbers: 5, bytes: 10, seed: '42' });
    expect(events[0]).toMatchObject({ event: 'plan', bytesTotal: 10 });
    expect(events[1]).toMatchObject({ event: 'progress', phase: 'shuffle', pass: 1, passes: 1, bytesTotal: 10 });
  });

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('ends with the code of %s, and leaves nothing', async (signal, exitCode) => {
    const toFile = runCommand(['-i', '1-100000000', '-o', path('out'), '--workers', '2'], {
      onSpawn: (pid) => {
        const wait = setInterval(() => {
          if (!readdirSync(path()).some((name) => name.endsWith('.out'))) return;
          clearInterval(wait);
          process.kill(pid, signal);
        }, 20);
      },
    });
    const result = await toFile;
    expect(result).toMatchObject({
      exitCode,
      stderr: `pileshuf: interrupted by ${signal}: stopped before the end; no output was written\n`,
    });
    expect(readdirSync(path())).toEqual(['temp']);
  });

  it('writes to standard output by the name -, even where a directory has this name', async () => {
    mkdirSync(path('-'));
    const { exitCode, stdout, stderr } = await runCommand(['-i', '7-7', '-o', '-', '-q'], { cwd: path() });
    expect({ exitCode, stdout: stdout.toString(), stderr }).toEqual({ exitCode: 0, stdout: '7\n', stderr: '' });
  });
});
