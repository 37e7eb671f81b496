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
