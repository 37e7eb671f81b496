/**
 * Lists of inputs and of their ids: literal names in order, nothing skipped, and a clear message for an unusable list.
 */

import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { resolveInputIds, resolveInputs, splitList } from '#src/cli/input-list.js';
import { AbortError, InputError, UsageError } from '#src/index.js';
import { type InputList, parseInputIds } from '#src/options/typed-options.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

const directory = useTestDirectory();

const lines: InputList = { flag: '--files-from', path: 'list' };
const nuls: InputList = { flag: '--files0-from', path: 'list' };
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
    [lines, '-\na\n-\n', '--files-from list: names standard input (-) twice, but it can be read only once'],
  ])('refuses %o %j', (list, text, message) => {
    expect(() => splitList(bytesOf(text), list)).toThrow(new UsageError(message));
  });

  it('refuses names that are no UTF-8, which would name another file', () => {
    expect(() => splitList(Uint8Array.of(0x61, 0xff, 0x0a), lines)).toThrow('a name is not valid UTF-8');
  });
});

describe('resolveInputs', () => {
  const { signal } = new AbortController();
  let count = 0;

  function listOf(text: string, flag = '--files-from'): InputList {
    const path = directory.path(`list-${count++}`);
    writeFileSync(path, text);
    return { flag, path };
  }

  it('puts the entries of the lists, in order, after the inputs typed', async () => {
    const lists = [listOf('y\nx\n'), listOf('n\n1\0n2\0', '--files0-from')];
    expect(await resolveInputs(['b', 'a'], lists, signal)).toEqual(['b', 'a', ...literally('y', 'x', 'n\n1', 'n2')]);
  });

  it('reads a list longer than an argument list could be', async () => {
    const names = Array.from({ length: 200_000 }, (_, index) => `input-${index}`);
    expect(await resolveInputs([], [listOf(names.join('\n'))], signal)).toEqual(names.map((path) => ({ path })));
  });

  it('refuses standard input in a list when it is in use already', async () => {
    const list = listOf('a\n-\n');
    expect(await resolveInputs(['b'], [list], signal)).toEqual(['b', ...literally('a', '-')]);
    const message = `--files-from ${list.path}: names standard input (-), which is already in use`;
    await expect(resolveInputs(['-'], [list], signal)).rejects.toThrow(new UsageError(message));
    await expect(resolveInputs([], [list, list], signal)).rejects.toThrow(new UsageError(message));
  });

  it('stops when the signal is aborted', async () => {
    await expect(resolveInputs([], [listOf('a\n')], AbortSignal.abort())).rejects.toMatchObject({
      code: 'ABORT_ERR',
    });
  });
});

describe('--input-ids', () => {
  it('is a rule, or a file', () => {
    for (const rule of ['ordinal', 'path', 'name']) expect(parseInputIds(rule, '--input-ids')).toBe(rule);
    expect(parseInputIds('file:ids', '--input-ids')).toEqual({ file: 'ids' });
    expect(parseInputIds('file:a:b\nc', '--input-ids')).toEqual({ file: 'a:b\nc' });
  });

  it.each(['', 'Path', 'names', 'file', 'file:', 'file:-', 'list:ids'])('is not %j', (rule) => {
    expect(() => parseInputIds(rule, '--input-ids')).toThrow(UsageError);
    expect(() => parseInputIds(rule, '--input-ids')).toThrow(
      /^--input-ids .*: expected ordinal, path, name or file:FILE$/,
    );
  });
});

describe('a file of input ids', () => {
  const { signal } = new AbortController();
  const read = (content: string | Buffer) => {
    writeFileSync(directory.path('ids'), content);
    return resolveInputIds({ file: directory.path('ids') }, signal);
  };

  it('has one a line, in whichever text', async () => {
    expect(await read('a\n b\tc \r\nŁ\n')).toEqual(['a', ' b\tc \r', 'Ł']);
    expect(await read('a\nb')).toEqual(['a', 'b']);
    expect(await read('')).toEqual([]);
  });

  it('has no empty line, and nothing that is no UTF-8', async () => {
    await expect(read('a\n\nb\n')).rejects.toThrow(/^--input-ids file:.*\/ids: line 2 is empty; expected an input id$/);
    await expect(read(Buffer.of(0x61, 0xff))).rejects.toThrow(/^--input-ids file:.*\/ids: .*not valid UTF-8/);
  });

  it('is there, and read unless the command is stopped', async () => {
    const missing = resolveInputIds({ file: directory.path('missing') }, signal);
    await expect(missing).rejects.toThrow(InputError);
    await expect(missing).rejects.toThrow(
      /^cannot read the ids --input-ids file:.*\/missing: no such file; check the path$/,
    );
    writeFileSync(directory.path('ids'), 'a\n');
    const stopped = resolveInputIds({ file: directory.path('ids') }, AbortSignal.abort());
    await expect(stopped).rejects.toThrow(AbortError);
  });
});
