/** Lines of doubles have the digits of the shortest decimal, as `String` writes it: 15 after the point. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { linesOfDoubles } from '#workers/read/decimal-lines.js';
import { atScale } from '../../fixtures/scale.js';

/** The digits that count, of a decimal below 10^15. */
function counted(text: string): string {
  const [, whole = '', part = '', exponent = '0'] = /^(\d+)\.?(\d*)(?:e-(\d+))?$/.exec(text) ?? [];
  const shift = Number(exponent);
  const digits = '0'.repeat(shift) + whole + part;
  const point = digits.length - part.length - shift;
  return `${BigInt(digits.slice(0, point))}.${digits.slice(point).slice(0, 15).padEnd(15, '0')}`;
}

const near = (value: number) => fc.integer({ min: -3, max: 3 }).map((steps) => value * (1 + steps * 2 ** -53));
const number = fc.oneof(
  fc.double({ min: 0, max: 4, noNaN: true }),
  fc
    .tuple(fc.nat({ max: 10 ** 9 }), fc.nat({ max: 16 }))
    .map(([digits, places]) => Number(`${digits % 4}.${`${digits}`.padStart(places, '0')}`)),
  fc.integer({ min: 0, max: 60 }).chain((power) => near(2 ** -power)),
  fc.integer({ min: 0, max: 20 }).chain((power) => near(10 ** -power)),
  fc.double({ min: 4, max: 1e14, noNaN: true }),
);

it('have the digits of the shortest decimals', () => {
  const check = (numbers: readonly number[]) => {
    const values = numbers.map(Math.abs);
    const lines = Buffer.from(linesOfDoubles(Float64Array.from(values))).toString('latin1');
    expect(lines.split('\n').slice(0, -1).map(counted)).toEqual(values.map((value) => counted(String(value))));
  };
  fc.assert(fc.property(fc.array(number, { maxLength: 100 }), check), { numRuns: atScale(100, 2000, 100_000) });
});

it('are those of `String` for what is no weight', () => {
  const numbers = Float64Array.of(-1, Number.NaN, Number.POSITIVE_INFINITY, -0, 1e300);
  expect(Buffer.from(linesOfDoubles(numbers)).toString('latin1')).toBe('-1\nNaN\nInfinity\n0\n1e+300\n');
});
