/** README.md: its measured rows are those of the last result, and none of what it compares is missing there. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { lastPeerResult, peerRows, withRows } from '../../bench/peers.mjs';

const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');

it('the measured rows are those of bench/results', () => {
  const rows = peerRows(lastPeerResult());
  expect(rows.length).toBeGreaterThan(0);
  expect(withRows(readme, rows), 'run "npm run bench:peers -- --table-only"').toBe(readme);
  expect(rows.join('')).not.toContain('not measured');
});

it('a row says what took how long, and what cannot', () => {
  const measured = (name: string, median: number) => ({ name, outcome: 'done', figures: { wallSeconds: { median } } });
  const contestants = [
    measured('pileshuf', 3.31),
    measured('terashuf', 16.5),
    { name: 'shuf', outcome: 'skipped: it holds all lines in memory: 2 GB', figures: null },
    { name: 'duckdb', outcome: 'ran out of memory', figures: null },
    { name: 'buffer', outcome: 'skipped: python3 is not installed', figures: null },
  ];
  const comparisons = [{ name: 'terashuf / pileshuf', median: 5.04 }];
  const result = { case: { name: 'peers-cgroup' }, corpus: { bytes: 2_000_000_714 }, contestants, comparisons };
  const row =
    '| 2 GB of lines in 512 MB of memory | **3.3 s** | **cannot** | 17 s, 5.0 x | **cannot** | not measured |';
  expect(peerRows([{ ...result, case: { name: 'other' } }, result])).toEqual([row]);
  expect(withRows('a\n| 1 GB of lines | x |\n| 1 GB of lines in y | z |\nb\n', [row])).toBe(`a\n${row}\nb\n`);
  expect(withRows('| a   | b |\n| 1 GB of lines | x |\n', ['| c | d |'])).toBe('| a   | b |\n| c   | d |\n');
  expect(() => withRows('a\n', [row])).toThrow(/no rows/);
});
