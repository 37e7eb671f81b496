/** SIGUSR1, as a user sends it: the command says how far it is and goes on. The library leaves the signal alone. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { runShell } from '../fixtures/run-shell.js';

const main = fileURLToPath(new URL('../../dist/bundle/main.cjs', import.meta.url));

/** More than a pipe holds: when all of it is written, the command reads, and has its listener. */
const MUCH = 'a line\n'.repeat(100_000);

/** Sends two signals to a command that waits for the end of its input, then ends it. */
async function askTwice(argv: readonly string[]) {
  const child = spawn(process.execPath, [main, ...argv], { stdio: 'pipe', timeout: 300_000, killSignal: 'SIGKILL' });
  const closed = once(child, 'close');
  let stderr = '';
  let heard = () => {};
  child.stderr.on('data', (piece) => {
    stderr += piece;
    heard();
  });
  let byteLength = 0;
  child.stdout.on('data', (piece: Buffer) => {
    byteLength += piece.byteLength;
  });
  child.stdin.on('error', () => {});
  await Promise.race([new Promise((resolve) => child.stdin.write(MUCH, resolve)), closed]);
  for (let i = 0; i < 2; i++) {
    const answered = new Promise<void>((resolve) => {
      heard = resolve;
    });
    child.kill('SIGUSR1');
    // A quiet command has nothing to wait for.
    await Promise.race([answered, closed, ...(argv.includes('--quiet') ? [delay(200)] : [])]);
  }
  child.stdin.end('the last\n');
  const [exitCode] = await closed;
  return { exitCode, stderr: stderr.split('\n').slice(0, -1), isWhole: byteLength === MUCH.length + 9 };
}

describe('a command that gets SIGUSR1', () => {
  it('prints its status each time, and goes on', async () => {
    const { exitCode, stderr, isWhole } = await askTwice([]);
    expect({ exitCode, isWhole }).toEqual({ exitCode: 0, isWhole: true });
    expect(stderr.slice(0, 2)).toEqual([
      expect.stringMatching(
        /^pileshuf: \d{4}-.*Z, \d+ s so far: (pass 1 of 2: .* of an unknown total|no pass has begun)/,
      ),
      expect.stringMatching(/^pileshuf: .* so far: /),
    ]);
    expect(stderr).toHaveLength(3);
  });

  it('with --quiet prints nothing, as dd with status=none, and opens no port for debuggers', async () => {
    const { exitCode, stderr, isWhole } = await askTwice(['--quiet']);
    expect({ exitCode, stderr, isWhole }).toEqual({ exitCode: 0, stderr: [], isWhole: true });
  });
});

it('the library leaves the signal to the program', async () => {
  const index = new URL('../../dist/bundle/index.js', import.meta.url).href;
  const script = `"$NODE" --input-type=module -e '
    const { shuffle } = await import(process.env.INDEX);
    let seen = process.listenerCount("SIGUSR1");
    const onProgress = () => { seen += process.listenerCount("SIGUSR1"); };
    await shuffle({ inputs: [{ records: ["a"] }], output: "/dev/null", onProgress });
    console.log(seen);'`;
  const { stdout } = await runShell(script, [], { NODE: process.execPath, INDEX: index });
  expect(stdout.toString()).toBe('0\n');
});
