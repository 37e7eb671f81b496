/**
 * The value of a record: for any row of CSV, however it is quoted, the kernel finds the value that was written; for any
 * expression, the value that JavaScript finds. Equal values have one hash, whichever selector finds them. No record is read
 * beyond its end, and many selectors work side by side.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FramingSpec } from '#src/formats/framing-table.js';
import { parseSelector } from '#src/formats/selector.js';
import { ARENA_START, Kernel } from '#workers/kernel/kernel.js';
import { placeSelector, selectorByteLength } from '#workers/piles/record-values.js';
import { atScale } from '../../fixtures/scale.js';
import { recordHash } from '../kernel/kernel-twin.js';

const RECORD = ARENA_START + 65_536;
const kernel = new Kernel();
kernel.ensureArena(4 * 2 ** 20);
const CSV: FramingSpec = { kind: 'csv', value: null };
const LINES: FramingSpec = { kind: 'lines', value: 1 };

interface Place {
  readonly framing?: FramingSpec | undefined;
  readonly missing?: string;
  /** The bytes around the record. */
  readonly around?: string;
  readonly at?: number;
}

/** The hash of the value; undefined: the record has none. */
function foundHash(
  record: string | Uint8Array,
  selector: string,
  { framing = CSV, missing, around = '",\n\t', at = ARENA_START }: Place = {},
): bigint | undefined {
  const bytes = Buffer.from(record);
  const text = around.repeat(16);
  kernel.bytes.set(Buffer.from(text), RECORD - text.length);
  kernel.bytes.set(bytes, RECORD);
  kernel.bytes.set(Buffer.from(text), RECORD + bytes.byteLength);
  placeSelector(kernel, at, { selector: parseSelector(selector, '`splitBy`'), missing, framing });
  kernel.wasm.useSelector(at);
  const hash = BigInt.asUintN(64, kernel.wasm.valueHash(at, RECORD, RECORD + bytes.byteLength));
  if (kernel.wasm.firstRecordWithoutValue(at) >>> 0 === RECORD) return undefined;
  return hash;
}

const hashOf = (value: string | Uint8Array) => recordHash(Buffer.concat([Buffer.from('"'), Buffer.from(value)]));

const cell = fc.oneof(
  {
    arbitrary: fc.constantFrom(
      '',
      'a',
      'a "b"',
      ',',
      '\n',
      '"',
      '""',
      '\r',
      '\t',
      ' x ',
      'é',
      'x'.repeat(15),
      'y'.repeat(16),
    ),
    weight: 3,
  },
  { arbitrary: fc.string({ unit: fc.constantFrom('"', ',', '\n', '\r', '\t', 'a', 'é'), maxLength: 40 }), weight: 3 },
  { arbitrary: fc.string({ unit: 'grapheme', maxLength: 60 }), weight: 1 },
);
const row = fc.record({
  cells: fc.array(fc.tuple(cell, fc.boolean()), { minLength: 1, maxLength: 12 }),
  end: fc.constantFrom('\n', '\r\n'),
  separator: fc.constantFrom(',', '\t'),
  mark: fc.boolean(),
});

