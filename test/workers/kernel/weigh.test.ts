/** A weight is exact to a part of 2^64: the number in a record, times the weight of the input, each rounded down. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parseSelector } from '#src/formats/selector.js';
import { ARENA_START, Kernel } from '#workers/kernel/kernel.js';
import { prepareKeys } from '#workers/piles/record-values.js';
import { WeighedSum } from '#workers/read/weighed-sum.js';
import { weightOfDouble, weightOfNumber } from '../../laws/weighed-order.js';
import { scatterWithKernel } from './kernel-scatter.js';

const kernel = new Kernel();
const rule = { selector: parseSelector('.n', '`weightBy`'), missing: undefined, framing: undefined };
const PILES = { pileCount: 1, bufferBytes: 4096, scale: 1n };
const decimal = fc.oneof(
  fc.constantFrom('0.999999999999999', '0.673925580210687', '2.9', '0.000000000000001', '7'),
  fc.double({ min: 0, max: 4, noNaN: true }).map((value) => Math.abs(value).toFixed(15)),
);

const limit = { most: { copies: 4, chance: 2n ** 63n }, isCap: true };

it('weights have the parts that exact arithmetic gives', () => {
  const check = (numbers: readonly string[], factor: string) => {
    prepareKeys(kernel, { isDistinct: false, values: [{ purpose: 'weight', rule }], splits: undefined, limit }, false);
    const records = numbers.map((number) => Buffer.from(`{"n":${number}}\n`));
    const input = { records, basePosition: 0n, inputKey: 1n };
    scatterWithKernel(kernel, ARENA_START, PILES, input, records.length, { weight: weightOfNumber('1', factor) });
    const sum = new WeighedSum();
    sum.add(kernel.wasm);
    let [parts, byteParts] = [0n, 0n];
    for (const [i, number] of numbers.entries()) {
      const { copies, chance } = weightOfNumber(number, factor, '4.5');
      const ofRecord = (BigInt(copies) << 64n) + chance;
      parts += ofRecord;
      byteParts += ofRecord * BigInt(records[i]?.byteLength ?? 0);
    }
    expect(sum.expected).toEqual({ records: `${parts}`, bytes: `${byteParts}` });
  };
  const numbers = fc.array(decimal, { minLength: 1, maxLength: 5 });
  fc.assert(fc.property(numbers, decimal, check), { numRuns: 300 });
});

const double = fc.oneof(
  fc.double({ min: 0, max: 4, noNaN: true }),
  fc.tuple(fc.double({ min: 1, max: 2, noNaN: true }), fc.integer({ min: -80, max: 3 })).map(([a, b]) => a * 2 ** b),
  fc.constantFrom(-0, 1 - 2 ** -53, 2 ** -64, 2 ** -65, 5e-324, 4.5, 1e300, Number.POSITIVE_INFINITY),
);

it('doubles beside records have the weights of their bits', () => {
  const check = (number: number, factor: string) => {
    prepareKeys(kernel, { isDistinct: false, values: [], splits: undefined, limit }, false);
    const address = kernel.wasm.weightSelectorAddress() >>> 0;
    kernel.view.setFloat64(address, number, true);
    kernel.wasm.takeNumbersAt(address);
    const input = { records: [Buffer.from('1\n')], basePosition: 0n, inputKey: 1n };
    scatterWithKernel(kernel, ARENA_START, PILES, input, 1, { weight: weightOfNumber('1', factor) });
    const sum = new WeighedSum();
    sum.add(kernel.wasm);
    const { copies, chance } = weightOfDouble(Math.abs(number), factor, '4.5');
    const parts = (BigInt(copies) << 64n) + chance;
    expect(sum.expected).toEqual({ records: `${parts}`, bytes: `${2n * parts}` });
  };
  fc.assert(fc.property(double, decimal, check), { numRuns: 500 });
});
