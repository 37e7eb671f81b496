/**
 * Jobs that are stopped early: by a signal, by a reader that closes the output, or by the death of a worker. Each ends soon,
 * with the exit code of its cause, leaves no files, and keeps an existing output unchanged.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { seen } from '../fixtures/command-outcome.js';
import { makePipe } from '../fixtures/make-pipe.js';
import { type CommandRun, runCommand } from '../fixtures/run-command.js';
import { IN_TIME, runShell } from '../fixtures/run-shell.js';
import { sampled } from '../fixtures/scale.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';
import { type Sabotage, withSabotage } from './sabotage.js';
import { makeExisting, smallSizes, writeInputs } from './small-job.js';

const directory = useTestDirectory();

let inputs: string[] = [];
const existing = () => directory.path('existing');
let expectExistingUntouched: () => void;
beforeEach(() => {
  inputs = writeInputs(directory);
  expectExistingUntouched = makeExisting(existing());
});

function options(): string[] {
  return ['-q', '-T', directory.temp, '--workers', '2', '--seed', '1'];
}

/** Runs the job on the existing output. */
function shuffleUnder(sabotage: Sabotage) {
  const { nodeOptions, env } = withSabotage(sabotage);
  const run: CommandRun = { nodeOptions, env: { ...env, ...smallSizes() } };
  return runCommand([...options(), ...inputs, '-o', existing(), '--force'], run);
}

/** Resolves once the job has made its temp directory, which it does right before it reads. */
async function tempDirectoryMade(): Promise<void> {
  while (readdirSync(directory.temp).length === 0) await delay(10);
}

/** The command that a script runs under `IN_TIME` in the background, once it has made its temp directory. */
async function commandReady(pidFile: string): Promise<number> {
  await tempDirectoryMade();
  const parent = readFileSync(pidFile, 'utf8').trim();
  return Number(readFileSync(`/proc/${parent}/task/${parent}/children`, 'utf8').trim());
}

/** A job that has finished slices says how it would have kept them. */
const ADVICE = '; a job started with --resume keeps its finished work';

describe('a signal', () => {
  it.each(
    sampled(
      [
        { signal: 'SIGINT', exitCode: 130 },
        { signal: 'SIGTERM', exitCode: 143 },
        { signal: 'SIGHUP', exitCode: 129 },
      ] as const,
      3,
      1,
    ),
  )('$signal ends the job with $exitCode, in either pass', async ({ signal, exitCode }) => {
    const line = `pileshuf: interrupted by ${signal}: stopped before the end; no output was written`;
    // In pass 1 a slice may be finished or not.
    const lines = { 'temp-write': [line, `${line}${ADVICE}`], 'output-write': [`${line}${ADVICE}`] };
    for (const at of ['temp-write', 'output-write'] as const) {
      const result = seen(await shuffleUnder({ act: 'signal', at, signal, nth: 4 }));
      expect(result.exitCode).toBe(exitCode);
      expect(result.lines).toHaveLength(1);
      expect(lines[at]).toContain(result.lines[0]);
      expectExistingUntouched();
      expect(readdirSync(directory.temp)).toEqual([]);
    }
  });

  it.each(
    sampled(
      [
        ['standard output', 'inline', true, '> "$PIPE"'],
        ['standard output', 'on workers', false, '> "$PIPE"'],
        ['a named pipe', 'inline', true, '-o "$PIPE"'],
        ['a named pipe', 'on workers', false, '-o "$PIPE"'],
      ],
      3,
      1,
    ),
  )('ends a job that writes to a full %s, %s, that nobody reads', async (_, how, inline, output) => {
    // A pipe holds 64 KiB.
    const large = directory.path('large');
    writeFileSync(large, `${'.'.repeat(99)}\n`.repeat(2000));
    const pipe = makePipe(directory.path(`pipe-${how}`));
    const script = `exec 3<>"$PIPE"; ${IN_TIME} "$@" ${output} & echo $! > "$PIPE.pid"; wait $!; exit $?`;
    const running = runShell(script, [...options(), large], { ...smallSizes({ inline }), PIPE: pipe });
    const pid = await commandReady(`${pipe}.pid`);
    await delay(700);
    process.kill(pid, 'SIGTERM');
    expect(seen(await running)).toEqual({
      exitCode: 143,
      lines: ['pileshuf: interrupted by SIGTERM: stopped before the end; the output may be incomplete'],
    });
  });

  it.each(
    sampled(
      [
        [
          'reads a named pipe that nobody writes to',
          'SIGINT',
          (pipe: string) => [pipe, '-o', existing(), '--force'],
          '"$@"',
        ],
        ['writes a named pipe that nobody reads', 'SIGTERM', (pipe: string) => [...inputs, '-o', pipe], '"$@"'],
        // Descriptor 3 holds the pipe open without writing to it.
        [
          'waits for standard input, which is silent',
          'SIGINT',
          () => ['-', '-o', existing(), '--force'],
          'exec 3<>"$PIPE"; "$@" <"$PIPE"',
        ],
      ] as const,
      2,
    ),
  )('ends a job that %s: %s', async (_, signal, argvFor, call) => {
    const pipe = makePipe(directory.path('pipe'));
    const script = `${call.replace('"$@"', `${IN_TIME} "$@"`)} & echo $! > "$PIPE.pid"; wait $!; exit $?`;
    const running = runShell(script, [...options(), ...argvFor(pipe)], { ...smallSizes(), PIPE: pipe });
    const pid = await commandReady(`${pipe}.pid`);
    await delay(400);
    process.kill(pid, signal);
    expect((await running).exitCode).toBe(signal === 'SIGINT' ? 130 : 143);
    expectExistingUntouched();
  });
});

