/** Jobs that read HDF5: rows come in the order of the same rows as `.npy`, and the rest of the first input comes along. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { formatNpyHeader } from '#src/formats/headers/npy-header.js';
import { type ShuffleOptions, shuffle, shuffleTogether, verifyPermutation } from '#src/index.js';
import { appendToStore } from '#src/job/append.js';
import { errorOf } from '../fixtures/error-of.ts';
import { bytesMadeByH5py, datasetAt, objectsOf, recordsIn, rowsIn, writeNumbers } from '../fixtures/hdf5-files.ts';
import { atScale } from '../fixtures/scale.ts';
import { smallHdf5 } from '../fixtures/small-hdf5.ts';
import { useMemoryDirectory } from '../fixtures/temp-directory.ts';

const directory = useMemoryDirectory();
const INLINE = { inline: true };
type Row = readonly [number, number, number];
const rowsOf = (count: number, first = 0): Row[] =>
  Array.from({ length: count }, (_, i) => [first + i, (first + i) * 7, i % 5]);

let inputs: string[] = [];
beforeEach(() => {
  inputs = ['a.h5', 'b.h5'].map((name, i) => {
    const path = directory.path(name);
    writeNumbers(path, rowsOf(100 + 31 * i, 1000 * i), 7 - 2 * i);
    return path;
  });
});

const job = (options: Partial<ShuffleOptions> = {}) => {
  const asked = { inputs, output: directory.path('out.h5'), seed: 's', tempDirs: [directory.temp], force: true };
  return { ...asked, ...options } as ShuffleOptions;
};
const numbersIn = (path: string) => recordsIn(readFileSync(path), '/numbers', '/tag');

describe('rows of datasets', () => {
  it('come in the order of the same rows as .npy, with keys from ordinals', async () => {
    const arrays = inputs.map((path, i) => {
      const rows = rowsIn(readFileSync(path), '/numbers');
      const array = directory.path(`${i}.npy`);
      const header = formatNpyHeader({ dtype: '<u4', rowShape: [2] }, rows.byteLength / 8);
      writeFileSync(array, Buffer.concat([header, rows]));
      return array;
    });
    const output = directory.path('out.npy');
    await shuffle(job({ inputs: arrays, output, records: { by: 'npy' }, keys: 'ordinal' }), INLINE);
    await shuffle(job(), INLINE);
    const array = readFileSync(output);
    const rows = rowsIn(readFileSync(directory.path('out.h5')), '/numbers');
    expect(rows.equals(array.subarray(-rows.byteLength))).toBe(true);
    expect(numbersIn(directory.path('out.h5')).toSorted()).toEqual(inputs.flatMap(numbersIn).toSorted());
  });

  it('have the same bytes whatever the slices, the piles and the memory', async () => {
    await shuffle(job(), INLINE);
    const expected = readFileSync(directory.path('out.h5'));
    const sizes = fc.record({
      sliceBytes: fc.integer({ min: 50, max: 900 }),
      pileCount: fc.integer({ min: 1, max: 9 }),
      outputBytes: fc.constantFrom(64, 4096),
    });
    await fc.assert(
      fc.asyncProperty(sizes, async (tuning) => {
        await shuffle(job(), { ...INLINE, ...tuning });
        expect(readFileSync(directory.path('out.h5')).equals(expected)).toBe(true);
      }),
      { numRuns: atScale(2, 10, 100) },
    );
  });

  it.each<Partial<ShuffleOptions>>([
    { shards: { by: 'count', shardCount: 4 } },
    { shards: { by: 'records', recordsPerShard: 50 } },
    { shards: { by: 'bytes', maxShardBytes: 500 } },
    {
      splits: [
        { name: 'test', records: 31 },
        { name: 'train', rest: true },
      ],
    },
  ])('fill shards one after the other: %o', async (options) => {
    await shuffle(job(), INLINE);
    const output = directory.path('shards');
    await shuffle(job({ ...options, output }), INLINE);
    const names = readdirSync(output).filter((name) => name.endsWith('.h5'));
    const all = names.toSorted().flatMap((name) => numbersIn(`${output}/${name}`));
    expect(all).toEqual(numbersIn(directory.path('out.h5')));
  });

  it('are left out and repeated as other records are', async () => {
    const [first = ''] = inputs;
    await shuffle(job({ inputs: [first, first], unique: true }), INLINE);
    expect(numbersIn(directory.path('out.h5'))).toHaveLength(100);
    await shuffle(job({ headCount: 10 }), INLINE);
    expect(numbersIn(directory.path('out.h5'))).toHaveLength(10);
    await shuffle(job({ headCount: 0 }), INLINE);
    expect(numbersIn(directory.path('out.h5'))).toEqual([]);
    await shuffle(job({ weights: [{ glob: '*b.h5', factor: 2 }] }), INLINE);
    expect(numbersIn(directory.path('out.h5'))).toHaveLength(100 + 2 * 131);
  });

  it('stay with the rows of an array that belongs to them', async () => {
    const [first = ''] = inputs;
    const rows = rowsIn(readFileSync(first), '/numbers');
    const array = directory.path('mates.npy');
    writeFileSync(array, Buffer.concat([formatNpyHeader({ dtype: '<u4', rowShape: [2] }, 100), rows]));
    const output = directory.path('together');
    await shuffleTogether({ together: [[first, array]], output, seed: 's', tempDirs: [directory.temp] }, INLINE);
    const mates = readFileSync(`${output}/mates.npy`);
    expect(rowsIn(readFileSync(`${output}/a.h5`), '/numbers').equals(mates.subarray(-rows.byteLength))).toBe(true);
  });

  it('are what verify finds in the output', async () => {
    await shuffle(job(), INLINE);
    const compared = await verifyPermutation({ inputs, outputs: [directory.path('out.h5')] });
    expect(compared).toMatchObject({ isPermutation: true });
  });
});

/** The datasets of a file of h5py that have rows, which are more than those of its other ones. */
function rowsOfFirst(bytes: Buffer): string[] {
  return [...objectsOf(bytes)].flatMap(([path, { kind }]) =>
    kind === 'dataset' && datasetAt(bytes, path).shape.lengths[0] === 41 ? [path] : [],
  );
}

