/** `--input-ids`: what it takes, and lists of ids that are no use. */
import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { resolveInputIds } from '#src/cli/options/input-ids-option.js';
import { parseArguments } from '#src/cli/program.js';
import { AbortedError, InputError, UsageError } from '#src/index.js';
import { runCommand } from '../fixtures/run-command.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

const directory = useTestDirectory();

function choiceOf(rule: string) {
  const invocation = parseArguments(['--input-ids', rule], () => 0);
  return invocation.kind === 'shuffle' ? invocation.inputIds : undefined;
}

describe('--input-ids', () => {
  it('is a rule, or a file', () => {
    for (const rule of ['ordinal', 'path', 'name']) expect(choiceOf(rule)).toBe(rule);
    expect(choiceOf('file:ids')).toEqual({ file: 'ids' });
    expect(choiceOf('file:a:b\nc')).toEqual({ file: 'a:b\nc' });
  });

  it.each(['', 'Path', 'names', 'file', 'file:', 'file:-', 'list:ids'])('is not %j', (rule) => {
    expect(() => choiceOf(rule)).toThrow(UsageError);
    expect(() => choiceOf(rule)).toThrow(/^--input-ids .*: expected ordinal, path, name or file:FILE$/);
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
    await expect(stopped).rejects.toThrow(AbortedError);
  });

  it('has as many as there are inputs', async () => {
    writeFileSync(directory.path('ids'), 'one\n');
    for (const name of ['a', 'b']) writeFileSync(directory.path(name), 'record\n');
    const argv = ['a', 'b', '--input-ids', 'file:ids', '-o', 'out'];
    const { exitCode, stderr } = await runCommand(argv, { cwd: directory.path() });
    expect({ exitCode, stderr }).toEqual({
      exitCode: 2,
      stderr: 'pileshuf: 1 input ids are given for 2 inputs; expected one for each, in their order\n',
    });
  });
});
