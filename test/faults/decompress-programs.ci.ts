/**
 * Jobs whose inputs are decoded by programs: a program fails, hangs or cannot start, or the job is stopped. The command
 * prints one line with the reason, leaves no output, and ends every program.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { seen } from '../fixtures/command-outcome.js';
import { isOnPath, runOn } from '../fixtures/foreign-program.js';
import { runCommand } from '../fixtures/run-command.js';
import { runShell } from '../fixtures/run-shell.js';
import { sampled } from '../fixtures/scale.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

const directory = useTestDirectory();
const TEXT = Array.from({ length: 1000 }, (_, i) => `line ${i}\n`).join('');

/** `count` inputs of the job. */
function inputs(count: number): string[] {
  return Array.from({ length: count }, (_, i) => {
    writeFileSync(directory.path(`in-${i}`), TEXT);
    return directory.path(`in-${i}`);
  });
}

const options = () => ['-q', '-T', directory.temp, '--workers', '2', '--seed', '1', '-o', directory.path('out')];

/** Processes that have these words among those they were started with, and are not zombies. */
function processesWith(words: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').join(' ').startsWith(words);
    } catch {
      // It has just ended.
      return false;
    }
  });
}

let sleeps = 0;
/** Seconds for a `sleep` that no other test has. */
function longTime(): string {
  sleeps += 1;
  return `${100 + sleeps}.${process.pid}1`;
}

describe('a program that fails', () => {
  it.each(sampled(['true', 'false'], 2))(
    'ends the job with the message of the program (inline: %s)',
    async (inline) => {
      const program = `sh -c 'echo "not today" >&2; cat; exit 7'`;
      const result = await runCommand([...options(), '--decompress-program', program, ...inputs(5)], {
        env: { PILESHUF_TEST_TUNING: `{"inline":${inline}}` },
      });
      expect(seen(result)).toEqual({
        exitCode: 3,
        lines: [
          expect.stringMatching(
            /^pileshuf: .*in-\d: `sh -c 'echo "not today" >&2; cat; exit 7'` ended with exit code 7 and said: not today$/,
          ),
        ],
      });
      expect(existsSync(directory.path('out'))).toBe(false);
    },
  );

  it('is missing', async () => {
    const result = await runCommand([...options(), '--decompress-program', 'no-such-tool -d', ...inputs(1)]);
    expect(seen(result)).toEqual({
      exitCode: 2,
      lines: ['pileshuf: --decompress-program: there is no program no-such-tool; check the name and PATH'],
    });
  });

  it.skipIf(!isOnPath('xz'))('is missing for an input that needs it, if xz is on PATH', async () => {
    const stored = runOn(Buffer.from(TEXT), ['xz', '-c']);
    writeFileSync(directory.path('in.xz'), stored);
    const env = { PATH: directory.path() };
    const told = (name: string) => ({
      exitCode: 3,
      lines: [
        `pileshuf: ${name} is compressed with xz, and there is no program xz on PATH; install it, or name another with --decompress-program`,
      ],
    });
    const path = directory.path('in.xz');
    expect(seen(await runCommand([...options(), path], { env }))).toEqual(told(path));
    expect(seen(await runCommand(options(), { env, stdin: stored }))).toEqual(told('standard input'));
  });
});

describe('a program that is silent', () => {
  it.each(
    sampled(
      [
        ['SIGINT', 130, '-$pid'],
        ['SIGTERM', 143, '-$pid'],
        ['SIGINT', 130, '$pid'],
      ] as const,
      2,
    ),
  )('is ended with the job by %s to %s', async (signal, exitCode, target) => {
    const seconds = longTime();
    const argv = [...options(), '--decompress-program', `sleep ${seconds}`, ...inputs(3)];
    // As a terminal does: all processes of the group get it.
    const script = `set -m; "$@" & pid=$!; until pgrep -f '^sleep ${seconds}' >/dev/null; do sleep 0.05; done; kill -${signal.slice(3)} -- ${target}; wait $pid`;
    expect(await runShell(script, argv, { PILESHUF_TEST_TUNING: '{"inline":false}' })).toMatchObject({ exitCode });
    expect(processesWith(`sleep ${seconds}`)).toEqual([]);
    expect(existsSync(directory.path('out'))).toBe(false);
  });
});

it('survives, with the job, the hang-up of a terminal that nohup has it ignore', async () => {
  const argv = [...options(), '--decompress-program', "sh -c 'sleep 2.125; exec cat'", ...inputs(2)];
  const script = `set -m; nohup "$@" & pid=$!; until pgrep -f '^sleep 2.125' >/dev/null; do sleep 0.05; done; kill -HUP -- -$pid; wait $pid`;
  expect(await runShell(script, argv, { PILESHUF_TEST_TUNING: '{"inline":false}' })).toMatchObject({ exitCode: 0 });
  expect(existsSync(directory.path('out'))).toBe(true);
});