/** Quoted where it must be, and where the writer likes it. */
function written(value: string, quoted: boolean): string {
  return quoted || /[",\t\r\n\ufeff]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}

describe('a value that the host finds', () => {
  it('is the same in a memory of more than 2 GiB', () => {
    const pages = 2 ** 15 + 16;
    const memory = new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
    const large = new Kernel({ memory, start: ARENA_START, end: ARENA_START + 2 ** 20 });
    const [at, record] = [large.arenaStart, large.arenaStart + 2 ** 16];
    placeSelector(large, at, { selector: parseSelector('/(b+)/', '`splitBy`'), framing: LINES });
    large.bytes.set(Buffer.from('abbc\n'), record);
    expect(BigInt.asUintN(64, large.wasm.valueHash(at, record, record + 5))).toBe(hashOf('bb'));
  });
});

describe('a column', () => {
  it('has the value that was written, however it is quoted', () => {
    const check = ({ cells, end, separator, mark }: Parameters<typeof expectRow>[0]) =>
      expectRow({ cells, end, separator, mark });
    fc.assert(fc.property(row, check), { numRuns: atScale(300, 1500, 100_000) });
  });

  interface Row {
    readonly cells: readonly (readonly [string, boolean])[];
    readonly end: string;
    readonly separator: string;
    readonly mark: boolean;
  }

  function expectRow({ cells, end, separator, mark }: Row): void {
    const text = (mark ? '\ufeff' : '') + cells.map(([value, quoted]) => written(value, quoted)).join(separator) + end;
    const kind = separator === ',' ? 'csv' : 'tsv';
    for (const [i, [value]] of cells.entries()) expect(foundHash(text, `${kind}:${i + 1}`)).toBe(hashOf(value));
    expect(foundHash(text, `${kind}:${cells.length + 1}`)).toBe(undefined);
    expect(foundHash(text, `${kind}:${cells.length + 40}`, { missing: 'none' })).toBe(hashOf('none'));
  }

  it('has the value that a plain reader finds, in rows that no standard allows', () => {
    const junk = fc.string({ unit: fc.constantFrom('"', '"', ',', ',', 'a', '\r', '\n'), maxLength: 60 });
    const check = (text: string, column: number) => {
      const value = plainReader(`${text}\n`)[column];
      expect(foundHash(`${text}\n`, `csv:${column + 1}`)).toBe(value === undefined ? undefined : hashOf(value));
    };
    fc.assert(fc.property(junk, fc.nat({ max: 8 }), check), { numRuns: atScale(500, 2500, 200_000) });
  });

  it('does not depend on the bytes around the record, wherever it is cut', () => {
    const text = '\ufeffab,"c ""d"", e",,"f\r\ng",h\r\n';
    for (let byteLength = 0; byteLength <= Buffer.byteLength(text); byteLength++) {
      const cut = Buffer.from(text).subarray(0, byteLength);
      for (let column = 1; column <= 6; column++) {
        const alone = foundHash(cut, `csv:${column}`, { around: ' ' });
        for (const around of ['"', ',', '\n', '\r', '\0', '\xef\xbb\xbf'])
          expect(foundHash(cut, `csv:${column}`, { around })).toBe(alone);
      }
    }
  });
});

/** One character after the other: separators and quotes count as docs/CHOOSING-RECORDS.md says. */
function plainReader(row: string): string[] {
  const text = row.replace(/\r?\n$/, '');
  const cells: string[] = [''];
  let enclosed = false;
  for (const character of text) {
    if (character === '"') enclosed = !enclosed;
    if (character === ',' && !enclosed) cells.push('');
    else cells[cells.length - 1] += character;
  }
  return cells.map((each) => {
    if (!each.startsWith('"')) return each;
    let value = '';
    let inside = false;
    for (let i = 0; i < each.length; i++) {
      if (each[i] !== '"') value += each[i];
      else if (inside && each[i + 1] === '"') value += each[++i];
      else inside = !inside;
    }
    return value;
  });
}

describe('an expression', () => {
  const options = { framing: LINES };

  it.each([
    ['abc\tx\n', '/^(\\w+)\\t/', 'abc'],
    ['abc\tx\n', '/(?<site>x)$/', 'x'],
    ['abc\tx\n', '/(z*)/', ''],
    ['abc\n', '/(?:a)(b)(c)/', 'b'],
    ['ABC\n', '/(b)/i', 'B'],
    ['é\u{1f600}x\n', '/^(..)x/', 'é\u{1f600}'],
    ['é\ufffd\n', '/(.+)/', 'é\ufffd'],
    ['\ufeffa\n', '/(.+)/', '\ufeffa'],
    ['a/b\n', '/a/(b)/', 'b'],
    ['x'.repeat(5000), '/(x+)/', 'x'.repeat(5000)],
    ['é'.repeat(400), '/(é+)/', 'é'.repeat(400)],
    ['日'.repeat(341), '/(日+)/', '日'.repeat(341)],
  ])('of %j: %s is %j', (record, expression, value) => {
    expect(foundHash(record, expression, options)).toBe(hashOf(value));
  });

  it.each([
    ['\n', '/(a)/'],
    ['', '/(a)/'],
    ['b\n', '/(a)|b/'],
    ['a\r\n', '/(a)$/'],
    ['ab', '/^(a)$/'],
  ])('of %j: %s is missing', (record, expression) => {
    expect(foundHash(record, expression, options)).toBe(undefined);
    expect(foundHash(record, expression, { ...options, missing: 'x' })).toBe(hashOf('x'));
  });

  it('sees bytes that are not UTF-8 as Latin-1, and its value is some of them', () => {
    const bytes = Buffer.from([0x41, 0xe9, 0xff, 0x00, 0x09, 0x42, 0x0a]);
    expect(foundHash(bytes, '/(\u00e9.)/', options)).toBe(hashOf(bytes.subarray(1, 3)));
    expect(foundHash(bytes, '/^(.*)$/s', options)).toBe(hashOf(bytes.subarray(0, 6)));
    // As UTF-8, both would be the same character of replacement.
    const [a, b] = [0xfe, 0xff].map((byte) => foundHash(Buffer.from([byte, 0x0a]), '/(.)/', options));
    expect(a).not.toBe(b);
  });

  it('sees a record without what ends it, and no other', () => {
    const nul: FramingSpec = { kind: 'delimiter', value: '00' };
    expect(foundHash('ab\0', '/(b)$/', { framing: nul })).toBe(hashOf('b'));
    expect(foundHash('ab\n', '/(b)$/', { framing: nul })).toBe(undefined);
    expect(foundHash('a||', '/(a)$/', { framing: { kind: 'delimiter', value: '7c7c' } })).toBe(hashOf('a'));
    expect(foundHash('a\n\n', '/(a)$/', { framing: { kind: 'paragraphs', value: null } })).toBe(undefined);
    expect(foundHash('a\n\n', '/(a)$/m', { framing: { kind: 'paragraphs', value: null } })).toBe(hashOf('a'));
    expect(foundHash('ab', '/(b)$/', { framing: { kind: 'size', value: 2 } })).toBe(hashOf('b'));
  });

  it('finds what JavaScript finds in any text', () => {
    const check = (text: string) => {
      const value = /([^x]*)x(.*)/su.exec(text)?.[1];
      expect(foundHash(`${text}\n`, '/([^x]*)x(.*)/s', options)).toBe(value === undefined ? undefined : hashOf(value));
    };
    const text = fc.string({
      unit: fc.oneof(
        fc.constantFrom('x', '\n', '\ufffd', 'é'),
        fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 }),
      ),
      maxLength: 30,
    });
    fc.assert(fc.property(text, check), { numRuns: atScale(200, 1000, 50_000) });
  });
});

