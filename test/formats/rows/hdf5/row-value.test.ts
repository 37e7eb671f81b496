/** Values of rows: where a dataset lies in a row, and what its bytes mean. */
import { expect, it } from 'vitest';
import { finderOfDataset, seekDataset } from '#src/formats/rows/hdf5/row-value.js';
import type { RowsDataset } from '#src/formats/rows/hdf5/rows-spec.js';
import type { SoughtColumn } from '#src/formats/rows/row-format.js';

const datasetOf = (
  path: string,
  type: string,
  elementBytes: number,
  rowShape: readonly number[] = [],
): RowsDataset => ({
  ...{ path, type, elementBytes, rowShape, chunkLengths: [1], filters: [], mostLengths: [null] },
  rowBytes: rowShape.reduce((product, length) => product * length, elementBytes),
});
const whole = (bits: number) => `0000${bits.toString(16).padStart(2, '0')}00`;
const SINGLE = '00002000170800177f000000';
/** Types as h5py writes them. */
const TYPES: readonly (readonly [name: string, type: string, bytes: string, text: string])[] = [
  ['i8', `0.8.8(${whole(64)})`, 'feffffffffffffff', '-2'],
  ['u8', `0.0.8(${whole(64)})`, 'ffffffffffffffff', '18446744073709551615'],
  ['big', `0.9.4(${whole(32)})`, 'fffffffe', '-2'],
  ['u2', `0.0.2(${whole(16)})`, '0102', '513'],
  ['i1', `0.8.1(${whole(8)})`, 'ff', '-1'],
  ['f8', '1.3f20.8(00004000340b0034ff030000)', '9a9999999999b93f', '0.1'],
  ['f8big', '1.3f21.8(00004000340b0034ff030000)', '3fb999999999999a', '0.1'],
  ['f4', `1.1f20.4(${SINGLE})`, '0000203f', '0.625'],
  ['text', '3.0.4()', '61006278', 'a'],
  ['nuls', '3.1.4()', '61200000', 'a'],
  ['blanks', '3.2.4()', '61622020', 'ab'],
];
const datasets = TYPES.map(([name, type, bytes]) => datasetOf(`/g/${name}`, type, bytes.length / 2));
const rows = { format: 'HDF5', datasets, rowBytes: 0 };
const row = Buffer.from(TYPES.map(([, , bytes]) => bytes).join(''), 'hex');
const sought = (name: string, as: SoughtColumn['as']): SoughtColumn => ({ text: `.g.${name}`, keys: ['g', name], as });

it.each(TYPES)('%s has the type %s', (name, _, _bytes, text) => {
  const isText = ['text', 'nuls', 'blanks'].includes(name);
  const value = seekDataset(rows, 'in.h5', sought(name, 'number'));
  const memory = Buffer.concat([Buffer.of(1, 2, 3), row]);
  expect(finderOfDataset(value)(memory, 3)).toEqual({ text, encoding: 'latin1', isNumber: !isText });
});

it.each<readonly [RowsDataset, SoughtColumn['as'], RegExp]>([
  [
    datasetOf('/g/x', '1.3f20.8(00004000340b0034ff030000)', 8),
    'value',
    /of one dimension, of strings or whole numbers/,
  ],
  [datasetOf('/g/x', '1.f20.2(000010000a05000a0f000000)', 2), 'number', /of numbers/],
  [datasetOf('/g/x', `0.8.4(${whole(24)})`, 4), 'number', /of numbers/],
  [datasetOf('/g/x', `0.8.4(${whole(32)})`, 4, [2]), 'number', /of one dimension/],
  [datasetOf('/g/x', '8.2.1(0.8.1(00000800) 46,54 0001)', 1), 'number', /of numbers/],
  [datasetOf('/y', '3.0.4()', 4), 'value', /\.g\.x names no dataset of its rows/],
])('is refused: %j as %s', (dataset, as, message) => {
  expect(() => seekDataset({ ...rows, datasets: [dataset] }, 'in.h5', sought('x', as))).toThrow(message);
});
