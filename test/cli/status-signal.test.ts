/** SIGUSR1, as a user sends it: the command says how far it is and goes on. The library leaves the signal alone. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { runShell } from '../fixtures/run-shell.js';

const main = fileURLToPath(new URL('../../dist/bundle/main.cjs', import.meta.url));

/** Gives the command no more input until it has answered two signals. */
async function askTwice(argv: readonly string[]) {
  const child = spawn(process.execPath, [main, ...argv], { stdio: ['pipe', 'pipe', 'pipe'], timeout: 40_000 });
  let stderr = '';
  child.stderr.on('data', (piece) => {
    stderr += piece;
  });
  const records: Buffer[] = [];
  child.stdout.on('data', (piece) => records.push(piece));
  const answers = () => stderr.split('\n').length - 1;
  child.stdin.write('a\n'.repeat(20_000));
  // A command that reads its input has its listener.
  await new Promise<void>((resolve) => child.stdin.write('b\n'.repeat(60_000), () => resolve()));
  const silent = argv.includes('--quiet');
  for (const wanted of [1, 2]) {
    const before = answers();
    child.kill('SIGUSR1');
    if (silent) await new Promise((resolve) => setTimeout(resolve, 200));
    else while (answers() === before && child.exitCode === null && wanted > 0) await once(child.stderr, 'data');
  }
  child.stdin.end('c\n');
  const [exitCode] = await once(child, 'close');
  return { exitCode, stderr: stderr.split('\n').slice(0, -1), records: Buffer.concat(records).byteLength };
}

describe('a command that gets SIGUSR1', () => {
  it.each(['auto', 'bar', 'plain', 'none'])(
    'with --progress %s prints its status each time, and goes on',
    async (style) => {
      const { exitCode, stderr, records } = await askTwice(['--progress', style]);
      expect({ exitCode, records }).toEqual({ exitCode: 0, records: 160_002 });
      expect(stderr.slice(0, 2)).toEqual([
        expect.stringMatching(
          /^pileshuf: \d{4}-.*Z, \d+ s so far: (pass 1 of 2: .* of an unknown total|no pass has begun)/,
        ),
        expect.stringMatching(/^pileshuf: .* so far: /),
      ]);
      expect(stderr).toHaveLength(3);
    },
  );

  it('with --progress json prints events', async () => {
    const { exitCode, stderr } = await askTwice(['--progress', 'json']);
    expect(exitCode).toBe(0);
    const events = stderr.map((line) => JSON.parse(line).event);
    expect(events.filter((event) => event === 'progress').length).toBeGreaterThanOrEqual(3);
  });

  it('with --quiet prints nothing, as dd with status=none, and opens no port for debuggers', async () => {
    const { exitCode, stderr, records } = await askTwice(['--quiet']);
    expect({ exitCode, stderr, records }).toEqual({ exitCode: 0, stderr: [], records: 160_002 });
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
