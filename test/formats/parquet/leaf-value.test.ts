/** Values of a leaf, found in rows of all shapes. */
import { describe, expect, it } from 'vitest';
import type { PhysicalType } from '#src/formats/parquet/leaf.js';
import { findLeafValue, textOfValue, whyNoText } from '#src/formats/parquet/leaf-value.js';
import {
  entriesOf,
  type LeafShape,
  leafOf,
  type NestedValue,
  rowBytesOf,
} from '../../fixtures/parquet/rows-of-leaves.ts';

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
const SOUGHT: readonly (readonly [LeafShape, NestedValue, string | undefined])[] = [
  [shape('BYTE_ARRAY'), 'caf\u00e9', 'caf\u00e9'],
  [shape('BYTE_ARRAY', ['optional', 'optional']), null, undefined],
  [shape('INT32'), -5, '-5'],
  [shape('INT64', ['optional']), 2n ** 62n, String(2n ** 62n)],
];

describe('the value of a leaf', () => {
  it.each(SOUGHT)('%j is found behind all others: %s', (sought, value, text) => {
    const row = (column: LeafShape, each: NestedValue) => rowBytesOf(leafOf(column), entriesOf(column, each));
    const leaves = [...BEFORE.map(([column]) => leafOf(column)), leafOf(sought)];
    for (let i = 0; i < 12; i++) {
      const before = BEFORE.map(([column, values]) => row(column, values[i % values.length] ?? null));
      const start = 3;
      const memory = Buffer.concat([Buffer.alloc(start), ...before, row(sought, value), Buffer.alloc(9, 1)]);
      const found = findLeafValue(memory, start, leaves);
      const shown = found && Buffer.from(textOfValue(memory, found, leafOf(sought)), 'latin1').toString();
      expect(shown).toBe(text);
    }
  });

  it('is text only where there is one of it', () => {
    expect(whyNoText(leafOf(shape('DOUBLE')))).toMatch(/^column p0 has values of type DOUBLE; /);
    expect(whyNoText(leafOf(shape('INT64', LIST)))).toMatch(/^column p0.p1.p2 may have several values in a row; /);
  });
});
