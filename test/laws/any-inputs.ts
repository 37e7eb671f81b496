/** Inputs of the law tests: arbitrary bytes, and edge cases of line-based programs. */
import fc from 'fast-check';

const word = fc.constantFrom('a', 'bb', 'line of text', '\r', '\0', 'ÿ', 'é', '\u{1f600}');
const ending = fc.constantFrom('\n', '\n', '\n', '\r\n', '\0', '\n\n');
const text = fc
  .array(fc.tuple(fc.array(word, { maxLength: 6 }), ending), { maxLength: 60 })
  .map((lines) => Buffer.from(lines.map(([words, end]) => words.join('') + end).join(''), 'utf8'));

/** One input; plain bytes that look like gzip would be taken for it. */
const input: fc.Arbitrary<Buffer> = fc
  .oneof(
    { weight: 5, arbitrary: text },
    { weight: 2, arbitrary: fc.uint8Array({ maxLength: 600 }).map((bytes) => Buffer.from(bytes)) },
    {
      weight: 2,
      arbitrary: fc.tuple(text, fc.string()).map(([lines, end]) => Buffer.concat([lines, Buffer.from(end)])),
    },
    { weight: 1, arbitrary: fc.nat({ max: 200 }).map((count) => Buffer.alloc(count, '\n')) },
    { weight: 1, arbitrary: fc.nat({ max: 200 }).map((count) => Buffer.alloc(count, '\0')) },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: 3000 }).map((length) => Buffer.alloc(length, 0xff)) },
    { weight: 1, arbitrary: fc.constantFrom('', '\n', '\r\n', 'x', 'x\n', '\0').map((end) => Buffer.from(end)) },
  )
  .filter((bytes) => !(bytes[0] === 0x1f && bytes[1] === 0x8b));

export const anyInputs: fc.Arbitrary<Buffer[]> = fc.array(input, { minLength: 1, maxLength: 6 });

/** Two inputs of up to some hundred KB, of which a pile does not fit a small arena; a few words when it fails. */
export interface LargeInputs {
  readonly lines: number;
  readonly longest: number;
  readonly factor: number;
}

export const largeInputs: fc.Arbitrary<LargeInputs> = fc.record({
  lines: fc.integer({ min: 3000, max: 12_000 }),
  longest: fc.integer({ min: 1, max: 60 }),
  factor: fc.nat(),
});

export function makeLargeInputs({ lines, longest, factor }: LargeInputs): Buffer[] {
  const line = (i: number) => `${i.toString(36)} ${'x'.repeat((Math.imul(i, factor | 1) >>> 8) % longest)}\n`;
  const linesOf = (first: number, end: number) =>
    Buffer.from(Array.from({ length: end - first }, (_, i) => line(first + i)).join(''));
  const half = Math.floor(lines / 2);
  return [linesOf(0, half), linesOf(half, lines)];
}
