/** The sample of keys is the same however the samples are divided among slices, and finds keys that come twice. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InputError } from '#src/errors.js';
import { KeySample, type SampledKey } from '#src/inputs/key-sample.js';
import { atScale } from '../fixtures/scale.js';

type Keyed = readonly [key: string, inputOrdinal: number];

function sampleOf(all: readonly Keyed[]): KeySample {
  const sample = new KeySample();
  for (const [key, inputOrdinal] of all) sample.add(key, inputOrdinal);
  return sample;
}

const sorted = (sample: KeySample): SampledKey[] => sample.keys().toSorted((a, b) => (a.key < b.key ? -1 : 1));

/** Keys of which every seventh comes in two inputs. */
const keyed: readonly Keyed[] = Array.from({ length: 6000 }, (_, i) => i).flatMap((i): Keyed[] =>
  i % 7 === 0
    ? [
        [`${i}`, i % 5],
        [`${i}`, 5],
      ]
    : [[`${i}`, i % 5]],
);

describe('a sample of keys', () => {
  it('is the same for all orders and slices', () => {
    const expected = sorted(sampleOf(keyed));
    expect(expected).toHaveLength(1024);
    expect(expected.filter(({ inputOrdinals }) => inputOrdinals.length === 2).length).toBeGreaterThan(100);
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 9 }), fc.boolean(), fc.nat(), (slices, isReversed, salt) => {
        const merged = new KeySample();
        for (let slice = 0; slice < slices; slice++) {
          const own = keyed.filter((_, i) => ((i * 7919 + salt) >>> 3) % slices === slice);
          merged.addAll(sampleOf(isReversed ? own.toReversed() : own).keys());
        }
        expect(sorted(merged)).toEqual(expected);
      }),
      { numRuns: atScale(5, 50) },
    );
  });

  it('has all keys of a small job, the first two inputs of each, and an input twice', () => {
    const sample = sampleOf([
      ['b', 3],
      ['a', 9],
      ['a', 2],
      ['a', 4],
      ['c', 1],
      ['c', 1],
    ]);
    expect(sorted(sample)).toEqual([
      { key: 'a', inputOrdinals: [2, 4] },
      { key: 'b', inputOrdinals: [3] },
      { key: 'c', inputOrdinals: [1, 1] },
    ]);
  });

  it('is drawn from similar keys evenly', () => {
    const sample = sampleOf(Array.from({ length: 100_000 }, (_, i) => [String(i).padStart(9, '0'), 0] as const));
    const tenths = new Array<number>(10).fill(0);
    for (const { key } of sample.keys())
      tenths[Math.floor(Number(key) / 10_000)] = (tenths[Math.floor(Number(key) / 10_000)] ?? 0) + 1;
    for (const count of tenths) expect(Math.abs(count - 102)).toBeLessThan(50);
  });

  it('leaves keys out that are longer than a path', () => {
    expect(
      sampleOf([
        ['x'.repeat(4096), 0],
        ['y'.repeat(4097), 0],
      ]).keys(),
    ).toHaveLength(1);
  });

  it('refuses keys that come twice, and shows the first', () => {
    const path = (inputOrdinal: number) => `${inputOrdinal}.tar`;
    expect(() =>
      sampleOf([
        ['a', 0],
        ['b', 0],
        ['a/b', 1],
      ]).requireEachOnce(path),
    ).not.toThrow();
    const refusal = expect(() =>
      sampleOf([
        ['b', 0],
        ['a', 0],
        ['\xe9', 1],
        ['b', 2],
        ['a', 1],
      ]).requireEachOnce(path),
    );
    refusal.toThrow(InputError);
    refusal.toThrow(
      /^0\.tar and 1\.tar: a sample of each has the key "a" \(2 of the 3 keys that were compared come more than once\); /,
    );
    expect(() =>
      sampleOf([
        ['\xc3\xa9', 1],
        ['\xc3\xa9', 1],
      ]).requireEachOnce(path),
    ).toThrow(/^1\.tar: two samples have the key "é" /);
  });
});
