/** The kernel tells values apart by all of their characters, and spreads the records of each over all of its pile keys. */
import { expect, it } from 'vitest';
import { parseSelector } from '#src/formats/selector.js';
import type { SectionRule } from '#src/keep/sections.js';
import { SECTION_TABLE_BYTES } from '#src/plan/arena-sizes.js';
import { ARENA_START, Kernel } from '#workers/kernel/kernel.js';
import { prepareKeys } from '#workers/piles/record-values.js';
import { SectionTable } from '#workers/piles/section-table.js';
import { scatterWithKernel } from './kernel-scatter.js';

const value = { selector: parseSelector('.v', '`each`'), missing: '', framing: undefined };

/** Scatters a record of each value to eight piles. */
function scatterValues(values: readonly (string | number)[], ranges: SectionRule['ranges'] = []) {
  const kernel = new Kernel();
  kernel.ensureArena(ARENA_START + SECTION_TABLE_BYTES);
  prepareKeys(kernel, { isDistinct: false, values: [{ purpose: 'section', rule: value }], splits: undefined }, false);
  kernel.wasm.useSecondKeys(true, false);
  const table = new SectionTable(kernel, ARENA_START, { value, name: 'v', ranges });
  const records = values.map((each) => Buffer.from(`{"v":${JSON.stringify(each)}}\n`));
  const sizes = { pileCount: 8, bufferBytes: 4096, scale: 1n };
  const input = { records, basePosition: 0n, inputKey: 7n };
  const { piles } = scatterWithKernel(kernel, ARENA_START + SECTION_TABLE_BYTES, sizes, input, 1000);
  return { piles, tallies: table.tallies(), records };
}

it('values of one place in the table have entries of their own', () => {
  // Many are as long as others, or begin like them.
  const values = Array.from({ length: 16_000 }, (_, i) => i);
  const { tallies, records } = scatterValues(values);
  expect(tallies.map(({ text, records: count, bytes }) => [text, count, bytes])).toEqual(
    values.map((each, i) => [`${each}`, 1, records[i]?.byteLength]),
  );
});

it('each record is counted with its value', () => {
  const { tallies } = scatterValues(Array.from({ length: 3000 }, (_, i) => ['a', 'b', '', 7][i % 4] ?? ''));
  expect(tallies.map(({ text, records }) => [text, records])).toEqual([
    ['"a', 750],
    ['"b', 750],
    ['"', 750],
    ['7', 750],
  ]);
});

it('the records of a value lie on all of its piles', () => {
  const quarter = 2n ** 62n;
  const ranges = [
    { text: '"a', firstKey: 0n, width: 3n * quarter },
    { text: '"b', firstKey: 3n * quarter, width: quarter },
  ];
  const count = 6000;
  const { piles } = scatterValues(
    Array.from({ length: count }, (_, i) => (i % 4 === 0 ? 'b' : 'a')),
    ranges,
  );
  // Five standard deviations.
  const [least, most] = [count / 8 - 130, count / 8 + 130];
  for (const { records } of piles) {
    expect(records).toBeGreaterThan(least);
    expect(records).toBeLessThan(most);
  }
});