describe('the first input', () => {
  it.each(['old', 'latest'] as const)('gives types, shapes and all that has no rows: %s', async (name) => {
    const bytes = bytesMadeByH5py(name);
    const path = directory.path('first.h5');
    writeFileSync(path, bytes);
    const told: string[] = [];
    const hdf5 = rowsOfFirst(bytes);
    await shuffle(job({ inputs: [path, path], hdf5, onWarning: (line) => told.push(line) }), INLINE);
    const written = readFileSync(directory.path('out.h5'));
    expect([...objectsOf(written).keys()].toSorted()).toEqual([...objectsOf(bytes).keys()].toSorted());
    for (const [object, { kind }] of objectsOf(bytes)) {
      if (kind !== 'dataset') continue;
      const [before, after] = [datasetAt(bytes, object), datasetAt(written, object)];
      expect(after).toMatchObject({ type: before.type, filters: before.filters, fill: before.fill });
      const [rows, ...inRow] = before.shape.lengths;
      expect(after.shape.lengths).toEqual([rows === 41 ? 82 : rows, ...inRow]);
    }
    const datasets = [...objectsOf(bytes).keys()].filter((object) => object.startsWith('/rows/'));
    const before = recordsIn(bytes, ...datasets);
    expect(recordsIn(written, ...datasets).toSorted()).toEqual([...before, ...before].toSorted());
    expect(told.join('\n')).toMatch(/names, \/packed, \/references: copied as they are, because `hdf5`/);
  });

  it('gives the filters that are written, and numbers behind others as they are', async () => {
    const bytes = bytesMadeByH5py('packed');
    const path = directory.path('packed.h5');
    writeFileSync(path, bytes);
    const told: string[] = [];
    await shuffle(job({ inputs: [path], onWarning: (line) => told.push(line) }), INLINE);
    const written = readFileSync(directory.path('out.h5'));
    const datasets = [...objectsOf(bytes).keys()].filter((object) => object !== '/');
    expect(recordsIn(written, ...datasets).toSorted()).toEqual(recordsIn(bytes, ...datasets).toSorted());
    for (const each of datasets) expect(datasetAt(written, each).filters).toEqual(datasetAt(bytes, each).filters);
    expect(told.join('\n')).toMatch(/\/nbit \(nbit\), .*: written without these filters, which pileshuf only reads/);
  });

  it('gives only the datasets that are named, and tells which others have rows', async () => {
    const told: string[] = [];
    await shuffle(job({ hdf5: ['tag'], onWarning: (line) => told.push(line) }), INLINE);
    expect([...objectsOf(readFileSync(directory.path('out.h5'))).keys()]).toEqual(['/', '/tag']);
    expect(told.join('\n')).toMatch(/\/numbers: left out, because `hdf5` does not name them/);
  });

  it('gives the rest for all inputs, and the block of a user for none', async () => {
    const [first = '', second = ''] = inputs;
    const told: string[] = [];
    writeFileSync(second, Buffer.concat([Buffer.from('a user'), Buffer.alloc(16_378), readFileSync(second)]));
    const onWarning = (line: string) => told.push(line);
    await shuffle(job({ onWarning }), INLINE);
    expect(numbersIn(directory.path('out.h5'))).toHaveLength(231);
    expect(told).toEqual([`${second}: the user block before the HDF5 data is left out`]);
    writeFileSync(first, smallHdf5({ X: { lengths: [4] }, names: { lengths: [3] } }));
    writeFileSync(second, smallHdf5({ X: { lengths: [5] }, names: { lengths: [3] }, more: { lengths: [5] } }));
    await shuffle(job({ hdf5: ['X'], onWarning }), INLINE);
    expect(told.slice(1)).toEqual([
      '/names: copied as they are, because `hdf5` does not name them',
      '/more: left out, because `hdf5` does not name them',
    ]);
    expect([...objectsOf(readFileSync(directory.path('out.h5'))).keys()]).toEqual(['/', '/X', '/names']);
    await shuffle(job({ inputs: [first, first], hdf5: ['names'] }), INLINE);
    writeFileSync(second, smallHdf5({ X: { lengths: [5] }, names: { lengths: [5] } }));
    for (const [hdf5, difference] of [
      [['X'], 'differ in the dataset /names'],
      [['names'], 'differ in the dataset /X'],
    ] as const) {
      const error = await errorOf(shuffle(job({ hdf5 }), INLINE));
      expect(error).toMatchObject({ kind: 'input', message: expect.stringMatching(difference) });
      expect(error.message).toMatch(/; the output has it once, so it must be equal in all inputs: [^\n]*$/);
    }
  });
});

