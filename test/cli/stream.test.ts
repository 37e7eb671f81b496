/** `pileshuf stream` as a process: its output, and where it resumes. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { openStore } from '#src/index.js';
import { makeStore, someRecords } from '../fixtures/make-store.js';
import { type CommandRun, runCommand } from '../fixtures/run-command.js';
import { IN_TIME, runShell } from '../fixtures/run-shell.js';
import { fromCi } from '../fixtures/scale.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';

const directory = useMemoryDirectory();
const command = fileURLToPath(new URL('../fixtures/command-under-test.mjs', import.meta.url));

async function makeIt(): Promise<string> {
  const path = directory.path('store');
  await makeStore(path, { seed: 's', pileCount: 5, inputs: { a: someRecords('a', 50), b: ['no newline', '', 'x\n'] } });
  return path;
}

const stream = (path: string, argv: readonly string[] = [], how: CommandRun = {}) =>
  runCommand(['stream', path, ...argv], how);

async function libraryGives(path: string, epochs: readonly number[], rank = 0, worldSize = 1): Promise<Buffer[]> {
  const records: Buffer[] = [];
  for (const epoch of epochs) {
    for await (const record of openStore(path).epoch(epoch, { rank, worldSize })) records.push(Buffer.from(record));
  }
  return records;
}

/** Sends SIGTERM after the first bytes of output, which nobody reads. */
async function stoppedWhileNobodyReads(argv: readonly string[]): Promise<{ exitCode: unknown; stderr: string }> {
  const child = spawn(process.execPath, [command, ...argv], { stdio: ['ignore', 'pipe', 'pipe'] });
  const stderr: Buffer[] = [];
  child.stderr.on('data', (piece: Buffer) => stderr.push(piece));
  child.stdout.once('readable', () => child.kill('SIGTERM'));
  const [exitCode] = await once(child, 'exit');
  child.stdout.destroy();
  await once(child, 'close');
  return { exitCode, stderr: Buffer.concat(stderr).toString() };
}

/** Sends SIGINT after the start; the output goes nowhere. */
async function interrupted(argv: readonly string[], afterSeconds = 1): Promise<{ exitCode: unknown; stderr: string }> {
  const child = spawn(process.execPath, [command, ...argv], {
    // Node would give it one that looks closed.
    stdio: ['ignore', openSync('/dev/null', 'w'), 'pipe'],
    timeout: 300_000,
    killSignal: 'SIGKILL',
  });
  const stderr: Buffer[] = [];
  child.stderr?.on('data', (piece: Buffer) => stderr.push(piece));
  setTimeout(() => child.kill('SIGINT'), 1000 * afterSeconds);
  const [exitCode, signal] = await once(child, 'close');
  // On a busy machine the command may not listen for signals yet, and the signal kills it.
  if (signal === 'SIGINT' && afterSeconds < 20) return interrupted(argv, 3 * afterSeconds);
  return { exitCode, stderr: Buffer.concat(stderr).toString() };
}

describe('pileshuf stream', () => {
  it('writes the global shuffle, and says in one line what it was', async () => {
    const path = await makeIt();
    const { exitCode, stdout, stderr } = await stream(path);
    expect(exitCode).toBe(0);
    expect(stdout.equals(Buffer.concat(await libraryGives(path, [0])))).toBe(true);
    expect(stderr).toMatch(/^pileshuf: 53 records, [\d.]+ kB in [\d.]+ s\n$/);
  });

  it('writes epochs of a rank, and with lengths so that records can be told apart', async () => {
    const path = await makeIt();
    const argv = ['--epochs', '3', '--rank', '1', '--world-size', '2', '-o', '-', '-q'];
    const records = await libraryGives(path, [0, 1, 2], 1, 2);
    const plain = await stream(path, argv);
    expect(plain).toMatchObject({ exitCode: 0, stderr: '' });
    expect(plain.stdout.equals(Buffer.concat(records))).toBe(true);
    const { stdout } = await stream(path, [...argv, '--lengths']);
    const read: Buffer[] = [];
    for (let at = 0; at < stdout.byteLength; ) {
      const end = at + 4 + stdout.readUInt32LE(at);
      read.push(stdout.subarray(at + 4, end));
      at = end;
    }
    expect(read).toEqual(records);
  });

  it.runIf(fromCi)('goes on from a state, also from one that counts on into later epochs', async () => {
    const path = await makeIt();
    const printed = await stream(path, ['--rank', '2', '--world-size', '3', '--epoch', '1', '--print-start']);
    expect(printed).toMatchObject({ exitCode: 0, stderr: '' });
    const state = JSON.parse(printed.stdout.toString());
    expect(state).toMatchObject({ epoch: 1, record: 0, rank: 2, worldSize: 3 });
    const all = await libraryGives(path, [1, 2, 3], 2, 3);
    for (const record of [0, 1, 16, 17, 18, 40]) {
      writeFileSync(directory.path('start.json'), JSON.stringify({ ...state, record }));
      const start = record % 2 === 0 ? `@${directory.path('start.json')}` : JSON.stringify({ ...state, record });
      const { stdout, exitCode } = await stream(path, ['--epochs', '4', '--start', start, '--world-size', '3', '-q']);
      expect(exitCode).toBe(0);
      expect(stdout.toString()).toBe(Buffer.concat(all.slice(record)).toString());
    }
  });

  it('ends behind the epoch that was typed with a state, also where that one is at its end', async () => {
    const path = await makeIt();
    const state = openStore(path).epoch(0).state();
    const ofRecord = (record: number) => stream(path, ['--start', JSON.stringify({ ...state, record }), '-q']);
    expect(await ofRecord(53)).toMatchObject({ exitCode: 0, stderr: '', stdout: Buffer.of() });
    expect((await ofRecord(52)).stdout).toEqual((await libraryGives(path, [0]))[52]);
  });

  it.runIf(fromCi).each([
    ['a small store', []],
    ['a share without records', ['--rank', '53', '--world-size', '54']],
  ])('is stopped while it reads %s again and again', async (_, argv) => {
    const path = await makeIt();
    const { exitCode, stderr: told } = await interrupted(['stream', path, '--epochs', '1000000000', ...argv]);
    expect({ exitCode, told }).toEqual({
      exitCode: 130,
      told: expect.stringMatching(/^pileshuf: interrupted by SIGINT: [^\n]+\n$/),
    });
  });

  it('tells programs the state behind what it wrote', async () => {
    const { stderr } = await stream(await makeIt(), ['--progress', 'json']);
    expect(JSON.parse(stderr)).toMatchObject({ event: 'summary', records: 53, state: { epoch: 1, record: 0 } });
  });

  it('ends quietly when its reader goes away, and when it is asked to while the reader takes nothing', async () => {
    const path = directory.path('store');
    await makeStore(path, { seed: 's', pileCount: 2, inputs: { a: someRecords('a', 10_000) } });
    const gone = await runShell(`${IN_TIME} "$@" --epochs 9 | head -c 100 >/dev/null; exit "\${PIPESTATUS[0]}"`, [
      'stream',
      path,
    ]);
    expect(gone).toMatchObject({ exitCode: 141, stderr: '' });
    const stopped = await stoppedWhileNobodyReads(['stream', path, '--epochs', '9']);
    expect(stopped).toMatchObject({
      exitCode: 143,
      stderr: expect.stringMatching(/^pileshuf: interrupted by SIGTERM: stopped before the end; [^\n]+\n$/),
    });
  });
});
