/** Numbers whose places are computed are uniform, and in a uniform order. chi-square.ts explains the bounds. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { shuffle } from '#src/index.js';
import { atScale } from '../fixtures/scale.js';
import { expectUniform } from './chi-square.js';
import { useFastDirectory } from './fast-directory.js';

const directory = useFastDirectory();
const PARTS = 20;
const COUNT = atScale(20_000, 100_000, 1_000_000);

it.each([false, true])('draws of numbers, with replacement: %s', async (repeat) => {
  const range = { low: 5n, high: 2n ** 24n + 4n };
  const output = directory.path('out');
  await shuffle({ inputs: [{ range }], headCount: COUNT, repeat, seed: 'few', output, force: true });
  const numbers = readFileSync(output, 'latin1').split('\n').slice(0, -1).map(Number);
  expect(numbers).toHaveLength(COUNT);
  expect(new Set(numbers).size === COUNT).toBe(!repeat);
  const pairs = new Float64Array(PARTS * PARTS);
  const partOf = (place: number) => Math.floor((((numbers[place] ?? 0) - Number(range.low)) * PARTS) / 2 ** 24);
  for (let place = 0; place < COUNT; place += 2) {
    const cell = partOf(place) * PARTS + partOf(place + 1);
    pairs[cell] = (pairs[cell] ?? 0) + 1;
  }
  expectUniform(pairs, 399, 'parts of the range at neighbouring places');
});
