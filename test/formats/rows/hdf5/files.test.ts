/** Files that another program wrote are read as they are; damaged ones are refused, whatever is damaged. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fletcher32, lookup3 } from '#src/formats/rows/hdf5/checksums.js';
import { attributesOf, linksOf, objectsIn } from '#src/formats/rows/hdf5/groups.js';
import { Cursor, Hdf5Problem } from '#src/formats/rows/hdf5/hdf5-bytes.js';
import { metadataFacts } from '#src/formats/rows/hdf5/metadata.js';
import { MESSAGE, messageIn } from '#src/formats/rows/hdf5/object-header.js';
import { readAttribute, readLayout } from '#src/formats/rows/hdf5/object-messages.js';
import { refuseOwnLayouts } from '#src/formats/rows/hdf5/open-datasets.js';
import { bytesMadeByH5py, datasetAt, hdf5In, objectsOf, rowsIn } from '../../../fixtures/hdf5-files.js';
import { atScale } from '../../../fixtures/scale.js';

const ROWS = 41;
const NAMES = ['old', 'latest'] as const;

/** As make-files.py computes them. */
function values(factor: number, perRow: number): number[] {
  return Array.from({ length: ROWS * perRow }, (_, i) => (i * factor) % 251);
}

function encoded(
  numbers: readonly number[],
  byteLength: number,
  write: (bytes: Buffer, value: number) => void,
): Buffer {
  return Buffer.concat(
    numbers.map((value) => {
      const bytes = Buffer.alloc(byteLength);
      write(bytes, value);
      return bytes;
    }),
  );
}

const u8 = (numbers: readonly number[]) => Buffer.from(numbers);
const DATASETS: readonly (readonly [path: string, rows: Buffer])[] = [
  ['contiguous', encoded(values(7, 3), 4, (bytes, value) => bytes.writeInt32BE(value))],
  ['filtered', encoded(values(5, 12), 2, (bytes, value) => bytes.writeUInt16LE(value))],
  ['growing', encoded(values(3, 1), 8, (bytes, value) => bytes.writeUInt32LE(value))],
  ['growing-filtered', encoded(values(3, 1), 4, (bytes, value) => bytes.writeFloatLE(value))],
  ['wide', u8(values(11, 5))],
  ['wide-filtered', u8(values(11, 5))],
  ['chunks', u8(values(13, 2))],
  ['one-chunk', encoded(values(17, 1), 8, (bytes, value) => bytes.writeDoubleLE(value))],
  ['enum', u8(values(1, 1).map((value) => value % 2))],
  ['early', u8(values(29, 3))],
  [
    'sparse',
    encoded(
      Array.from({ length: ROWS }, (_, i) => (i >= 20 && i < 25 ? 3 : -7)),
      2,
      (bytes, value) => bytes.writeInt16LE(value),
    ),
  ],
  [
    'table',
    Buffer.concat(
      values(19, 1).map((id, i) => {
        const row = Buffer.alloc(18);
        row.writeInt32LE(id);
        row.write(`n${i}`, 4);
        row.writeFloatLE((2 * i * 23) % 251, 10);
        row.writeFloatLE(((2 * i + 1) * 23) % 251, 14);
        return row;
      }),
    ),
  ],
];

/** Reads files of which a byte is another one, or the end is missing. */
function readDamaged(bytes: Buffer): void {
  const read = (damaged: Buffer) => {
    try {
      const file = hdf5In(damaged);
      const objects = objectsIn(file);
      for (const { path, kind } of objects)
        if (kind === 'dataset' && (datasetAt(damaged, path).shape.lengths[0] ?? 0) <= ROWS) rowsIn(damaged, path);
      refuseOwnLayouts(file, objects);
      for (const [what] of metadataFacts({ file, objects, rows: new Set(), leavesOut: () => false }))
        expect(what).not.toBe('');
    } catch (error) {
      if (!(error instanceof Hdf5Problem)) throw error;
    }
  };
  fc.assert(
    fc.property(fc.nat({ max: bytes.byteLength - 1 }), fc.nat({ max: 255 }), fc.boolean(), (at, value, isCut) => {
      const damaged = Buffer.from(isCut ? bytes.subarray(0, at) : bytes);
      if (!isCut) damaged[at] = value;
      read(damaged);
    }),
    { numRuns: atScale(12, 50, 1000) },
  );
}

const floats = (numbers: readonly number[], byteLength: 4 | 8) =>
  encoded(numbers, byteLength, (bytes, value) =>
    byteLength === 4 ? bytes.writeFloatBE(value) : bytes.writeDoubleLE(value),
  );