it('equal values have one hash, whichever selector finds them', () => {
  const field = foundHash('{"site":"a \\"b\\""}\n', '.site');
  expect(field).toBe(hashOf('a "b"'));
  expect(foundHash('1,"a ""b"""\n', 'csv:2')).toBe(field);
  expect(foundHash('a "b"\t1\n', 'tsv:1', { framing: LINES })).toBe(field);
  expect(foundHash('a "b",1\n', '/^(.*),/')).toBe(field);
  expect(foundHash('{}\n', '.site', { missing: 'a "b"' })).toBe(field);
});

it('selectors work side by side, and their places are as large as they say', () => {
  const selectors = ['.a', 'csv:2', '/(b+)/', '.b', 'csv:1', '/(a+)/'];
  const record = '{"a":"x","b":"y"}abbb\n';
  const alone = selectors.map((selector) => foundHash(record, selector, { missing: 'long'.repeat(1000) }));
  const places: number[] = [];
  let at = ARENA_START;
  for (const selector of selectors) {
    const parsed = parseSelector(selector, '');
    places.push(at);
    const rule = { selector: parsed, missing: 'long'.repeat(1000), framing: CSV };
    placeSelector(kernel, at, rule);
    at += Math.ceil(selectorByteLength(rule) / 8) * 8;
  }
  kernel.bytes.set(Buffer.from(record), RECORD);
  const hashes = places.map((place) => {
    kernel.wasm.useSelector(place);
    return BigInt.asUintN(64, kernel.wasm.valueHash(place, RECORD, RECORD + record.length));
  });
  expect(hashes).toEqual(alone);
  expect(new Set(hashes).size).toBeGreaterThan(3);
});

