/**
 * The value of a field in a JSON record: for any object, at any depth, however it is written, the kernel finds the value that
 * a parser finds; strings are equal if their characters are; and no text, however it is cut or damaged, is read beyond its
 * end.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeFieldPath, parseSelector } from '#src/formats/selector.js';
import { ARENA_START, Kernel } from '#workers/kernel/kernel.js';
import { prepareStoredValues } from '#workers/piles/record-values.js';
import { shownText } from '#workers/read/unfit-record.js';
import { readSums } from '#workers/read/weighed-sum.js';
import { atScale } from '../../fixtures/scale.js';
import { recordHash } from './kernel-twin.js';

const kernel = new Kernel();
kernel.ensureArena(256 * 1024);
const PATH = ARENA_START;
const TABLE = ARENA_START + 32_768;
const RECORD = ARENA_START + 65_536;

/** The hashes of the field's values, one record after the other; undefined: it has no such field. @param behind the bytes behind the record. */
function fieldsOf(
  texts: readonly (string | Uint8Array)[],
  path: readonly string[],
  behind = '"}]\\',
): (bigint | undefined)[] {
  kernel.bytes.set(encodeFieldPath(path), PATH);
  kernel.wasm.setFieldPath(PATH, 0);
  return texts.map((text) => {
    const bytes = Buffer.from(text);
    kernel.bytes.set(bytes, RECORD);
    kernel.bytes.set(Buffer.from(behind.repeat(8)), RECORD + bytes.byteLength);
    const hash = BigInt.asUintN(64, kernel.wasm.fieldHash(RECORD, RECORD + bytes.byteLength));
    return kernel.wasm.hasField.value ? hash : undefined;
  });
}

const fieldOf = (text: string | Uint8Array, path: readonly string[], behind?: string) =>
  fieldsOf([text], path, behind)[0];

/** A string counts by its characters behind a quote; another value by its bytes. */
const hashOf = (value: unknown, text = JSON.stringify(value)) =>
  recordHash(Buffer.from(typeof value === 'string' ? `"${value}` : text));

const key = fc.oneof(
  fc.constantFrom('a', 'b', 'site', '', 'a"b', 'é', '\u{1f600}', '\\', 'x'.repeat(40)),
  fc.string({ unit: 'grapheme', maxLength: 20 }),
);
const leaf = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 70 }),
  fc.string({ unit: 'binary', maxLength: 20 }).filter((text) => Buffer.from(text).toString() === text),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.boolean(),
  fc.constant(null),
);
const value: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  value: fc.oneof({ depthSize: 'small' }, leaf, fc.array(tie('value'), { maxLength: 4 }), tie('object')),
  object: fc.dictionary(key, tie('value'), { maxKeys: 5 }),
})).value;
const object = fc.dictionary(key, value, { minKeys: 1, maxKeys: 8 });

