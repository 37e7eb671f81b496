/** examples/mix.schema.json takes the mixes of the pages, and refuses what the library refuses. */
import { Ajv } from 'ajv';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { shuffle } from '#src/index.js';
import { blocksOf, docs, textOf } from './page-blocks.js';

const schema = JSON.parse(textOf('examples/mix.schema.json')) as object;
const validate = new Ajv({ strict: true, strictTypes: false, strictRequired: false }).compile(schema);
const group = { name: 'a', inputs: 'a' };
const mixes = docs.flatMap((page) =>
  blocksOf(page).flatMap(({ kind, text }) => (kind === 'yaml' ? [parse(text)] : [])),
);

it('takes the mixes of the pages', () => {
  expect(mixes.length).toBeGreaterThan(0);
  for (const mix of [...mixes, { groups: [{ ...group, weight: '2.50' }] }])
    expect(validate(mix), JSON.stringify(validate.errors)).toBe(true);
});

it.each([
  {},
  { groups: [] },
  { groups: [group] },
  { groups: [{ ...group, weight: -1 }] },
  { groups: [{ ...group, weight: 1 }], unit: 'bytes' },
  { groups: [{ ...group, share: 1 }] },
  { groups: [{ ...group, share: 1, weight: 1 }], unit: 'bytes' },
  { groups: [{ ...group, share: 0 }], unit: 'bytes' },
  { groups: [{ ...group, share: 1 }], unit: 'n_tokens' },
  { groups: [{ ...group, share: 1, epochs: 2 }], unit: 'bytes' },
  { groups: [{ ...group, share: 1 }], unit: 'bytes', total: '300' },
  { groups: [{ name: 'a', inputs: [], weight: 1 }] },
])('refuses %j, as the library does', async (value) => {
  expect(validate(value)).toBe(false);
  await expect(shuffle({ inputs: [{ records: ['a'] }], output: '/dev/null', mix: value as never })).rejects.toThrow(
    /mix/,
  );
});