describe('values of rows', () => {
  const tags = () => inputs.flatMap((path) => rowsIn(readFileSync(path), '/tag').toString('hex').match(/../g) ?? []);

  it('weigh these, are unique, are in one split, stay together, and add up', async () => {
    await shuffle(job({ weightBy: '.tag' }), INLINE);
    const weighed = recordsIn(readFileSync(directory.path('out.h5')), '/numbers', '/tag').toSorted();
    const copies = inputs.flatMap(numbersIn).flatMap((row, i) => Array(Number(tags()[i])).fill(row));
    expect(weighed).toEqual(copies.toSorted());
    expect((await shuffle(job({ uniqueBy: '.tag' }), INLINE)).records).toBe(5);
    const splits = [
      { name: 'a', share: 0.5 },
      { name: 'b', rest: true },
    ] as const;
    const { shards } = await shuffle(job({ splits, splitBy: '.tag', output: directory.path('parts') }), INLINE);
    const inSplits = shards.map((path) => new Set(rowsIn(readFileSync(path), '/tag')));
    expect(inSplits.reduce((sum, { size }) => sum + size, 0)).toBe(5);
    await shuffle(job({ groupBy: '.tag' }), INLINE);
    const grouped = [...rowsIn(readFileSync(directory.path('out.h5')), '/tag')];
    expect(grouped.filter((tag, i) => tag !== grouped[i - 1])).toHaveLength(5);
    const mix = { unit: '.tag', groups: [{ name: 'all', inputs: '*.h5', share: 1 }] };
    const { groups } = await shuffle(job({ mix }), INLINE);
    expect(groups?.[0]?.unit?.read).toBe(tags().reduce((sum, tag) => sum + Number.parseInt(tag, 16), 0));
  });
});

