/** docs/COMMANDS.md matches the table of options. `npm run docs:reference` writes it anew. */
import { readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { optionTable } from '#src/cli/option-table.js';
import { commandReference } from './command-reference.js';

const page = new URL('../../docs/COMMANDS.md', import.meta.url);
const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');

it('the page of commands is up to date; npm run docs:reference writes it', async () => {
  const reference = await commandReference();
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
