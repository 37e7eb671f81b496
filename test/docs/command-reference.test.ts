/** The pages of commands match the table of options. `npm run docs:reference` writes them anew. */
import { readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { commandSummaries } from '#src/cli/command-table.js';
import { optionTable } from '#src/cli/option-table.js';
import { commandReference, REFERENCE_PAGES } from './command-reference.js';

const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');

it.each(Object.keys(REFERENCE_PAGES))('docs/%s is up to date; npm run docs:reference writes it', async (page) => {
  const path = new URL(`../../docs/${page}`, import.meta.url);
  const reference = await commandReference(page);
  if (process.env['PILESHUF_WRITE_REFERENCE'] === '1') writeFileSync(path, reference);
  expect(readFileSync(path, 'utf8')).toBe(reference);
});

it('each command has one page', () => {
  const described = Object.values(REFERENCE_PAGES).flatMap(({ commands }) => commands);
  expect(described.toSorted()).toEqual(Object.keys(commandSummaries).toSorted());
});

it('README names no option that does not exist', () => {
  const names = new Set<string>(optionTable.map(({ name }) => name));
  const lines = readme.split('\n').filter((line) => /\bpileshuf\b|^\| `-/.test(line));
  const named = lines.flatMap((line) => [...line.matchAll(/(?<![\w-])--([a-z][a-z0-9-]+)/g)].map(([, name]) => name));
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter((name) => !names.has(name ?? '') && name !== 'help' && name !== 'version')).toEqual([]);
});
