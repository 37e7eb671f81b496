/** What rows are, what lies beside them, and which files are refused for it. */
import { describe, expect, it } from 'vitest';
import { chooseRows } from '#src/formats/rows/hdf5/choose-rows.js';
import { readDataset } from '#src/formats/rows/hdf5/dataset.js';
import { makeHead } from '#src/formats/rows/hdf5/file-head.js';
import { objectsIn } from '#src/formats/rows/hdf5/groups.js';
import { metadataDifference, metadataFacts } from '#src/formats/rows/hdf5/metadata.js';
import { refuseOwnLayouts } from '#src/formats/rows/hdf5/open-datasets.js';
import { bytesMadeByH5py, hdf5In } from '../../../fixtures/hdf5-files.js';
import { type SmallObject, smallHdf5 } from '../../../fixtures/small-hdf5.js';

const X = { lengths: [6, 2] };
const Y = { lengths: [6] };

function open(bytes: Buffer, names?: readonly string[]) {
  const file = hdf5In(bytes);
  const objects = objectsIn(file);
  refuseOwnLayouts(file, objects);
  const { datasets, numbers, leftOut } = chooseRows(file, objects, names);
  makeHead({ file, objects, datasets, rows: numbers, leftOut });
  return { file, objects, rows: new Set(numbers.keys()), leavesOut: ({ path }: { path: string }) => leftOut.has(path) };
}

const choose = (links: Readonly<Record<string, SmallObject>>, names?: readonly string[]) =>
  open(smallHdf5(links), names);

