/** Records with equal keys, which random keys never have in the other tests: here all inputs have the same key. */
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { appendToStore, type ShuffleOptions, shuffle, shuffleStore } from '#src/index.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';

vi.mock(import('#src/floor/keys.js'), async (importOriginal) => ({
  ...(await importOriginal()),
  deriveInputKey: () => 7n,
}));

const directory = useMemoryDirectory();

/** Of records of the same length, so that the input of the second has keys that are those of the first. */
const INPUTS = ['one', 'two', 'six'].map((word) =>
  Array.from({ length: 50 }, (_, i) => `${i + 10} ${word}\n`).join(''),
);

function write(inputs: readonly string[]): string[] {
  return inputs.map((text, i) => {
    writeFileSync(directory.path(`in-${i}`), text);
    return directory.path(`in-${i}`);
  });
}

const output = () => directory.path('out');
const recordsOfOutput = () => readFileSync(output(), 'latin1').split('\n').slice(0, -1);

async function orderOf(inputs: readonly string[], options: Partial<ShuffleOptions>): Promise<string[]> {
  await shuffle(
    { inputs: write(inputs), output: output(), force: true, ...options },
    { inline: true, sliceBytes: 100 },
  );
  return recordsOfOutput();
}

async function orderOfStore(name: string, inputs: readonly string[]): Promise<string[]> {
  const store = directory.path(name);
  for (const path of write(inputs)) await appendToStore(store, { inputs: [path], seed: 's' }, { inline: true });
  await shuffleStore(store, { output: output(), force: true }, { inline: true });
  return recordsOfOutput();
}

/** The words of each three records of one key. */
function wordsOfTies(order: readonly string[]): Set<string> {
  const words = order.map((record) => record.slice(3));
  return new Set(Array.from({ length: 50 }, (_, i) => words.slice(3 * i, 3 * i + 3).join(' ')));
}

describe('records of equal keys', () => {
  it('come in the order of their inputs, or of their bytes where these have ids', async () => {
    expect(wordsOfTies(await orderOf(INPUTS, {}))).toEqual(new Set(['one two six']));
    expect(wordsOfTies(await orderOf(INPUTS.toReversed(), {}))).toEqual(new Set(['six two one']));
    const order = await orderOf(INPUTS, { inputIds: ['a', 'b', 'c'] });
    expect(wordsOfTies(order)).toEqual(new Set(['one six two']));
    expect(await orderOf(INPUTS.toReversed(), { inputIds: 'name' })).toEqual(order);
  });

  it('come in the order of their bytes in stores, whatever was added first', async () => {
    const order = await orderOfStore('store', INPUTS);
    expect(wordsOfTies(order)).toEqual(new Set(['one six two']));
    expect(await orderOfStore('other', INPUTS.toReversed())).toEqual(order);
  });
});
