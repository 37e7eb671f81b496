/** Headers of a number of lines or bytes: measured, compared, and refused when an input is too short. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InputError } from '#src/errors.js';
import { bytesHeader, linesHeader } from '#src/formats/headers/leading-header.js';

const newline = { lineEnd: '0a', isQuoted: false };
const csv = { lineEnd: '0a', isQuoted: true };

describe('linesHeader', () => {
  it.each([
    ['one line', { count: 1, ...newline }, 'id\n1\n', 'id\n'],
    ['lines with CR', { count: 2, ...newline }, 'id\r\n\r\n1\r\n', 'id\r\n\r\n'],
    ['quotes that mean nothing', { count: 1, ...newline }, '"id\n"\n', '"id\n'],
    ['a newline in quotes', { count: 1, ...csv }, 'id,"a\nb"\n1,2\n', 'id,"a\nb"\n'],
    ['quotes in quotes', { count: 2, ...csv }, '"a""\n"\n"\n"\n1\n', '"a""\n"\n"\n"\n'],
    ['a delimiter of several bytes', { count: 2, lineEnd: '616162', isQuoted: false }, 'aaab-aabxyz', 'aaab-aab'],
    ['NUL', { count: 1, lineEnd: '00', isQuoted: false }, 'i\nd\0x\0', 'i\nd\0'],
  ])('ends behind its lines: %s', (_, value, input, header) => {
    const rule = linesHeader(value);
    const whole = Buffer.from(input);
    for (let length = 0; length <= whole.byteLength; length++) {
      const measured = rule.measure(whole.subarray(0, length), false, 'in');
      expect(measured?.byteLength).toBe(length < header.length ? undefined : header.length);
      if (measured !== undefined) expect(Buffer.from(measured.bytes).toString()).toBe(header);
    }
    expect(rule.measure(whole, true, 'in')?.byteLength).toBe(header.length);
  });

  it('may lack the end of its last line where the input ends', () => {
    const rule = linesHeader({ count: 2, lineEnd: '0d0a', isQuoted: false });
    const lacking = rule.measure(Buffer.from('a\r\nb'), true, 'in') ?? expect.fail('it was not found');
    expect(lacking).toMatchObject({ byteLength: 4, bytes: new Uint8Array(Buffer.from('a\r\nb\r\n')) });
    const ended = rule.measure(Buffer.from('a\r\nb\r\nrecord'), false, 'other') ?? expect.fail('it was not found');
    expect(rule.difference(lacking, ended)).toBeUndefined();
    expect(Buffer.from(rule.headerOf(lacking, 10)).toString()).toBe('a\r\nb\r\n');
  });

  it.each([
    ['an empty input', { count: 1, ...newline }, '', /^in: byte 0 is the end .*expected a header of 1 line$/],
    ['a line too few', { count: 2, ...newline }, 'id\n', /^in: byte 3 is the end .*expected a header of 2 lines$/],
    ['an open quote', { count: 1, ...csv }, 'id,"a\nb\n', /^in: byte 8 is the end/],
    ['lines in quotes', { count: 2, ...csv }, '"a\nb"\n', /^in: byte 6 is the end/],
  ])('is refused: %s', (_, value, input, line) => {
    const measure = () => linesHeader(value).measure(Buffer.from(input), true, 'in');
    expect(measure).toThrow(InputError);
    expect(measure).toThrow(line);
  });

  it('is told apart from another by its first difference, of which both sides are shown in one line', () => {
    const rule = linesHeader({ count: 1, ...newline });
    const header = (text: string) => rule.measure(Buffer.from(text), true, 'in') ?? expect.fail('it was not found');
    expect(rule.difference(header('id,text\n'), header('id,name\n'))).toEqual({
      position: 3,
      expected: '"id,text\\n"',
      got: '"id,name\\n"',
    });
    expect(rule.difference(header('id\n'), header('id,x\n'))).toMatchObject({ position: 2 });
    const long = 'x'.repeat(5000);
    expect(rule.difference(header(`${long}a${long}`), header(`${long}b${long}`))).toEqual({
      position: 5000,
      expected: `"…${'x'.repeat(20)}a${'x'.repeat(39)}…"`,
      got: `"…${'x'.repeat(20)}b${'x'.repeat(39)}…"`,
    });
    fc.assert(
      fc.property(fc.string(), fc.string(), (a, b) => {
        const [one, other] = [a, b].map((text) => header(`${text.replaceAll('\n', '')}\n`));
        if (one === undefined || other === undefined) return;
        const difference = rule.difference(one, other);
        expect(difference === undefined).toBe(Buffer.from(one.bytes).equals(other.bytes));
        expect(`${difference?.expected}${difference?.got}`).not.toMatch(/[\n\r\0]/);
      }),
    );
  });
});

const rule = bytesHeader(3);
const header = (text: string) => rule.measure(Buffer.from(text), true, 'in') ?? expect.fail('it was not found');

it('is the first bytes, whatever they are', () => {
  expect(rule.measure(Buffer.from('a\n'), false, 'in')).toBeUndefined();
  expect(header('a\nb')).toMatchObject({ byteLength: 3, bytes: new Uint8Array(Buffer.from('a\nb')) });
  expect(header('a\nbcd')).toMatchObject({ byteLength: 3, bytes: new Uint8Array(Buffer.from('a\nb')) });
  expect(Buffer.from(rule.headerOf(header('a\nbcd'), 7)).toString()).toBe('a\nb');
});

it('is told apart from another byte by byte', () => {
  expect(rule.difference(header('abc1'), header('abc2'))).toBeUndefined();
  expect(rule.difference(header('abc'), header('aBc'))).toEqual({
    position: 1,
    expected: '616263 (hex)',
    got: '614263 (hex)',
  });
  const long = bytesHeader(100);
  const [one, other] = [0, 1].map((last) => {
    const bytes = Buffer.alloc(100, 'a').fill(last, 99);
    return long.measure(bytes, false, 'in') ?? expect.fail('it was not found');
  });
  if (one === undefined || other === undefined) return expect.fail('there are two');
  expect(long.difference(one, other)).toEqual({
    position: 99,
    expected: '…616161616100 (hex)',
    got: '…616161616101 (hex)',
  });
});