/** Written with blanks, and with characters of strings as escapes, as other programs write JSON. */
const asOthersWrite = (text: string, blanks: boolean) =>
  text
    .replace(/[\u0080-\uffff]/g, (half) => `\\u${half.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .replace(/^/, blanks ? ' \t' : '');

const SUM = { purpose: 'sum', rule: { selector: parseSelector('.n', '`sum`'), framing: undefined } } as const;

/** The sum of the field `n`: all digits before the point, and 15 behind it; or the record without a number. */
function sumOf(...texts: readonly string[]): string {
  const { wasm } = kernel;
  prepareStoredValues(kernel, { isDistinct: false, values: [SUM], splits: undefined });
  wasm.weighByNone();
  wasm.clearSums();
  let end = RECORD;
  for (const [i, text] of texts.entries()) {
    const bytes = Buffer.from(text);
    kernel.bytes.set(bytes, end);
    kernel.view.setUint32(TABLE + 8 * i, end, true);
    end += bytes.byteLength;
    kernel.view.setUint32(TABLE + 8 * i + 4, end, true);
  }
  kernel.bytes.set(Buffer.from('0'.repeat(64)), end);
  wasm.weighRecords(TABLE, texts.length);
  if (wasm.unfitRecord.value !== 0) return shownText(kernel.bytes.subarray(wasm.unfitAt.value, wasm.unfitEnd.value));
  if (wasm.firstRecordWithoutValue(kernel.selectors.get('sum') ?? 0) !== 0) return 'missing';
  const digits = readSums(kernel).read.toString().padStart(16, '0');
  return `${digits.slice(0, -15)}.${digits.slice(-15)}`;
}

/** The same of one number, by a computation with all digits. */
function cutOff(text: string): string {
  const [, digits = '', part = '', exponent = '0'] = /^(\d+)(?:\.(\d+))?(?:e(.+))?$/i.exec(text) ?? [];
  const power = Number(exponent) - part.length + 15;
  const all = BigInt(digits + part);
  const parts = power >= 0 ? all * 10n ** BigInt(power) : all / 10n ** BigInt(-power);
  return `${parts / 10n ** 15n}.${String(parts % 10n ** 15n).padStart(15, '0')}`;
}

describe('the field of a record', () => {
  it('is the one that a parser finds, at the top and inside', () => {
    const check = (record: Record<string, unknown>, at: number, ofInner: number, blanks: boolean) => {
      const keys = Object.keys(record);
      const outer = keys[at % keys.length] ?? expect.fail();
      const found = record[outer];
      const text = JSON.stringify(record, undefined, blanks ? 2 : undefined);
      const expected = hashOf(found);
      const isScalar = typeof found !== 'object' || found === null;
      if (isScalar || !blanks) expect(fieldOf(text, [outer])).toBe(expected);
      if (typeof found === 'string') expect(fieldOf(asOthersWrite(text, blanks), [outer])).toBe(expected);
      expect(fieldOf(text, [outer, 'no such key'])).toBe(undefined);
      expect(fieldOf(text, ['no such key'])).toBe(undefined);
      if (isScalar || Array.isArray(found)) return;
      const inner = Object.keys(found);
      const name = inner[ofInner % inner.length];
      if (name === undefined) return;
      const innerValue = (found as Record<string, unknown>)[name];
      if (typeof innerValue !== 'object' || innerValue === null)
        expect(fieldOf(text, [outer, name])).toBe(hashOf(innerValue));
    };
    fc.assert(fc.property(object, fc.nat(), fc.nat(), fc.boolean(), check), { numRuns: atScale(400, 1500, 100_000) });
  });

  it.each([
    ['{"a":1}', ['a'], '1'],
    ['{"a" : 1 , "b":2}\n', ['a'], '1'],
    ['{"b":"}","a":-1.50e3}\n', ['a'], '-1.50e3'],
    ['{"b":{"a":2},"a":1}\n', ['a'], '1'],
    ['{"b":[{"a":2},"]"],"a":true}\r\n', ['a'], 'true'],
    ['{"b":"\\\\","a":null}\n', ['a'], 'null'],
    ['{"a":{"x":[1,2]},"b":1}', ['a'], '{"x":[1,2]}'],
    ['{"a":[]}', ['a'], '[]'],
    ['{"a":1,"a":2}', ['a'], '1'],
    ['{"\\u0061":1}', ['a'], '1'],
    ['{"a":"x"}', ['a'], '"x'],
    ['{"a":"\\u0078"}', ['a'], '"x'],
    ['{"a":"\\ud83d\\ude00\\n"}', ['a'], '"\u{1f600}\n'],
    ['{"a":""}', ['a'], '"'],
  ])('in %s at %j is %s', (text, path, found) => {
    expect(fieldOf(text, path)).toBe(recordHash(Buffer.from(found)));
  });

  it.each([
    '',
    '{',
    '{}',
    '{"a"',
    '{"a":',
    '{"a":}',
    '{"b":1',
    '{"b":"',
    '[{"a":1}]',
    '"a"',
    '1',
    '{a:1}',
    '{"ab":1}',
    '{"b":1 "a":2}',
    '{"b":\\',
    '{"b":"\\',
    '\0\xff',
  ])('is missing in %j', (text) => {
    expect(fieldOf(text, ['a'])).toBe(undefined);
  });

  it('tells texts from other values, and long ones that differ in one byte', () => {
    expect(fieldOf('{"a":"1"}', ['a'])).not.toBe(fieldOf('{"a":1}', ['a']));
    const long = 'x'.repeat(5000);
    expect(fieldOf(`{"a":"${long}y"}`, ['a'])).not.toBe(fieldOf(`{"a":"${long}z"}`, ['a']));
    expect(fieldOf(`{"b":"${long}","a":3}`, ['a'])).toBe(recordHash(Buffer.from('3')));
  });

  it('does not depend on the records before it, be they written alike or nearly so', () => {
    const word = fc.constantFrom(0, 12, -1.5e30, true, null, '', ', ', 'x"y', '\\', 'a string of some length');
    const damage = fc.record({
      at: fc.nat(),
      bytes: fc.constantFrom('', '"', '\\', '}', '{', ',', ':', ' ', '1', 'x', ']', '"a":'),
      cut: fc.nat({ max: 2 }),
    });
    const next = fc.tuple(fc.array(word, { minLength: 9, maxLength: 9 }), fc.option(damage, { freq: 2 }));
    type Next = typeof next extends fc.Arbitrary<infer Value> ? Value : never;
    const check = (keys: readonly string[], records: readonly Next[], colon: string) => {
      const texts = records.map(([words, damaged]) => {
        const nested = { l: [words[6], { a: words[7] }], site: words[8] };
        const object = { ...Object.fromEntries(keys.map((name, i) => [name, words[i]])), nested };
        const text = JSON.stringify(object).replaceAll('":', colon);
        if (damaged === null) return text;
        const at = damaged.at % (text.length + 1);
        return text.slice(0, at) + damaged.bytes + text.slice(at + damaged.cut);
      });
      for (const path of [['a'], ['nested', 'site'], [keys.at(-1) ?? '']])
        expect(fieldsOf(texts, path)).toEqual(texts.map((text) => fieldOf(text, path)));
    };
    const names = fc.uniqueArray(fc.constantFrom('a', 'b', 'site', 'n', 'x'.repeat(40), 'é'), { minLength: 1 });
    const series = fc.array(next, { minLength: 2, maxLength: 8 });
    const colons = fc.constantFrom('":', '" : ');
    fc.assert(fc.property(names, series, colons, check), { numRuns: atScale(300, 3000, 100_000) });
  });

  it.each([
    ['{"a":1,"b":2}', '{"a":1,"b":2}x'],
    ['{"a":1,"b":2}', '{"a":1,"b":2'],
    ['{"a" : "x"}', '{"b" : "x"}'],
    ['{"a":"x"}', '{"a":"x}'],
    ['{"a":1}', '{"a":1x}'],
  ])('is that of %s alone, not of %s after it', (whole, other) => {
    expect(fieldsOf([whole, other, whole], ['a'])).toEqual([fieldOf(whole, ['a']), undefined, fieldOf(whole, ['a'])]);
  });

  it('is found in records of many shapes, and of shapes that are too long to be noted', () => {
    const texts = Array.from({ length: 400 }, (_, i) =>
      i % 100 < 50
        ? JSON.stringify(Object.fromEntries([...`${i}`].map((digit) => [`${digit}${i}`, i]).concat([['a', i]])))
        : JSON.stringify({ ['k'.repeat(3000)]: 1, a: i }),
    );
    expect(fieldsOf(texts, ['a'])).toEqual(texts.map((_, i) => recordHash(Buffer.from(`${i}`))));
  });

  it('does not depend on the bytes behind the record, wherever it is cut', () => {
    const text = '{"text":"a \\"quoted\\" word \\u00e9","nested":{"list":[1,"]",{}],"site":"here"},"site":"there"}\n';
    for (let byteLength = 0; byteLength <= text.length; byteLength++) {
      const cut = text.slice(0, byteLength);
      for (const path of [['site'], ['nested', 'site'], ['text']]) {
        const alone = fieldOf(cut, path, ' ');
        for (const behind of ['"', '}', '\\', ']', '\0']) expect(fieldOf(cut, path, behind)).toBe(alone);
      }
    }
  });
});

describe('the number in a field', () => {
  const number = fc
    .tuple(
      fc.oneof(fc.constant('0'), fc.bigInt({ min: 0n, max: 10n ** 15n - 1n }).map(String)),
      fc.stringMatching(/^(\.[0-9]{1,20})?$/),
      fc.oneof(fc.constant(''), fc.tuple(fc.constantFrom('e', 'E', 'e+', 'e-', 'e-00'), fc.nat({ max: 40 }))),
    )
    .map(([whole, part, exponent]) => whole + part + (exponent === '' ? '' : exponent.join('')))
    .filter((text) => cutOff(text).length <= 31);

  it('is read with all digits before the point and 15 behind it', () => {
    const check = (text: string, before: string, behind: string) => {
      expect(sumOf(`{"m":1,"n":${before}${text}${behind}}\n`)).toBe(cutOff(text));
    };
    const blank = fc.constantFrom('', ' ', '\t');
    fc.assert(fc.property(number, blank, blank, check), { numRuns: atScale(400, 1500, 100_000) });
  });

  it('gives the same sum in every order', () => {
    const check = (numbers: readonly string[]) => {
      const records = numbers.map((text) => `{"n":${text}}\n`);
      expect(sumOf(...records.toReversed())).toBe(sumOf(...records));
    };
    fc.assert(fc.property(fc.array(number, { maxLength: 50 }), check), { numRuns: atScale(50, 150, 10_000) });
  });

  it.each([
    ['0', '0.000000000000000'],
    ['-0', '0.000000000000000'],
    ['-0.00E5', '0.000000000000000'],
    ['12.35', '12.350000000000000'],
    ['1.5e3', '1500.000000000000000'],
    ['1e-7', '0.000000100000000'],
    ['1e-15', '0.000000000000001'],
    ['9.99e-16', '0.000000000000000'],
    ['0.30000000000000004', '0.300000000000000'],
    ['0.9999999999999999', '0.999999999999999'],
    ['999999999999999.999999999999999', '999999999999999.999999999999999'],
    ['99999999999999999999e-5', '999999999999999.999990000000000'],
    ['0.00000000000000000001e20', '1.000000000000000'],
    ['0e999999999999999999', '0.000000000000000'],
    ['5e-99999999999999999999', '0.000000000000000'],
    [`${'1'.repeat(300)}e-300`, '0.111111111111111'],
  ])('%s is %s', (text, sum) => {
    expect(sumOf(`{"n":${text}}\n`)).toBe(sum);
  });

  it('of full tables does not overflow', () => {
    const records = Array.from({ length: 1024 }, () => '{"n":999999999999999.999999999999999}\n');
    expect(sumOf(...records)).toBe('1023999999999999999.999999999998976');
  });

  it.each([
    ...'1e15 1000000000000000 0.1e16 1e99999999999999999999 -1 -0.1 -1e-20 007 00 01.5'.split(' '),
    ...['1.', '1.e3', '1e', '1e+', '1e1.5', '1.5.5', 'NaN', 'Infinity'],
    ...['-Infinity', 'true', '"12.35"', '"1"', '""', '1e5e5', '-01'],
  ])('is not %s', (text) => {
    expect(sumOf('{"n":1}\n', `{"n":${text}}\n`, '{"n":2}\n')).toBe(text);
  });

  it.each(['+1', '.5', '1x', '0x1', '-', 'e5', '1_000', 'null', '--1'])('is no value as %s', (text) => {
    expect(sumOf('{"n":1}\n', `{"n":${text}}\n`, '{"n":2}\n')).toBe('missing');
  });

  it('must be there', () => {
    expect(sumOf('{"n":1}\n', '{"m":1}\n')).toBe('missing');
    expect(sumOf('{"n":{"n":1}}\n')).toBe('{"n":1}');
  });

  it('is not read beyond the end of the record', () => {
    for (const text of ['1', '1.5', '1.5e1', '1.', '1e', '1e-', '-']) expect(sumOf(`{"n":${text}`)).toBe('missing');
  });
});
