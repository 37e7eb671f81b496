/** Lists of inputs and of their ids: literal names in order, nothing skipped. `refusals.test.ts` has lists of no use. */
import { writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { resolveInputIds, resolveInputs } from '#src/cli/named-files.js';
import { parseInputIds } from '#src/options/parse-options.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

const directory = useTestDirectory();
const { signal } = new AbortController();

it.each([
  ['--files-from', 'a\nb', ['a', 'b']],
  ['--files-from', 'b\na\nb\n', ['b', 'a', 'b']],
  ['--files-from', ' *.txt \r\n[x]\n-\n', [' *.txt \r', '[x]', '-']],
  ['--files0-from', 'a\nb\0c\0', ['a\nb', 'c']],
  ['--files0-from', 'a', ['a']],
])('the list %s %j has entries that are paths, behind the inputs that were typed', async (flag, text, names) => {
  writeFileSync(directory.path('list'), text);
  const lists = [{ flag, path: directory.path('list') }];
  expect(await resolveInputs(['z', '*'], lists, signal)).toEqual(['z', '*', ...names.map((path) => ({ path }))]);
  await expect(resolveInputs([], lists, AbortSignal.abort())).rejects.toMatchObject({ code: 'ABORT_ERR' });
});

it('a file of input ids has one a line, in whichever text', async () => {
  const file = directory.path('i:ds');
  for (const [text, ids] of [
    ['a\n b\tc \r\nŁ\n', ['a', ' b\tc \r', 'Ł']],
    ['a\nb', ['a', 'b']],
    ['', []],
  ] as const) {
    writeFileSync(file, text);
    expect(await resolveInputIds(parseInputIds(`file:${file}`, '--input-ids'), signal)).toEqual(ids);
  }
  const stopped = resolveInputIds({ file }, AbortSignal.abort());
  await expect(stopped).rejects.toMatchObject({ code: 'ABORT_ERR' });
});