describe('rows', () => {
  it('are those of all datasets with dimensions', () => {
    expect(choose({ X, y: Y, count: { lengths: [] }, again: { softPath: '/X' } }).rows.size).toBe(2);
  });

  it.each<readonly [string, Readonly<Record<string, SmallObject>>, readonly string[] | undefined, RegExp]>([
    [
      'datasets of other lengths',
      {
        X,
        y: Y,
        offsets: { lengths: [7] },
        few: { links: Object.fromEntries([...'abcde'].map((name) => [name, { lengths: [2] }])) },
      },
      undefined,
      /^its datasets have 7 rows \(\/offsets\), 6 rows \(\/X, \/y\), 2 rows \(\/few\/a, \/few\/b, \/few\/c and 2 more\); .* with `hdf5`, or remove the others$/,
    ],
    ['an empty dataset beside others', { X, none: { lengths: [0] } }, undefined, /6 rows \(\/X\), 0 rows \(\/none\)/],
    ['no dataset with dimensions', { count: { lengths: [] } }, undefined, /^it has no dataset with rows$/],
    [
      'a link to another file',
      { X, group: { links: { z: { outside: 'b.h5' } } } },
      ['X'],
      /^\/group\/z is a link to another file; /,
    ],
    [
      'a scale that is left out',
      { time: Y, X: { ...X, attributes: { DIMENSION_LIST: { path: '/time' } } } },
      ['X'],
      /^the attribute DIMENSION_LIST of \/X refers to \/time, which is left out; name \/time with `hdf5`, too$/,
    ],
    [
      'pandas',
      { df: { links: { axis1: Y, block0_values: X }, attributes: { pandas_type: 'frame' } } },
      undefined,
      /^\/df is a table of pandas, .*to_parquet/,
    ],
    [
      'a table of PyTables',
      { t: { ...Y, attributes: { CLASS: 'TABLE', VERSION: '2.7' } } },
      undefined,
      /^\/t is a table of PyTables .*to_parquet/,
    ],
    [
      'an index of PyTables',
      { t: Y, _i_t: { links: { i: { links: {}, attributes: { CLASS: 'INDEX', TITLE: '', VERSION: '2.1' } } } } },
      ['t'],
      /^\/_i_t\/i is a table of PyTables or its index/,
    ],
    [
      'rows of a sparse matrix',
      { X: { links: { data: Y }, attributes: { 'encoding-type': 'csr_matrix' } } },
      undefined,
      /^\/X is a sparse matrix, .*toarray/,
    ],
    [
      'columns of a sparse matrix',
      { X: { links: { data: Y }, attributes: { h5sparse_format: 'csc' } } },
      ['X/data'],
      /^\/X is a sparse/,
    ],
    ['pointers to rows', { m: { links: { data: Y, indices: Y, indptr: Y } } }, undefined, /^\/m is a sparse matrix/],
    [
      'MATLAB',
      { X: { ...X, attributes: { MATLAB_class: 'double' } } },
      undefined,
      /^\/X is an array of MATLAB .*\.T`$/,
    ],
    [
      'Octave',
      { X: { links: { value: X }, attributes: { OCTAVE_NEW_FORMAT: 1 } } },
      undefined,
      /^\/X is an array of MATLAB or Octave/,
    ],
  ])('are refused: %s', (_, links, names, message) => {
    expect(() => choose(links, names)).toThrow(message);
  });

  it('are those of other tables and arrays that have such names', () => {
    const attributes = { CLASS: 'TABLE', VERSION: '3.0' };
    expect(
      choose({ t: { ...Y, attributes }, e: { ...Y, attributes: { CLASS: 'EARRAY', VERSION: '2.1' } } }).rows.size,
    ).toBe(2);
  });

  it('are left out where their scale is named, but not they', () => {
    const attributes = { REFERENCE_LIST: { path: '/y' } };
    expect(choose({ y: Y, time: { ...Y, attributes } }, ['time']).rows.size).toBe(1);
  });
});

describe('the rest of a file', () => {
  const first = { X, scale: { lengths: [2, 3] } };
  const differenceOf = (other: Buffer, expected = smallHdf5(first, { title: 'a' })) => {
    const metadata = new Map(metadataFacts(open(expected, ['X'])));
    return metadataDifference('b.h5', metadataFacts(open(other, ['X'])), { path: 'a.h5', metadata });
  };

  it.each([
    ['at other addresses', smallHdf5({ scale: first.scale, X }, { title: 'a' })],
    ['in other chunks', smallHdf5({ X, scale: { lengths: [2, 3], chunk: 'one' } }, { title: 'a' })],
    ['beside more rows', smallHdf5({ ...first, X: { lengths: [9, 2] } }, { title: 'a' })],
    ['written by another version', smallHdf5(first, { title: 'a', _NCProperties: 'version=2' })],
    ['with the fill value that is none', smallHdf5({ ...first, X: { ...X, fill: 0 } }, { title: 'a' })],
  ])('is equal %s', (_, other) => {
    expect(differenceOf(other)).toBeUndefined();
  });

  it.each<readonly [Buffer, string]>([
    [smallHdf5(first, { title: 'b' }), 'the attribute title of / is "b" in b.h5, and "a" in a.h5'],
    [smallHdf5(first, { title: 'a\0' }), 'the attribute title of / has another type in b.h5 than in a.h5'],
    [smallHdf5(first, { title: 'long'.repeat(50) }), 'b.h5 and a.h5 differ in the attribute title of /'],
    [smallHdf5(first), 'only a.h5 has the attribute title of /'],
    [
      smallHdf5({ ...first, X: { ...X, attributes: { scale: 0.1 } } }, { title: 'a' }),
      'only b.h5 has the attribute scale of /X',
    ],
    [smallHdf5({ ...first, X: { ...X, fill: 9 } }, { title: 'a' }), 'b.h5 and a.h5 differ in the fill value of /X'],
    [
      smallHdf5({ X, scale: { lengths: [2, 3], values: [0, 1, 2, 3, 4, 6] } }, { title: 'a' }),
      'b.h5 and a.h5 differ in the values of /scale',
    ],
    [smallHdf5({ X, scale: { lengths: [3, 2] } }, { title: 'a' }), 'b.h5 and a.h5 differ in the dataset /scale'],
    [smallHdf5({ ...first, more: { lengths: [3] } }, { title: 'a' }), 'only b.h5 has the dataset /more'],
    [smallHdf5({ ...first, group: { links: {} } }, { title: 'a' }), 'only b.h5 has the group /group'],
    [smallHdf5({ ...first, soft: { softPath: '/X' } }, { title: 'a' }), 'only b.h5 has the link /soft'],
  ])('differs, and says where: case %#', (other, expected) => {
    expect(differenceOf(other)).toBe(expected);
  });

  it('has references by paths, and dimensions of netCDF by their kind', () => {
    const withScale = (rows: number, order: 'first' | 'last', path = '/s') => {
      const NAME = `This is a netCDF dimension but not a netCDF variable.${String(rows).padStart(10)}`;
      const scales = { s: { lengths: [2], attributes: { NAME } }, t: { lengths: [2] } };
      const data = { X: { lengths: [rows, 2], attributes: { DIMENSION_LIST: { path } } } };
      return smallHdf5(
        order === 'first' ? { pad: { links: {} }, ...scales, ...data } : { ...scales, pad: { links: {} }, ...data },
      );
    };
    const expected = withScale(5, 'first');
    expect(differenceOf(withScale(12, 'last'), expected)).toBeUndefined();
    expect(differenceOf(withScale(5, 'first', '/t'), expected)).toMatch(
      /differ in the attribute DIMENSION_LIST of \/X/,
    );
  });

  it.each(['old', 'latest'] as const)('has values of variable length, attributes in heaps and links: %s', (name) => {
    const bytes = bytesMadeByH5py(name);
    const all = objectsIn(hdf5In(bytes)).filter(({ kind }) => kind === 'dataset');
    const names = all
      .filter((each) => readDataset(hdf5In(bytes), each)?.shape.lengths[0] === 41)
      .map(({ path }) => path);
    const facts = (of: Buffer) => metadataFacts(open(of, names));
    const first = { path: 'a', metadata: new Map(facts(bytes)) };
    expect([...first.metadata.keys()]).toEqual(
      expect.arrayContaining(['the values of /names', 'the link /soft', 'the group /groups/7']),
    );
    expect(metadataDifference('b', facts(bytes), first)).toBeUndefined();
    const other = Buffer.from(bytes);
    other.set(Buffer.from('cow'), other.indexOf('cat'));
    expect(metadataDifference('b', facts(other), first)).toBe('b and a differ in the values of /names');
  });
});
