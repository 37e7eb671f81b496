/** The tables of a plan: rows come back as they were written, and no page passes for another. */
import { readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { StoredTable, writeTable } from '#src/cluster/plan-tables.js';
import { JOB_REMEDY } from '#src/io/sealed-file.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';

const directory = useMemoryDirectory();
const format = { name: 'rows', pageLength: 2, remedy: JOB_REMEDY };
const ROWS = [{ row: 0 }, { row: 1n }, { row: 2 }, { row: 3n }, { row: Number.POSITIVE_INFINITY }];

it.each([0, 1, 2, 3, 5])('have all of %d rows', async (count) => {
  const rows = ROWS.slice(0, count);
  const pages = await writeTable(directory.path(), format, 'a plan', rows);
  const table = new StoredTable(directory.path(), format, 'a plan', pages);
  expect([...table]).toEqual(rows);
  expect([table.length, table.at(Math.max(0, count - 1)), table.at(count)]).toEqual([count, rows.at(-1), undefined]);
});

it('refuse pages that have changed their places', async () => {
  const { length, ends } = await writeTable(directory.path(), format, 'a plan', ROWS);
  const path = directory.path('rows');
  const [bytes, end = 0] = [readFileSync(path), ends[0]];
  writeFileSync(path, Buffer.concat([bytes.subarray(end, 2 * end), bytes.subarray(0, end), bytes.subarray(2 * end)]));
  const table = new StoredTable(directory.path(), format, 'a plan', { length, ends });
  expect(() => table.at(0)).toThrow(/rows is damaged: expected row 0 of the plan a plan, got row 2 of a plan; /);
});