describe('two values', () => {
  /** Whether the value of `a` comes before that of `b`: -1, behind it: 1, or is the same: 0. */
  function compared(a: string, b: string, selector: string, { framing = CSV, missing }: Place = {}) {
    const around = Buffer.from('"",\n'.repeat(8));
    const [atA, atB] = [RECORD, RECORD + 65_536];
    const ends = [a, b].map((text, i) => {
      const at = i === 0 ? atA : atB;
      kernel.bytes.set(around, at - around.byteLength);
      kernel.bytes.set(Buffer.from(text, 'latin1'), at);
      kernel.bytes.set(around, at + text.length);
      return at + text.length;
    });
    placeSelector(kernel, ARENA_START, { selector: parseSelector(selector, ''), missing, framing });
    kernel.wasm.useSelector(ARENA_START);
    const [endA = 0, endB = 0] = ends;
    return Math.sign(kernel.wasm.compareValues(ARENA_START, atA, endA, atB, endB));
  }

  const latin1 = (text: string) => Buffer.from(text).toString('latin1');
  const bytesCompared = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));

  it('of a column compare as what was written, however it is quoted', () => {
    const check = (a: readonly [string, boolean], b: readonly [string, boolean], isSame: boolean) => {
      const values = [a[0], isSame ? a[0] : b[0]] as const;
      const [one = '', other = ''] = values.map((value, i) =>
        latin1(`x,${written(value, (i === 0 ? a : b)[1])}${i === 0 ? ',y' : ''}\n`),
      );
      expect(compared(one, other, 'csv:2')).toBe(bytesCompared(...values));
    };
    const side = fc.tuple(cell, fc.boolean());
    fc.assert(fc.property(side, side, fc.boolean(), check), {
      numRuns: atScale(300, 2500, 100_000),
    });
  });

  it('of a column compare as a plain reader finds them, in rows that no standard allows', () => {
    const junk = fc.string({ unit: fc.constantFrom('"', '"', 'a', ',', '\r', 'b'), maxLength: 20 });
    const check = (a: string, b: string) => {
      const [one = '', other = ''] = [a, b].map((text) => plainReader(`${text}\n`)[0]);
      expect(compared(`${a}\n`, `${b}\n`, 'csv:1')).toBe(bytesCompared(one, other));
    };
    fc.assert(fc.property(junk, junk, check), { numRuns: atScale(500, 2500, 200_000) });
    fc.assert(
      fc.property(junk, junk, (a, b) => check(`"${a.replaceAll(',', '')}`, `"${b.replaceAll(',', '')}`)),
      {
        numRuns: atScale(500, 2500, 200_000),
      },
    );
  });

  it.each([
    ['csv:2', 'a\n', 'b,"x""y"\n', 'x"y'],
    ['.u', '{"i":1}\n', '{"u":"x\\"y"}\n', 'x"y'],
    ['/<(.*)>/', 'none\n', '<x"y>\n', 'x"y'],
  ])('by %s are the same where one record has none and counts as the other', (selector, without, having, missing) => {
    expect(compared(without, having, selector, { missing })).toBe(0);
    expect(compared(having, without, selector, { missing })).toBe(0);
    expect(compared(without, without.replace(/[1an]/, '2'), selector, { missing })).toBe(0);
    expect(compared(without, having, selector, { missing: `${missing}z` })).toBe(1);
    expect(compared(having, without, selector, { missing: `${missing}z` })).toBe(-1);
  });
});
