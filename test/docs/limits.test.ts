/** docs/LIMITS.md: its numbers are those of the code, and it has all error codes. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { textOf } from './page-blocks.js';

const page = textOf('docs/LIMITS.md');
const UNITS: Readonly<Record<string, number>> = { KIB: 2 ** 10, MIB: 2 ** 20, GIB: 2 ** 30 };

/** The value of a constant: a product, difference or power of numbers and units. */
function constantIn(file: string, name: string): number {
  const source = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
  const [, text = ''] = new RegExp(`const ${name} = ([^;]+);`).exec(source) ?? expect.fail(`${file} has no ${name}`);
  const powers = text
    .replaceAll('_', '')
    .replace(/(\d+) \*\* (\d+)/g, (_, base, power) => `${Number(base) ** Number(power)}`);
  const [first = '', ...others] = powers.split(/ (?=[*-])/);
  const numberOf = (word: string) => UNITS[word] ?? Number(word);
  return others.reduce(
    (value, word) => (word[0] === '*' ? value * numberOf(word.slice(2)) : value - numberOf(word.slice(2))),
    numberOf(first),
  );
}

it.each([
  ['src/plan/shard-cuts.ts', 'MOST_SHARDS', 1],
  ['src/formats/header.ts', 'MOST_HEADER_BYTES', 2 ** 20],
  ['src/options/value-checks.ts', 'LARGEST_MAX_RECORD_BYTES', 2 ** 20],
  ['src/options/value-checks.ts', 'MOST_WORKERS', 1],
  ['src/options/value-checks.ts', 'MOST_MISSING_BYTES', 1],
  ['src/formats/framings/lengths.ts', 'MOST_FIXED_BYTES', 2 ** 30],
  ['src/job/shard-options.ts', 'MOST_SPLITS', 1],
  ['src/job/mix-options.ts', 'MOST_GROUPS', 1],
  ['src/job/together-options.ts', 'MOST_MEMBERS', 1],
  ['src/formats/record-kind.ts', 'MOST_TEXT_BYTES', 1],
  ['src/formats/framings/lines.ts', 'MOST_LINES', 1],
  ['src/formats/rows/parquet/schema.ts', 'MOST_ELEMENTS', 1],
  ['src/formats/selector.ts', 'MOST_COLUMN', 1],
  ['src/formats/selector.ts', 'MOST_KEYS', 1],
  ['src/piles/pile-layout.ts', 'MOST_PILES', 1],
  ['src/options/cluster-options.ts', 'MOST_TASKS', 1],
  ['src/formats/rows/hdf5/file-head.ts', 'MOST_MESSAGE_BYTES', 1],
  ['src/formats/rows/hdf5/file-head.ts', 'MOST_COPIED_BYTES', 2 ** 20],
  ['src/store/commit-to-store.ts', 'MOST_ID_CHARACTERS', 1],
  ['src/store/generations.ts', 'MOST_CHARACTERS', 1],
  ['src/plan/memory-plan.ts', 'SMALLEST_SHARE_BYTES', 2 ** 20],
  ['src/keep/repeat.ts', 'LEAST_BYTES_TO_DRAW', 2 ** 20],
])('%s: %s', (file, name, unit) => {
  const shown = (constantIn(file, name) / unit).toLocaleString('en');
  const ofUnit = unit === 1 ? '' : unit === 2 ** 20 ? ' MiB' : ' GiB';
  expect(page).toMatch(new RegExp(`(?<![\\d,.])${shown}${ofUnit}(?![\\d,]*\\d)`));
});

it('has all error codes', () => {
  const codes = new Set(textOf('src/errors.ts').match(/(?<=')(?:ERR_[A-Z_]+|ABORT_ERR)(?=')/g));
  expect([...codes].filter((code) => !page.includes(`\`${code}\``))).toEqual([]);
});