/** Behind filters that pack numbers. */
const PACKED: readonly (readonly [path: string, rows: Buffer])[] = [
  // The lowest 3 bits, and the highest 2, are not stored.
  ['nbit', encoded(values(7, 3), 2, (bytes, value) => bytes.writeUInt16BE(((value - 99) & 0x7ff) << 3))],
  [
    'nbit-table',
    encoded([...Array(ROWS).keys()], 12, (bytes, i) => {
      bytes.write(`${i % 10}`, 1);
      for (const at of [0, 1]) bytes.writeUInt16BE((((((2 * i + at) * 7) % 251) - 99) & 0x7ff) << 3, 4 + 2 * at);
    }),
  ],
  ['scaled', encoded(values(5, 2), 4, (bytes, value) => bytes.writeInt32LE(value % 7 === 0 ? 0 : 1000 + value))],
  ['scaled-wide', encoded(values(3, 1), 8, (bytes, value) => bytes.writeBigInt64LE(BigInt(value) * 2n ** 33n - 9n))],
  [
    'scaled-float',
    floats(
      values(11, 2).map((value) => value / 4 - 9),
      4,
    ),
  ],
  [
    'scaled-double',
    floats(
      values(11, 1).map((value) => value / 4 - 9),
      8,
    ),
  ],
  ['szip', encoded(values(13, 30), 2, (bytes, value) => bytes.writeUInt16BE(value < 200 ? 5 : value))],
  [
    'szip-wide',
    floats(
      values(17, 3).map((value) => value / 8),
      8,
    ),
  ],
];

describe('a file of h5py with packed numbers', () => {
  const bytes = bytesMadeByH5py('packed');

  it.each(PACKED)('has the rows of /%s', (path, rows) => {
    expect(rowsIn(bytes, path).equals(rows)).toBe(true);
  });

  it('is refused when its chunks are damaged, or read as it was', () => {
    expect(() => readDamaged(bytes)).not.toThrow();
  });
});

describe.each(NAMES)('a file of h5py, %s', (name) => {
  const bytes = bytesMadeByH5py(name);

  it.each(DATASETS)('has the rows of /rows/%s', (path, rows) => {
    expect(rowsIn(bytes, `/rows/${path}`).equals(rows)).toBe(true);
  });

  it('has all objects, links and attributes', () => {
    const objects = objectsOf(bytes);
    const groups = Array.from({ length: 12 }, (_, i) => `/groups/${i}`);
    const others = ['/', '/rows', '/groups', '/names', '/packed', '/references'];
    const inRows = DATASETS.map(([path]) => `/rows/${path}`).filter((path) => path !== '/rows/growing');
    expect([...objects.keys()].toSorted()).toEqual(['/alias', ...others, ...groups, ...inRows].toSorted());
    const root = objects.get('/');
    const filtered = objects.get('/rows/filtered');
    if (root === undefined || filtered === undefined) throw new Error('objects are missing');
    const links = linksOf(hdf5In(bytes), root.header);
    expect(links.find((link) => link.name.toString() === 'soft')).toMatchObject({ address: undefined });
    const attributes = attributesOf(hdf5In(bytes), filtered.header).map(({ body }) => readAttribute(body));
    expect(attributes.map((each) => each.name.toString().replaceAll('\0', '')).toSorted()).toEqual(
      Array.from({ length: 12 }, (_, i) => `attribute ${i}`).toSorted(),
    );
  });

  it('has a dataset at each of its paths', () => {
    expect(rowsIn(bytes, '/alias').equals(rowsIn(bytes, '/rows/growing'))).toBe(true);
    expect(datasetAt(bytes, '/rows/filtered')).toMatchObject({ shape: { lengths: [ROWS, 4, 3] } });
  });

  it('is refused when it is damaged, or read as it was', () => {
    expect(() => readDamaged(bytes)).not.toThrow();
  });
});

describe('layouts', () => {
  it('of HDF5 2.0 are as those before', () => {
    const bytes = bytesMadeByH5py('latest');
    const header = objectsOf(bytes).get('/rows/growing-filtered')?.header;
    const body = header && messageIn(hdf5In(bytes), header, MESSAGE.LAYOUT);
    if (body === undefined) throw new Error('no layout');
    const layout = readLayout(body);
    expect(layout).toMatchObject({ kind: 'chunks', index: 'extensible' });
    expect(readLayout(Buffer.concat([Buffer.of(5), body.subarray(1)]))).toEqual(layout);
    expect(() => readLayout(Buffer.of(6, 1))).toThrow('the layout of a dataset has version 6');
  });
});

describe('numbers', () => {
  it('have up to 8 bytes, and no address has all bits set', () => {
    const bytes = Buffer.of(1, 2, 3, 4, 5, 6, 7, 0);
    expect([3, 6, 7].map((byteLength) => new Cursor(bytes).uint(byteLength))).toEqual([
      0x03_02_01, 0x06_05_04_03_02_01, 0x07_06_05_04_03_02_01,
    ]);
    expect(new Cursor(Buffer.alloc(8, 0xff)).u64OrNone()).toBeUndefined();
    expect(() => new Cursor(Buffer.alloc(8, 0xfe)).u64OrNone()).toThrow('a number that no file can have');
  });
});

describe('checksums', () => {
  it('are those that others compute', () => {
    expect(lookup3(new Uint8Array())).toBe(0xdeadbeef);
    expect(lookup3(Buffer.from('Four score and seven years ago'))).toBe(0x17770551);
    // The sums of 0x6162, 0x6364 and 0x6566, and of these sums.
    expect(fletcher32(Buffer.from('abcdef'))).toBe(0x50562a2d);
  });
});