describe('a reader that closes the output', () => {
  it.each(
    sampled(
      [
        ['head', 'on workers', false],
        ['head', 'inline', true],
        ['true', 'on workers', false],
        ['true', 'inline', true],
      ],
      4,
    ),
  )('ends the job quietly with 141: %s, %s', async (reader, _, inline) => {
    const script = `${IN_TIME} "$@" | ${reader === 'head' ? 'head -n 1' : 'true'}; exit "\${PIPESTATUS[0]}"`;
    const result = await runShell(script, [...options(), ...inputs], smallSizes({ inline }));
    expect(seen(result)).toEqual({ exitCode: 141, lines: [] });
    expect(result.stdout.toString()).toMatch(reader === 'head' ? /^\d \d{8}\n$/ : /^$/);
  });
});

describe('a worker', () => {
  const ENDED = {
    exitCode: 1,
    lines: [expect.stringMatching(/^pileshuf: a worker thread did not start or ended before its task: /)],
  };

  it.each(
    sampled(
      [
        ['a stream', []],
        ['a compressed stream', ['--compress', 'gzip']],
        ['a compressed file', ['--compress', 'gzip', '-o', 'new']],
      ],
      3,
      2,
    ),
  )('that dies ends the job when the output is %s and the others wait for their turn', async (_, more) => {
    const { nodeOptions, env } = withSabotage({ act: 'end-worker', at: 'temp-read', nth: 12 });
    const run = { nodeOptions, env: { ...env, ...smallSizes() }, cwd: directory.path() };
    expect(seen(await runCommand([...options(), ...inputs, ...more], run))).toEqual(ENDED);
    expect(existsSync(directory.path('new'))).toBe(false);
  });

  it.each(
    sampled(
      [
        ['made up', 'a worker thread did not start or ended before its task: made up; '],
        [
          "EMFILE: too many open files, open 'x'",
          'cannot start a worker thread: too many open files (raise `ulimit -n`)',
        ],
      ] as const,
      2,
    ),
  )('that cannot start ends the job: %s', async (message, line) => {
    const result = await shuffleUnder({ act: 'refuse-workers', message });
    expect(seen(result)).toEqual({ exitCode: 1, lines: [expect.stringContaining(`pileshuf: ${line}`)] });
    expectExistingUntouched();
  });
});
