/** Shapes: a matching value is returned with its type; any other is an error with the place and the expectation. */
import fc from 'fast-check';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { VerificationError } from '#src/errors.js';
import { flag, list, object, optional, readShape, text, type ValueOf, wholeNumber } from '#src/io/json-shape.js';
import { atScale } from '../fixtures/scale.js';

const shape = object({
  seed: text,
  resumed: flag,
  plan: object({ pileCount: wholeNumber(1, 65536), note: optional(text) }),
  inputs: list(object({ path: text, byteLength: wholeNumber() })),
});
const fitting = {
  seed: '1',
  resumed: false,
  plan: { pileCount: 65536 },
  inputs: [{ path: 'a', byteLength: 0 }],
};
const read = (value: unknown) => readShape(shape, value, '/job/manifest');

/** The whole line for a value that does not fit. */
function problemOf(value: unknown): string {
  try {
    read(value);
  } catch (error) {
    expect(error).toBeInstanceOf(VerificationError);
    const { message } = error as VerificationError;
    return (
      /^verification failed: \/job\/manifest is damaged: (.*); give `force` without `resume` to discard the job$/.exec(
        message,
      )?.[1] ?? message
    );
  }
  return 'it fits';
}

describe('readShape', () => {
  it('gives what fits, with its type', () => {
    const value = read(fitting);
    expect(value).toEqual({ ...fitting, plan: { pileCount: 65536, note: undefined } });
    expectTypeOf(value.plan.pileCount).toEqualTypeOf<number>();
    expectTypeOf<ValueOf<typeof shape>>().toEqualTypeOf<{
      readonly seed: string;
      readonly resumed: boolean;
      readonly plan: { readonly pileCount: number; readonly note: string | undefined };
      readonly inputs: readonly { readonly path: string; readonly byteLength: number }[];
    }>();
    expect(read({ ...fitting, plan: { pileCount: 1, note: 'x' } }).plan.note).toBe('x');
  });

  it.each([
    [undefined, 'expected an object, got nothing'],
    [null, 'expected an object, got null'],
    [[], 'expected an object, got a list'],
    [{}, 'seed: expected a text, got nothing'],
    [{ ...fitting, seed: 1 }, 'seed: expected a text, got 1'],
    [{ ...fitting, resumed: 'true' }, 'resumed: expected true or false, got "true"'],
    [{ ...fitting, plan: 'x' }, 'plan: expected an object, got "x"'],
    [{ ...fitting, plan: { pileCount: 'x' } }, 'plan.pileCount: expected a whole number from 1 to 65536, got "x"'],
    [{ ...fitting, plan: { pileCount: 0 } }, 'plan.pileCount: expected a whole number from 1 to 65536, got 0'],
    [{ ...fitting, plan: { pileCount: 65537 } }, 'plan.pileCount: expected a whole number from 1 to 65536, got 65537'],
    [{ ...fitting, plan: { pileCount: 1.5 } }, 'plan.pileCount: expected a whole number from 1 to 65536, got 1.5'],
    [{ ...fitting, plan: { pileCount: 1, note: null } }, 'plan.note: expected a text, got null'],
    [{ ...fitting, plan: { pileCount: 1, other: 1 } }, 'plan: expected no field "other"'],
    [{ ...fitting, other: 1 }, 'expected no field "other"'],
    [{ ...fitting, inputs: {} }, 'inputs: expected a list, got an object'],
    [{ ...fitting, inputs: [...fitting.inputs, 7] }, 'inputs[1]: expected an object, got 7'],
    [
      { ...fitting, inputs: [{ path: 'a', byteLength: 2 ** 53 }] },
      'inputs[0].byteLength: expected a whole number from 0 to 9007199254740991, got 9007199254740992',
    ],
    [
      { ...fitting, inputs: [{ path: 'a', byteLength: -1 }] },
      'inputs[0].byteLength: expected a whole number from 0 to 9007199254740991, got -1',
    ],
    [{ ...fitting, resumed: `\n${'x'.repeat(100)}` }, `resumed: expected true or false, got "\\n${'x'.repeat(39)}"...`],
  ])('says what does not fit: %j', (value, problem) => {
    expect(problemOf(value)).toBe(problem);
  });

  it('takes nothing from prototypes and gives nothing to them', () => {
    expect(problemOf(JSON.parse('{"__proto__": {"seed": "1"}}'))).toBe('expected no field "__proto__"');
    const odd = object({ toString: optional(text), ['__proto__']: optional(text) });
    expect(readShape(odd, {}, 'x').toString).toBeUndefined();
    const value = readShape(odd, JSON.parse('{"__proto__": "x"}'), 'x');
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(Object.entries(value)).toContainEqual(['__proto__', 'x']);
  });

  it('goes no deeper than the shape', () => {
    const depth = 200_000;
    const deep: unknown = JSON.parse('['.repeat(depth) + ']'.repeat(depth));
    expect(problemOf({ ...fitting, inputs: deep })).toBe('inputs[0]: expected an object, got a list');
    expect(problemOf({ ...fitting, seed: deep })).toBe('seed: expected a text, got a list');
  });

  it('gives any value back as it was, or a short line', () => {
    const part = fc.oneof(fc.jsonValue(), fc.constant(fitting.plan), fc.constant(fitting.inputs), fc.nat());
    const almost = fc.record({ seed: part, resumed: part, plan: part, inputs: part }, { requiredKeys: [] });
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), almost, fc.constant(fitting)), (value) => {
        const problem = problemOf(value);
        if (problem === 'it fits') expect(JSON.parse(JSON.stringify(read(value)))).toEqual(value);
        else expect(problem).toMatch(/^[^\n]{1,400}$/);
      }),
      { numRuns: atScale(300, 1000, 2000) },
    );
  });
});
