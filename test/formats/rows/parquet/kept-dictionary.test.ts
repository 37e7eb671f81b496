/** Which columns keep their dictionaries. */
import { expect, it } from 'vitest';
import { type ArrowField, arrowType, writeArrowSchema } from '#src/formats/rows/parquet/arrow-schema.js';
import { dictionaryLeavesOf } from '#src/formats/rows/parquet/carried-dictionary.js';
import { keyValuesOf, tableOf } from './plain-footer.ts';

it('text has a dictionary whose order counts; numbers become plain columns when they are read', () => {
  const field = (name: string, type: string): ArrowField => ({
    name,
    isNullable: false,
    type: arrowType(type),
    dictionary: { id: 0, index: arrowType('Int', 8, 1), isOrdered: true, kind: undefined },
    children: [],
    metadata: [],
  });
  const fields = [field('number', 'Int'), field('text', 'Utf8')];
  const arrow = writeArrowSchema({ version: 4, endianness: undefined, fields, metadata: [] });
  const columns = [{ name: 'number', type: 'INT64' } as const, { name: 'text', type: 'BYTE_ARRAY' } as const];
  const table = tableOf(columns, { keyValues: keyValuesOf({ 'ARROW:schema': arrow }) });
  expect(dictionaryLeavesOf(table)).toEqual([{ leaf: 1, isOrdered: true }]);
});

it('pandas alone may say that text is ordered, as fastparquet writes it', () => {
  const pandas = {
    columns: [
      { name: 'text', metadata: { ordered: true } },
      { name: 'other', metadata: null },
    ],
  };
  const columns = ['other', 'text'].map((name) => ({ name, type: 'BYTE_ARRAY' }) as const);
  const table = tableOf(columns, { keyValues: keyValuesOf({ pandas: JSON.stringify(pandas) }) });
  expect(dictionaryLeavesOf(table)).toEqual([{ leaf: 1, isOrdered: true }]);
});
