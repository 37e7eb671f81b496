/**
 * The laws of jobs whose inputs have ids: the order follows from the keys that are derived from the ids, for any
 * settings. The order of the inputs does not change it, and added inputs do not change the order of the others.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { shuffle } from '#src/index.js';
import { atScale } from '../fixtures/scale.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';
import { anyInputs } from './any-inputs.js';
import { anySettings } from './any-settings.js';
import { recordsOf, referenceOrder } from './reference-order.js';
import { shuffleToFile } from './shuffle-under-test.js';

const directory = useMemoryDirectory();

/** Inputs and their ids. */
const named = anyInputs.chain((inputs) =>
  fc
    .uniqueArray(fc.string({ unit: 'grapheme', minLength: 1 }), { minLength: inputs.length, maxLength: inputs.length })
    .map((inputIds) => ({ inputs, inputIds })),
);

describe('a job whose inputs have ids', () => {
  it('has the bytes that they say, whatever the settings and the order of the inputs', async () => {
    await fc.assert(
      fc.asyncProperty(named, fc.string(), anySettings, async ({ inputs, inputIds }, seed, settings) => {
        const expected = Buffer.concat(referenceOrder(inputs, seed, 0x0a, inputIds));
        const { bytes } = await shuffleToFile(directory, { inputs, inputIds, seed, settings });
        expect(bytes.equals(expected)).toBe(true);
        const reversed = { inputs: inputs.toReversed(), inputIds: inputIds.toReversed() };
        expect((await shuffleToFile(directory, { ...reversed, seed, settings })).bytes.equals(expected)).toBe(true);
      }),
      { numRuns: atScale(4, 13, 25) },
    );
  });

  it('keeps the others in their order when an input is added', async () => {
    const several = named.filter(({ inputs }) => inputs.length > 1);
    await fc.assert(
      fc.asyncProperty(several, fc.string(), anySettings, async ({ inputs, inputIds }, seed, settings) => {
        const marked = inputs.map((input, i) =>
          Buffer.concat(recordsOf(input, 0x0a).map((r) => Buffer.concat([Buffer.from(`${i} `), r]))),
        );
        const orderOf = async (from: number) => {
          const job = { inputs: marked.slice(from), inputIds: inputIds.slice(from), seed, settings };
          return recordsOf((await shuffleToFile(directory, job)).bytes, 0x0a).map((record) =>
            record.toString('latin1'),
          );
        };
        expect((await orderOf(0)).filter((record) => !record.startsWith('0 '))).toEqual(await orderOf(1));
      }),
      { numRuns: atScale(2, 6, 12) },
    );
  });

  it.each([
    ['path', (name: string) => directory.path('in', name)],
    ['name', (name: string) => name],
  ] as const)('takes the ids by the rule %s', async (rule, idOf) => {
    const names = ['b', 'a', 'c'];
    const inputs = names.map((name) => Buffer.from(Array.from({ length: 40 }, (_, i) => `${name} ${i}\n`).join('')));
    mkdirSync(directory.path('in'));
    for (const [i, name] of names.entries()) writeFileSync(directory.path('in', name), inputs[i] ?? '');
    const output = directory.path('out');
    await shuffle({ inputs: [directory.path('in')], inputIds: rule, output, seed: 's' });
    const expected = Buffer.concat(referenceOrder(inputs, 's', 0x0a, names.map(idOf)));
    expect(readFileSync(output).equals(expected)).toBe(true);
  });
});
