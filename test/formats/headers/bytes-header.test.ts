/** Headers of bytes. */
import { expect, it } from 'vitest';
import { bytesHeader } from '#src/formats/headers/bytes-header.js';

const rule = bytesHeader(3);
const header = (text: string) => rule.measure(Buffer.from(text), true, 'in') ?? expect.fail('it was not found');

it('is the first bytes, whatever they are', () => {
  expect(rule.measure(Buffer.from('a\n'), false, 'in')).toBeUndefined();
  expect(header('a\nb')).toMatchObject({ byteLength: 3, bytes: new Uint8Array(Buffer.from('a\nb')) });
  expect(header('a\nbcd')).toMatchObject({ byteLength: 3, bytes: new Uint8Array(Buffer.from('a\nb')) });
  expect(Buffer.from(rule.headerOf(header('a\nbcd'), 7)).toString()).toBe('a\nb');
});

it('is refused where the input is shorter', () => {
  expect(() => header('a\n')).toThrow('in: byte 2 is the end of the input; expected a header of 3 bytes');
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
