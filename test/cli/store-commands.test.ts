/** The commands that write and read stores, as processes: the files and lines that they write. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { beforeEach, describe, expect, it } from 'vitest';
import { commandInProcess } from '../fixtures/command-in-process.js';
import { runCommand } from '../fixtures/run-command.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';
import { referenceOrder } from '../laws/reference-order.js';

const directory = useMemoryDirectory();
const linesOf = (name: string, count: number) =>
  Buffer.from(Array.from({ length: count }, (_, i) => `${name} ${i}\n`).join(''));
const A = linesOf('a', 300);
const B = linesOf('b', 200);

beforeEach(() => {
  mkdirSync(directory.path('in'));
  writeFileSync(directory.path('in', 'a.txt'), A);
  writeFileSync(directory.path('in', 'b.txt.gz'), gzipSync(B));
});

/** In the test's directory, quiet but for errors. */
const run = (argv: readonly string[], stdin?: Buffer | string) =>
  stdin === undefined && argv.includes('-o')
    ? commandInProcess([...argv, '-q'], { cwd: directory.path() })
    : runCommand([...argv, '-q'], { cwd: directory.path(), stdin: stdin ?? '' });

async function expectDone(argv: readonly string[], stdin?: Buffer): Promise<Buffer> {
  const { exitCode, stderr, stdout } = await run(argv, stdin);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  return stdout;
}

describe('append, pile and shuffle-store', () => {
  it('give the bytes of the main command, with the same ids and seed', async () => {
    await expectDone(['append', 'store', 'in/a.txt', '--seed', 's', '--piles', '5']);
    await expectDone(['pile', 'store', '--input-id', 'from stdin', '--seed', 's'], linesOf('c', 100));
    await expectDone(['append', 'store', 'in', '--input-ids', 'name', '--generation', 'second']);
    writeFileSync(directory.path('ids'), 'in/a.txt\nfrom stdin\na.txt\nb.txt.gz\n');
    writeFileSync(directory.path('c'), linesOf('c', 100));
    const named = ['in/a.txt', 'c', 'in/a.txt', 'in/b.txt.gz', '--input-ids', 'file:ids', '--seed', 's'];
    const expected = referenceOrder([A, linesOf('c', 100), A, B], 's', 0x0a, [
      'in/a.txt',
      'from stdin',
      'a.txt',
      'b.txt.gz',
    ]);
    const fromStore = await expectDone(['shuffle-store', 'store']);
    expect(fromStore.equals(Buffer.concat(expected))).toBe(true);
    expect((await expectDone(named)).equals(fromStore)).toBe(true);
  });

  it('tell what they did, in a line or as JSON', async () => {
    const line = await commandInProcess(['append', 'store', 'in/a.txt', '--generation', '2026-11-20'], {
      cwd: directory.path(),
    });
    expect(line.stderr).toMatch(
      /^pileshuf: 300 records, 1\.69 kB in .* s, generation 2026-11-20, state 2 of the store, checksum [0-9a-f]{16}\n$/,
    );
    const json = await commandInProcess(['pile', 'store', 'in/b.txt.gz', '--input-id', 'b', '--progress', 'json'], {
      cwd: directory.path(),
    });
    const events = json.stderr
      .trim()
      .split('\n')
      .map((event) => JSON.parse(event));
    expect(events.at(-1)).toMatchObject({ event: 'summary', records: 200, state: 3, inputCount: 1 });
  });

  it('take the names of commands as inputs when they are written as paths', async () => {
    writeFileSync(directory.path('append'), A);
    expect((await expectDone(['./append'])).byteLength).toBe(A.byteLength);
  });
});
