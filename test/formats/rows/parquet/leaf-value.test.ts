/** Values of a leaf, found in rows of all shapes. */
import { describe, expect, it } from 'vitest';
import type { PhysicalType } from '#src/formats/rows/parquet/leaf.js';
import { findLeafValue, textOfValue, type ValueKind } from '#src/formats/rows/parquet/leaf-value.js';
import { seekLeaf } from '#src/formats/rows/parquet/parquet-format.js';
import { THRIFT, type ThriftWriter } from '#src/formats/rows/parquet/thrift.js';
import type { SoughtColumn } from '#src/formats/rows/row-format.js';
import {
  entriesOf,
  type LeafShape,
  leafOf,
  type NestedValue,
  rowBytesOf,
} from '../../../fixtures/parquet/rows-of-leaves.ts';
import { type PlainElement, tableOf } from './plain-footer.js';

const shape = (
  type: PhysicalType,
  repetitions: LeafShape['repetitions'] = ['required'],
  typeLength?: number,
): LeafShape => ({
  path: repetitions.map((_, i) => `p${i}`),
  repetitions,
  type,
  ...(typeLength !== undefined && { typeLength }),
});

const LIST = ['optional', 'repeated', 'optional'] as const;
const LISTS = ['repeated', 'repeated'] as const;
/** What may stand before the sought leaf. */
const BEFORE: readonly (readonly [LeafShape, readonly NestedValue[]])[] = [
  [shape('BOOLEAN'), [true, false]],
  [shape('INT32', ['optional']), [null, 7]],
  [shape('BYTE_ARRAY', ['optional']), [null, '', 'text']],
  [shape('FIXED_LEN_BYTE_ARRAY', ['required'], 3), [Buffer.from('abc')]],
  [shape('INT64', LIST), [null, [], [1n, null, 3n], [4n]]],
  [shape('BYTE_ARRAY', LISTS), [[], [['a', 'bc'], []], [['d']]]],
];
const SOUGHT: readonly (readonly [LeafShape, ValueKind, NestedValue, string | undefined])[] = [
  [shape('BYTE_ARRAY'), 'text', 'caf\u00e9', 'caf\u00e9'],
  [shape('BYTE_ARRAY', ['optional', 'optional']), 'text', null, undefined],
  [shape('INT32'), 'signed', -5, '-5'],
  [shape('INT32'), 'unsigned', -1, '4294967295'],
  [shape('INT64', ['optional']), 'signed', 2n ** 62n, String(2n ** 62n)],
  [shape('INT64', ['optional']), 'unsigned', -1n, String(2n ** 64n - 1n)],
];

const integer = (isSigned: boolean) => (writer: ThriftWriter) =>
  void writer.field(1).raw(THRIFT.I8, Uint8Array.of(32)).field(2).boolean(isSigned);
const KINDS: readonly [PlainElement, ValueKind | RegExp][] = [
  [{ name: 'bytes', type: 'BYTE_ARRAY' }, 'text'],
  [{ name: 'string', type: 'BYTE_ARRAY', logical: 1 }, 'text'],
  [{ name: 'old string', type: 'BYTE_ARRAY', converted: 0 }, 'text'],
  [{ name: 'decimal of bytes', type: 'BYTE_ARRAY', converted: 5 }, /^in: column .* of type BYTE_ARRAY \(DECIMAL\); /],
  [{ name: 'INT64', type: 'INT64' }, 'signed'],
  [{ name: 'signed', type: 'INT32', logical: 10, parameters: integer(true) }, 'signed'],
  [{ name: 'unsigned', type: 'INT32', logical: 10, parameters: integer(false) }, 'unsigned'],
  [{ name: 'old unsigned', type: 'INT64', converted: 14 }, 'unsigned'],
  [{ name: 'decimal', type: 'INT64', logical: 5 }, /of type INT64 \(DECIMAL\); expected strings or whole numbers$/],
  [{ name: 'date', type: 'INT32', logical: 6 }, /of type INT32 \(DATE\); /],
  [{ name: 'type of later times', type: 'INT32', logical: 77 }, /of type INT32; /],
  [{ name: 'number', type: 'DOUBLE' }, /of type DOUBLE; /],
  [{ name: 'list', type: 'INT64', repetition: 2 }, /^in: column list may have several values in a row; /],
];

describe('the value of a leaf', () => {
  it.each(SOUGHT)('%j is found behind all others as %s', (sought, kind, value, text) => {
    const row = (column: LeafShape, each: NestedValue) => rowBytesOf(leafOf(column), entriesOf(column, each));
    const leaves = [...BEFORE.map(([column]) => leafOf(column)), leafOf(sought)];
    for (let i = 0; i < 12; i++) {
      const before = BEFORE.map(([column, values]) => row(column, values[i % values.length] ?? null));
      const start = 3;
      const memory = Buffer.concat([Buffer.alloc(start), ...before, row(sought, value), Buffer.alloc(9, 1)]);
      const found = findLeafValue(memory, start, leaves);
      const shown = found && Buffer.from(textOfValue(memory, found, kind), 'latin1').toString();
      expect(shown).toBe(text);
    }
  });

  it.each(KINDS)('of $name is text or a number as JSON lines have it: %s', (element, expected) => {
    const table = tableOf([{ name: 'before', type: 'DOUBLE' }, element]);
    const rows = { format: 'Parquet', schema: table, codec: undefined };
    const seek = (as: SoughtColumn['as']) => () => seekLeaf(rows, 'in', { text: 'it', keys: [element.name], as });
    if (typeof expected !== 'string') expect(seek('value')).toThrow(expected);
    else expect(seek('value')()).toMatchObject({ kind: expected, leaves: table.leaves });
    if (element.type === 'FLOAT' || element.type === 'DOUBLE')
      expect(seek('number')()).toMatchObject({ kind: 'float' });
    else if (typeof expected === 'string') expect(seek('number')()).toEqual(seek('value')());
    else expect(seek('number')).toThrow(/; expected /);
  });
});
