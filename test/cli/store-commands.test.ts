/**
 * The commands that write and read stores, as processes: the files and lines that they write, and every refused call,
 * with one line and no change.
 */

import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeEach, describe, expect, it } from 'vitest';
import { appendToStore } from '#src/index.js';
import { seal, unseal } from '#src/io/sealed-file.js';
import { commandInProcess } from '../fixtures/command-in-process.js';
import { runCommand } from '../fixtures/run-command.js';
import { fromCi } from '../fixtures/scale.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';
import { referenceOrder } from '../laws/reference-order.js';

const directory = useTestDirectory();
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

/** What each file of the store has. */
function contentOf(store: string): Map<string, string> {
  const names = readdirSync(store, { recursive: true, encoding: 'utf8', withFileTypes: true });
  const files = names.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return new Map(files.sort().map((path) => [path, readFileSync(path).toString('latin1')]));
}

async function expectRefused(argv: readonly string[], message: RegExp, exitCode = 2): Promise<void> {
  const outcome = await run(argv);
  expect(outcome).toMatchObject({ exitCode, stderr: expect.stringMatching(/^pileshuf: [^\n]*\n$/) });
  expect(outcome.stderr).toMatch(message);
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

  it.runIf(fromCi)('pile takes several inputs, each with the id that is given in its place', async () => {
    await expectDone(['pile', 'store', 'in/b.txt.gz', 'in/a.txt', '--input-id', 'x', '--input-id', 'y', '--seed', 's']);
    const fromStore = await expectDone(['shuffle-store', 'store']);
    expect(fromStore.equals(Buffer.concat(referenceOrder([B, A], 's', 0x0a, ['x', 'y'])))).toBe(true);
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

describe('a store that exists', () => {
  beforeEach(async () => {
    const inputs = [directory.path('in', 'a.txt')];
    const options = { inputs, inputIds: ['in/a.txt'], seed: 's', piles: 5, generation: 'first' };
    await appendToStore(directory.path('store'), options, { inline: true });
  });

  it.runIf(fromCi).each<[string, readonly string[], RegExp]>([
    [
      'an input that it has',
      ['append', 'store', 'in/a.txt'],
      /an input of the id "in\/a.txt" already, in generation first; /,
    ],
    ['an id that it has', ['pile', 'store', 'in/b.txt.gz', '--input-id', 'in/a.txt'], /give --replace to replace it/],
    ['another seed', ['append', 'store', 'in/b.txt.gz', '--seed', 't'], /has the seed "s", expected "t"; /],
    [
      'another number of piles',
      ['append', 'store', 'in/b.txt.gz', '--piles', '6'],
      /number of piles of 5, expected 6; /,
    ],
    ['an input that is missing', ['append', 'store', 'in/c'], /the input in\/c does not exist; /],
    [
      'headers',
      ['append', 'store', 'in/b.txt.gz', '--header', '1'],
      /keeps only records, and these inputs have headers /,
    ],
    ['arrays', ['append', 'store', 'in/b.txt.gz', '--npy'], /keeps only records, and these inputs have headers /],
    [
      'archives',
      ['pile', 'store', '--input-id', 'x', '--webdataset'],
      /keeps only records, and these inputs have headers /,
    ],
    [
      'two inputs of one id',
      ['pile', 'store', 'in/a.txt', 'in/b.txt.gz', '--input-id', 'x'],
      /--input-id is given once for 2 inputs; expected once for each, in their order\. To give several files one id, .* cat /,
    ],
    [
      'two ids of one input',
      ['pile', 'store', 'in/a.txt', '--input-id', 'x', '--input-id', 'y'],
      /--input-id is given 2 times for 1 input; expected once for each/,
    ],
    [
      'the same id of two inputs',
      ['pile', 'store', 'in/a.txt', 'in/b.txt.gz', '--input-id', 'x', '--input-id', 'x'],
      /in\/a\.txt and in\/b\.txt\.gz have the same input id "x"; expected an id that no other input has/,
    ],
    [
      'an input without an id',
      ['pile', 'store', 'in/b.txt.gz'],
      /required option '--input-id <ID>' not specified; see pileshuf pile/,
    ],
    [
      'standard input without an id',
      ['append', 'store', '-'],
      /standard input \(-\) has no name that could be its input id: /,
    ],
    [
      'no name for a generation',
      ['append', 'store', 'in/b.txt.gz', '--generation', ''],
      /the generation "" has no name/,
    ],
    [
      'an output inside of it',
      ['shuffle-store', 'store', '-o', 'store/out', '-T', 'in'],
      /the output .*store\/out lies inside /,
    ],
    [
      'an output that exists',
      ['shuffle-store', 'store', '-o', 'in/a.txt'],
      /exists already; give --force to replace it/,
    ],
    [
      'an unknown option',
      ['shuffle-store', 'store', '--seed', 's'],
      /unknown option '--seed'.*; see pileshuf shuffle-store --help/,
    ],
  ])('refuses %s, and stays as it is', async (_, argv, message) => {
    const before = contentOf(directory.path('store'));
    await expectRefused(argv, message, /does not exist/.test(message.source) ? 3 : 2);
    expect(contentOf(directory.path('store'))).toEqual(before);
  });

  it.runIf(fromCi)('is replaced by whole commits', async () => {
    await expectDone(['append', 'store', 'in/b.txt.gz', 'in/a.txt', '--input-ids', 'name']);
    writeFileSync(directory.path('in', 'a.txt'), B);
    await expectRefused(
      ['append', 'store', 'in/a.txt', '--input-ids', 'name', '--replace'],
      /cannot replace the input "a\.txt" alone: it was committed with 2 inputs, and "b\.txt\.gz" is not given; /,
    );
    await expectDone(['append', 'store', 'in/a.txt', '--replace', '--generation', 'second']);
    const expected = referenceOrder([B, B, A], 's', 0x0a, ['in/a.txt', 'b.txt.gz', 'a.txt']);
    expect((await expectDone(['shuffle-store', 'store'])).equals(Buffer.concat(expected))).toBe(true);
  });

  it.runIf(fromCi)('of another version is told to be that', async () => {
    const path = directory.path('store', 'store');
    const settings = unseal(readFileSync(path), 'store', 1, path);
    writeFileSync(path, seal('store', 2, Object(settings)));
    const message =
      /store was written by another version of pileshuf \(format 2, expected 1\); use that version for this store/;
    await expectRefused(['shuffle-store', 'store'], message);
    await expectRefused(['append', 'store', 'in/b.txt.gz'], message);
  });

  it('of which a pile set is damaged, gone or another is not read', async () => {
    const pileSets = directory.path('store', 'pile-sets');
    const data = join(pileSets, readdirSync(pileSets).find((name) => name.endsWith('.pile')) ?? '');
    const index = join(pileSets, readdirSync(pileSets).find((name) => name.endsWith('.index')) ?? '');
    const whole = readFileSync(data);
    writeFileSync(data, Buffer.concat([whole.subarray(0, 100), Buffer.from('damage'), whole.subarray(106)]));
    await expectRefused(
      ['shuffle-store', 'store', '-o', 'out'],
      /are not what was written there; .*restore the store/,
      4,
    );
    renameSync(data, directory.path('data'));
    await expectRefused(
      ['shuffle-store', 'store', '-o', 'out'],
      /\.pile does not exist any more; .*restore the store/,
      4,
    );
    await expectDone(['append', 'other', 'in/b.txt.gz', '--piles', '5']);
    const others = directory.path('other', 'pile-sets');
    for (const name of readdirSync(others)) renameSync(join(others, name), name.endsWith('.pile') ? data : index);
    await expectRefused(
      ['shuffle-store', 'store', '-o', 'out'],
      /\.index is the index of the pile set set-\S+, expected set-\S+; check the disk, and restore the store/,
      4,
    );
    expect(readdirSync(directory.path())).not.toContain('out');
  });
});

describe('what is no store', () => {
  it.runIf(fromCi)('is not read, nor written to', async () => {
    await expectRefused(['shuffle-store', 'nowhere'], /the pile store nowhere does not exist; check the name/);
    await expectRefused(['shuffle-store', 'in'], /in is no pile store: it has no file store; /);
    await expectRefused(['shuffle-store', 'in/a.txt'], /the pile store in\/a\.txt is not a directory; /);
    await expectRefused(['append', 'in/a.txt', 'in/b.txt.gz'], /the pile store in\/a\.txt is not a directory; /);
    mkdirSync(directory.path('full'));
    writeFileSync(directory.path('full', 'thesis'), 'x');
    await expectRefused(
      ['append', 'full', 'in/a.txt'],
      /full is no pile store: it holds thesis; name an empty directory/,
    );
    await expectRefused(['append', 'in/store', 'in'], /the pile store in\/store lies inside the input directory in, /);
    expect(readdirSync(directory.path(), { recursive: true }).toSorted()).toEqual(
      ['full', 'full/thesis', 'in', 'in/a.txt', 'in/b.txt.gz', 'temp'].toSorted(),
    );
  });

  it('is not made for inputs that are not there', async () => {
    await expectRefused(['append', 'store', 'in/missing'], /does not exist/, 3);
    expect(readdirSync(directory.path())).not.toContain('store');
  });
});
