/** A command that does not succeed leaves its line, whatever it waits for, and what can be resumed. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCommand } from '../fixtures/run-command.js';
import { atScale } from '../fixtures/scale.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';
import { endObjectServers, type ObjectServer, startObjectServer } from '../remote/object-server.js';

const directory = useTestDirectory();
const KEYS = Array.from({ length: 20 }, (_, i) => `in/${i}.txt`);
let server: ObjectServer;

afterAll(endObjectServers);
beforeEach(async () => {
  server = await startObjectServer(Object.fromEntries(KEYS.map((key) => [key, `${key}\n`.repeat(9)])));
  mkdirSync(directory.path('in'));
  for (const key of KEYS) writeFileSync(directory.path(key), `${key}\n`.repeat(9));
});
afterEach(() => server.close());

const run = (line: string, more: Parameters<typeof runCommand>[1] = {}) =>
  runCommand(`${line} -T ${directory.temp} --seed s`.split(' '), {
    ...more,
    cwd: directory.path(),
    env: { AWS_ENDPOINT_URL: server.url, AWS_CONFIG_FILE: '/dev/null', ...more.env },
  });

const hanging = { nodeOptions: ['--import', new URL('hanging-calls.mjs', import.meta.url).href] };

it('the end of a thread never comes', async () => {
  const { exitCode, stderr } = await run('s3://bucket/in/ -o out', hanging);
  expect(stderr).toMatch(/^pileshuf: what the command waits for will never come; [^\n]+\n$/);
  expect(exitCode).toBe(1);
});

it.each([403, 404])('many objects are refused with %s', async (kind) => {
  await server.change({ fault: { from: 2, kind } });
  for (let round = 0; round < atScale(1, 2, 6); round++) {
    const { exitCode, stderr } = await run(`${KEYS.map((key) => `s3://bucket/${key}`).join(' ')} -o out`);
    expect(stderr).toMatch(/^pileshuf: [^\n]+s3:\/\/bucket\/in\/\d+\.txt[^\n]+\n$/);
    expect(exitCode).toBe(3);
  }
});

describe('while the service makes an object,', () => {
  it('a signal says so, and a second one leaves what can be resumed', async () => {
    await run('in -o local');
    let pid = 0;
    const job = run('in -o s3://bucket/out', {
      onSpawn: (spawned) => {
        pid = spawned;
      },
    });
    const isCompleted = async () =>
      (await server.change()).some(({ method, path }) => method === 'POST' && /uploadId/.test(path));
    await server.change({ fault: { of: 'POST /bucket/out?uploadId', kind: 'silence' } });
    while (!(await isCompleted())) await sleep(20);
    process.kill(pid, 'SIGINT');
    await sleep(400);
    process.kill(pid, 'SIGINT');
    const { exitCode, stderr } = await job;
    expect({ exitCode, lines: stderr.split('\n') }).toEqual({
      exitCode: 130,
      lines: [
        'pileshuf: warning: the uploads of s3://bucket/out are being completed, which cannot be undone: this waits for the service; if it is killed now, --resume completes the rest',
        'pileshuf: interrupted by SIGINT: stopped before the end; what can be resumed is kept, and temp files stay',
        '',
      ],
    });
    await server.change({ fault: null });
    expect((await run('in -o s3://bucket/out --resume')).exitCode).toBe(0);
    const made = await fetch(`${server.url}/bucket/out`);
    expect(await made.text()).toBe(readFileSync(directory.path('local'), 'utf8'));
  });
});
