/**
 * Lists of inputs: literal names in order, nothing skipped, and clear words for a list that is not
 * what it should be.
 */

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type InputList, resolveInputs, splitList } from '#src/cli/input-list.js';
import { InputError, UsageError } from '#src/index.js';

const lines: InputList = { option: '--files-from', path: 'list' };
const nuls: InputList = { option: '--files0-from', path: 'list' };
/** Entries of a list are paths, never globs. */
const literally = (...paths: string[]) => paths.map((path) => ({ path }));
const bytesOf = (text: string) => new TextEncoder().encode(text);

describe('splitList', () => {
  it.each([
    [lines, 'a\nb\n', ['a', 'b']],
    [lines, 'a\nb', ['a', 'b']],
    [lines, 'b\na\nb\n', ['b', 'a', 'b']],
    [lines, ' *.txt \r\n[x]\n-\n', [' *.txt \r', '[x]', '-']],
    [nuls, 'a\nb\0c\0', ['a\nb', 'c']],
    [nuls, 'a', ['a']],
  ])('reads %o %j', (list, text, names) => {
    expect(splitList(bytesOf(text), list)).toEqual(names);
  });

  it.each([
    [lines, '', '--files-from list: the list is empty; expected at least one input'],
    [nuls, '', '--files0-from list: the list is empty; expected at least one input'],
    [lines, '\n', '--files-from list: entry 1 is empty; expected a path'],
    [lines, 'a\n\n', '--files-from list: entry 2 is empty; expected a path'],
    [nuls, 'a\0\0b\0', '--files0-from list: entry 2 is empty; expected a path'],
    [
      lines,
      'a\0b\0',
      '--files-from list: entry 1 holds a NUL; expected one path a line (for names that end in NUL: --files0-from)',
    ],
    [lines, '-\na\n-\n', '--files-from list: names standard input (-) twice, and it can be read only once'],
  ])('refuses %o %j', (list, text, message) => {
    expect(() => splitList(bytesOf(text), list)).toThrow(new UsageError(message));
  });

  it('refuses names that are no UTF-8, which would name another file', () => {
    expect(() => splitList(Uint8Array.of(0x61, 0xff, 0x0a), lines)).toThrow('a name is not valid UTF-8');
  });
});

describe('resolveInputs', () => {
  let dir: string;
  const { signal } = new AbortController();

  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'pileshuf-test-'));
  });
  afterEach(async () => {
    await rm(dir, { recursive: true });
  });

  async function listOf(text: string, option: InputList['option'] = '--files-from'): Promise<InputList> {
    const path = join(dir, `list-${Math.random()}`);
    await writeFile(path, text);
    return { option, path };
  }

  it('puts the entries of the lists, in order, after the inputs typed', async () => {
    const lists = [await listOf('y\nx\n'), await listOf('n\n1\0n2\0', '--files0-from')];
    expect(await resolveInputs(['b', 'a'], lists, signal)).toEqual(['b', 'a', ...literally('y', 'x', 'n\n1', 'n2')]);
  });

  it('reads a list longer than an argument list could be', async () => {
    const names = Array.from({ length: 200_000 }, (_, index) => `input-${index}`);
    expect(await resolveInputs([], [await listOf(names.join('\n'))], signal)).toEqual(names.map((path) => ({ path })));
  });

  it('refuses standard input in a list when it is in use already', async () => {
    const list = await listOf('a\n-\n');
    expect(await resolveInputs(['b'], [list], signal)).toEqual(['b', ...literally('a', '-')]);
    const message = `--files-from ${list.path}: names standard input (-), which is in use already`;
    await expect(resolveInputs(['-'], [list], signal)).rejects.toThrow(new UsageError(message));
    await expect(resolveInputs([], [list, list], signal)).rejects.toThrow(new UsageError(message));
  });

  it('names a list that cannot be read', async () => {
    const path = join(dir, 'none');
    await expect(resolveInputs([], [{ option: '--files-from', path }], signal)).rejects.toThrow(
      new InputError(
        'ERR_INPUT_MISSING',
        `cannot read the list of inputs --files-from ${path}: no such file; check the path`,
      ),
    );
    await expect(resolveInputs([], [{ option: '--files0-from', path: dir }], signal)).rejects.toMatchObject({
      code: 'ERR_INPUT_UNREADABLE',
      message: expect.stringContaining(`cannot read the list of inputs --files0-from ${dir}: EISDIR`),
    });
  });

  it('stops when the signal is aborted', async () => {
    await expect(resolveInputs([], [await listOf('a\n')], AbortSignal.abort())).rejects.toMatchObject({
      code: 'ERR_ABORTED',
    });
  });
});
