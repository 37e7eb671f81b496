/** The ids of inputs by each rule, and refused lists of ids. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import { UsageError } from '#src/errors.js';
import { deriveInputKey } from '#src/floor/keys.js';
import { chooseInputIds, describeInputIds, type InputIdRule, inputKeyOf } from '#src/sources/ids.js';
import { listInputs } from '#src/sources/list-inputs.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

const directory = useTestDirectory();

beforeEach(() => {
  for (const name of ['x', 'y']) mkdirSync(directory.path(name));
  for (const name of ['a', 'b', 'x/a', 'y/c']) writeFileSync(directory.path(...name.split('/')), 'record\n');
});

async function idsOf(rule: InputIdRule, ...inputs: readonly string[]) {
  const ignore = () => {};
  const listed = await listInputs(
    inputs.map((input) => (input === '-' ? input : `${directory.path()}/${input}`)),
    ignore,
  );
  const ids = chooseInputIds(rule, listed.inputs);
  const idOf = (ordinal: number) => (ids === undefined ? String(ordinal) : (ids[ordinal] ?? expect.fail('no id')));
  return listed.inputs.map((_, ordinal) => {
    expect(inputKeyOf('seed', ids, ordinal)).toBe(deriveInputKey('seed', idOf(ordinal)));
    return idOf(ordinal);
  });
}

describe('the id of an input', () => {
  it('is its ordinal, its path without detours, the last part of that, or what the list says', async () => {
    expect(await idsOf('ordinal', 'b', 'y')).toEqual(['0', '1']);
    expect(await idsOf('path', './b', 'y')).toEqual([directory.path('b'), directory.path('y', 'c')]);
    expect(await idsOf('name', './b', 'y')).toEqual(['b', 'c']);
    expect(await idsOf(['second', 'first'], 'b', 'y')).toEqual(['second', 'first']);
  });

  it('is that of no other input', async () => {
    const refusal = (name: string) =>
      expect.objectContaining({ code: 'ERR_OPTION', message: expect.stringMatching(name) });
    await expect(idsOf('name', 'a', 'b', 'x')).rejects.toThrow(UsageError);
    await expect(idsOf('name', 'a', 'b', 'x')).rejects.toThrow(refusal('/a and .*/x/a have the same input id "a"; '));
    await expect(idsOf('path', 'a', 'a')).rejects.toThrow(refusal('/a and .*/a have the same input id ".*/a"; '));
    await expect(idsOf(['1', '2', '1'], 'a', 'b', 'x')).rejects.toThrow(
      refusal('/a and .*/x/a have the same .* "1"; '),
    );
  });

  it('is in the list for every input, and for nothing else', async () => {
    await expect(idsOf(['1'], 'a', 'b')).rejects.toThrow(
      /^1 input ids are given for 2 inputs; expected one for each input,/,
    );
    await expect(idsOf(['1', '2', '3'], 'a', 'b')).rejects.toThrow(/^3 input ids are given for 2 inputs; /);
  });

  it('is nothing that standard input has for itself', async () => {
    await expect(idsOf('path', '-')).rejects.toThrow(/^standard input \(-\) has no name for an input id: /);
    await expect(idsOf('name', '-')).rejects.toThrow(/^standard input \(-\) has no name for an input id: /);
    expect(await idsOf(['named'], '-')).toEqual(['named']);
  });
});

describe('describeInputIds', () => {
  it('tells lists apart, and ids that together are the same text', () => {
    const lists = [undefined, [], ['ab', 'c'], ['a', 'bc'], ['c', 'ab'], ['a","bc'], ['0', '1']];
    expect(new Set(lists.map(describeInputIds)).size).toBe(lists.length);
    expect(describeInputIds(['ab', 'c'])).toBe(describeInputIds(['ab', 'c']));
  });
});
