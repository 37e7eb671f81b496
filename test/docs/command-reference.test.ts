/** docs/COMMANDS.md and docs/OPTIONS.md match the table of options. `npm run docs:reference` writes them anew. */
import { readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { optionTable } from '#src/cli/option-table.js';
import { commandReference, optionReference } from './command-reference.js';

const pages = {
  'COMMANDS.md': commandReference,
  'OPTIONS.md': optionReference,
};
const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');

it.each(Object.entries(pages))('docs/%s is up to date; npm run docs:reference writes it', async (name, make) => {
  const page = new URL(`../../docs/${name}`, import.meta.url);
  const reference = await make();
  if (process.env['PILESHUF_WRITE_REFERENCE'] === '1') writeFileSync(page, reference);
  expect(readFileSync(page, 'utf8')).toBe(reference);
});

it('README names no option that does not exist', () => {
  const names = new Set<string>(optionTable.map(({ name }) => name));
  const lines = readme.split('\n').filter((line) => /\bpileshuf\b|^\| `-/.test(line));
  const named = lines.flatMap((line) => [...line.matchAll(/(?<![\w-])--([a-z][a-z0-9-]+)/g)].map(([, name]) => name));
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter((name) => !names.has(name ?? '') && name !== 'help' && name !== 'version')).toEqual([]);
});
