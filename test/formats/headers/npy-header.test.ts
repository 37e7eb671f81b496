/**
 * Headers of .npy files: those that NumPy writes and others that it reads, the refused ones, and those that we write.
 */
import { describe, expect, it } from 'vitest';
import { formatNpyHeader, npyHeader } from '#src/formats/headers/npy-header.js';
import { npyHeaderOf } from '../any-headers.js';

/** A header of this dictionary. */
function headerWith(text: string, version = 1): Buffer {
  const length = Buffer.alloc(version === 1 ? 2 : 4);
  length.writeUIntLE(text.length, 0, length.byteLength);
  return Buffer.concat([Buffer.of(0x93), Buffer.from('NUMPY'), Buffer.of(version, 0), length, Buffer.from(text)]);
}

const dictionary = (dtype: string, shape: string, fortran = 'False') =>
  `{'descr': ${dtype}, 'fortran_order': ${fortran}, 'shape': ${shape}, }\n`;
const measure = (head: Buffer, isWhole = true) => npyHeader.measure(head, isWhole, 'in');

describe('npyHeader', () => {
  it.each([
    ["'<f4'", '(10, 3)', 12, 120],
    ["'|b1'", '(7,)', 1, 7],
    ["'<U10'", '(2, 5)', 200, 400],
    ["'|S3'", '(4,)', 3, 12],
    ["'<M8[ns]'", '(4,)', 8, 32],
    ["'>c16'", '(0, 2)', 32, 0],
    ["'|V2'", '(3L, 2L)', 4, 12],
    ["'<f8'", '(1, 2, 3, 4)', 192, 192],
  ])('tells how rows lie: %s %s', (dtype, shape, rowBytes, recordBytes) => {
    for (const version of [1, 2, 3]) {
      const header = headerWith(dictionary(dtype, shape), version);
      for (let length = 0; length < header.byteLength; length++) {
        expect(measure(header.subarray(0, length), false)).toBeUndefined();
      }
      expect(measure(Buffer.concat([header, Buffer.alloc(9)]))).toEqual({
        byteLength: header.byteLength,
        bytes: new Uint8Array(header),
        recordBytes,
        framing: { kind: 'size', value: rowBytes },
      });
    }
  });

  it('is read whatever the order and the blanks of its entries, and of one dimension in Fortran order', () => {
    const header = headerWith("{'shape':(2,),'fortran_order':True , 'descr':'<i4'}   \n");
    expect(measure(header)).toMatchObject({ recordBytes: 8, framing: { kind: 'size', value: 4 } });
  });

  it('is read with single and with double quotes, as Python reads it', () => {
    for (const [keys, dtype] of [
      ['"', "'<i4'"],
      ["'", '"<i4"'],
      ['"', '"<i4"'],
    ]) {
      const header = headerWith(
        `{${keys}descr${keys}: ${dtype}, ${keys}fortran_order${keys}: False, ${keys}shape${keys}: (2,)}\n`,
      );
      const measured = measure(header) ?? expect.fail('more is needed');
      expect(measured).toMatchObject({ recordBytes: 8, framing: { kind: 'size', value: 4 } });
      expect(npyHeader.headerOf(measured, 8).toString()).toContain("{'descr': '<i4',");
    }
  });

  it.each<[string, Buffer, RegExp]>([
    ['nothing', Buffer.alloc(0), /^in: byte 0 is the end of the input, inside its .npy header: it is truncated$/],
    ['other magic bytes', Buffer.from('PK\x03\x04 and more'), /^in: byte 0 begins an input without the magic bytes/],
    ['a version that nobody knows', headerWith('{}', 4), /^in: byte 6 says that the .npy format is version 4\.0;/],
    [
      'a minor version that nobody knows',
      Buffer.concat([headerWith('').subarray(0, 7), Buffer.of(1), headerWith(dictionary("'<f4'", '(1,)')).subarray(8)]),
      /^in: byte 6 says that the .npy format is version 1\.1; expected 1\.0, 2\.0 or 3\.0$/,
    ],
    [
      'two kinds of quotes',
      headerWith(`{'descr": '<f4', 'fortran_order': False, 'shape': (1,)}`),
      /that does not describe/,
    ],
    [
      'a header cut off',
      headerWith(dictionary("'<f4'", '(1,)')).subarray(0, 40),
      /^in: byte 40 is the end .*truncated$/,
    ],
    [
      'an absurd length',
      Buffer.concat([headerWith('', 2).subarray(0, 8), Buffer.alloc(4, 0xff)]),
      /^in: byte 8 claims a .npy header of 4294967295 bytes/,
    ],
    ['no dictionary', headerWith('[1, 2, 3]\n'), /^in: byte 10 begins a .npy header that does not describe an array/],
    ['an entry too few', headerWith("{'descr': '<f4', 'shape': (1,)}"), /begins a .npy header that does not describe/],
    ['a call in a value', headerWith(dictionary('exit()', '(1,)')), /begins a .npy header that does not describe/],
    ['a structured type', headerWith(dictionary("[('a', '<i4')]", '(1,)')), /structured and object arrays cannot/],
    ['objects', headerWith(dictionary("'|O'", '(1,)')), /^in: byte 10 begins a .npy header of dtype "\|O"; expected/],
    ...["'f'", "'<i3'", "'<b4'", "'<f4[s]'", "'<M4[s]'", "'<M8[s]x'"].map((dtype): [string, Buffer, RegExp] => [
      `a dtype that none is: ${dtype}`,
      headerWith(dictionary(dtype, '(1,)')),
      /header of dtype "[^"]+"; expected numbers/,
    ]),
    ...["{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'more': '', }", dictionary("'<f4'", "'1'")].map(
      (text): [string, Buffer, RegExp] => [`other entries: ${text}`, headerWith(text), /that does not describe/],
    ),
    ...["'True'", "'False'", '(1,)'].map((fortran): [string, Buffer, RegExp] => [
      `an order that none is: ${fortran}`,
      headerWith(dictionary("'<f4'", '(1,)', fortran)),
      /that does not describe/,
    ]),
    ['a single number', headerWith(dictionary("'<f4'", '()')), /header of a single number; expected rows/],
    ['Fortran order', headerWith(dictionary("'<f4'", '(2, 2)', 'True')), /in Fortran order, .*save it in C order$/],
    ['rows of no bytes', headerWith(dictionary("'<f4'", '(2, 0)')), /of rows of no bytes/],
    ['elements of no bytes', headerWith(dictionary("'|S0'", '(2,)')), /of rows of no bytes/],
    [
      'an absurd row',
      headerWith(dictionary("'<f8'", '(1, 9999999999999999)')),
      /of rows of 79999999999999992 bytes; expected/,
    ],
    ['rows past counting', headerWith(dictionary("'<f8'", '(9999999999999999, 1)')), /more than a file can hold$/],
    ['a row past counting', headerWith(dictionary("'<f8'", `(1${', 9999999999999999'.repeat(30)}, 0)`)), /more than/],
    ...['(1 2,)', '(1)', '(,1)', '(1,,)', '(,)', '(01,)', '(-1,)'].map((shape): [string, Buffer, RegExp] => [
      `a shape that none is: ${shape}`,
      headerWith(dictionary("'<f4'", shape)),
      /of shape \([^()]+\), which is not valid$/,
    ]),
  ])('refuses %s', (_, head, line) => {
    expect(() => measure(head)).toThrow(line);
  });

  it('is the same for other numbers of rows, and only for these', () => {
    const header = (dtype: string, shape: string, version = 1) =>
      measure(headerWith(dictionary(dtype, shape), version)) ?? expect.fail();
    const three = header("'<f4'", '(10, 3)');
    expect(npyHeader.difference(three, header("'<f4'", '(7, 3)'))).toBeUndefined();
    expect(npyHeader.difference(three, header("'<i4'", '(10, 3)'))).toEqual({
      position: 10,
      expected: 'rows of dtype <f4 and shape (3)',
      got: 'rows of dtype <i4 and shape (3)',
    });
    for (const version of [2, 3]) {
      expect(npyHeader.difference(three, header("'<f4'", '(7, 3)', version))).toBeUndefined();
      expect(npyHeader.difference(three, header("'<i4'", '(10, 3)', version))).toMatchObject({ position: 12 });
    }
    expect(npyHeader.difference(three, header("'<f4'", '(10, 3, 1)'))).toMatchObject({
      got: expect.stringMatching(/3, 1/),
    });
  });

  it('is written with as many bytes for any number of rows, so that they lie at a multiple of 64', () => {
    for (const rowShape of [[], [3], [3, 4, 5], Array(32).fill(1)]) {
      const lengths = [0, 1, 2 ** 31, 2 ** 53 - 1].map((rows) => {
        const written = formatNpyHeader({ dtype: '<f4', rowShape }, rows);
        expect(written).toEqual(npyHeaderOf('<f4', rows, rowShape));
        if (rows < 2 ** 31) expect(measure(written)?.recordBytes).toBe(rowShape.reduce((a, b) => a * b, 4 * rows));
        return written.byteLength;
      });
      expect(new Set(lengths).size).toBe(1);
      expect((lengths[0] ?? 1) % 64).toBe(0);
    }
    const header = measure(headerWith(dictionary("'<f4'", '(10, 3)'))) ?? expect.fail();
    expect(npyHeader.headerOf(header, 12 * 77)).toEqual(formatNpyHeader({ dtype: '<f4', rowShape: [3] }, 77));
  });
});