describe('refusals', () => {
  it.each<readonly [string, Partial<ShuffleOptions>, RegExp]>([
    ['other names', { hdf5: ['/x'] }, /names \/x, and the first input has no such dataset; it has \/numbers, \/tag/],
    ['values of rows', { uniqueBy: '/(a)/' }, /selects no value in the rows of .*a\.h5; expected a dataset/],
    ['compression', { compress: { codec: 'gzip' } }, /holds HDF5 data, and `compress` is for other outputs/],
    ['columns', { columns: ['a'] }, /`columns` chooses columns of Parquet files/],
    ['a stream', { output: '-' }, /holds HDF5 data, which cannot be written to standard output/],
    ['another name', { output: 'out.parquet' }, /the rows of HDF5 files become HDF5/],
    ['draws', { repeat: true, headCount: 5 }, /`repeat` does not draw rows/],
  ])('are one line: %s', async (_, options, message) => {
    const { kind, message: told } = await errorOf(shuffle(job(options), INLINE));
    expect(told).toMatch(message);
    expect(told).not.toContain('\n');
    expect(kind).toBe('usage');
  });

  it('name the dataset and the file that differ', async () => {
    const other = directory.path('other.h5');
    writeFileSync(other, bytesMadeByH5py('old'));
    const error = await errorOf(shuffle(job({ inputs: [...inputs, other] }), INLINE));
    expect(error).toMatchObject({
      kind: 'input',
      message: expect.stringMatching(/other\.h5 has no dataset \/numbers, unlike .*a\.h5/),
    });
  });

  it('name a file that is cut off', async () => {
    const [first = ''] = inputs;
    writeFileSync(first, readFileSync(first).subarray(0, 900));
    const error = await errorOf(shuffle(job(), INLINE));
    expect(error).toMatchObject({
      kind: 'input',
      code: 'ERR_INPUT_CORRUPT',
      message: expect.stringMatching(/a\.h5: it has 900 bytes, and by its superblock \d+: it is cut off/),
    });
  });

  it('name a chunk that does not decode', async () => {
    const path = directory.path('damaged.h5');
    const bytes = bytesMadeByH5py('old');
    const at = bytes.indexOf(Buffer.of(0x78, 0x5e));
    bytes.fill(0x55, at, at + 8);
    writeFileSync(path, bytes);
    const error = await errorOf(shuffle(job({ inputs: [path], hdf5: rowsOfFirst(bytes) }), INLINE));
    expect(error).toMatchObject({
      code: 'ERR_INPUT_CORRUPT',
      message: expect.stringMatching(/damaged\.h5: the chunk \(\d+.*\) of \/rows\/[\w-]+ at byte \d+ /),
    });
  });

  it('are those of jobs that keep records', async () => {
    const error = await errorOf(appendToStore(directory.path('store'), { inputs }, INLINE));
    expect(error.message).toMatch(
      /holds HDF5 data, not lines; name its file, not compressed, .*; else convert it to lines$/,
    );
  });
});
