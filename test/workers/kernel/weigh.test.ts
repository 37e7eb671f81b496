/** A weight is exact to a part of 2^64: the number in a record, times the weight of the input, each rounded down. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parseSelector } from '#src/formats/selector.js';
import { ARENA_START, Kernel } from '#workers/kernel/kernel.js';
import { prepareKeys } from '#workers/piles/record-values.js';
import { WeighedSum } from '#workers/read/weighed-sum.js';
import { weightOfNumber } from '../../laws/weighed-order.js';
import { scatterWithKernel } from './kernel-scatter.js';

const kernel = new Kernel();
const rule = { selector: parseSelector('.n', '`weightBy`'), missing: undefined, framing: undefined };
const PILES = { pileCount: 1, bufferBytes: 4096, scale: 1n };
const decimal = fc.oneof(
  fc.constantFrom('0.999999999999999', '2.9', '0.000000000000001', '7'),
  fc.double({ min: 0, max: 4, noNaN: true }).map((value) => Math.abs(value).toFixed(15)),
);

it('weights have the parts that exact arithmetic gives', () => {
  const check = (number: string, factor: string) => {
    prepareKeys(
      kernel,
      {
        isDistinct: false,
        values: [{ purpose: 'weight', rule }],
        splits: undefined,
        limit: { most: { copies: 1_000_000, chance: 0n }, isCap: false },
      },
      false,
    );
    const record = Buffer.from(`{"n":${number}}\n`);
    const input = { records: [record], basePosition: 0n, inputKey: 1n };
    scatterWithKernel(kernel, ARENA_START, PILES, input, 1, { weight: weightOfNumber('1', factor) });
    const sum = new WeighedSum();
    sum.add(kernel.wasm);
    const { copies, chance } = weightOfNumber(number, factor);
    const parts = (BigInt(copies) << 64n) + chance;
    expect(sum.expected).toEqual({ records: `${parts}`, bytes: `${parts * BigInt(record.byteLength)}` });
  };
  fc.assert(fc.property(decimal, decimal, check), { numRuns: 300 });
});
