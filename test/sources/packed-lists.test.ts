/** The packed lists of inputs and of slices have what was put into them, in whichever way they are read. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { List } from '#src/floor/paged-list.js';
import { codecNamed } from '#src/formats/codec-table.js';
import type { Slice } from '#src/plan/slices.js';
import { type Input, identityOf, isFileInput, NO_HEADER } from '#src/sources/input.js';
import { PackedInputs } from '#src/sources/packed-inputs.js';
import { PackedSlices } from '#src/sources/packed-slices.js';
import { atScale } from '../fixtures/scale.js';

/** More than some pages. */
const LENGTH = 5000;

const header = fc.constantFrom(
  NO_HEADER,
  { byteLength: 12, recordBytes: undefined },
  { byteLength: 12, recordBytes: 8, isMarked: true },
);
const file = fc.record({
  kind: fc.constant('file' as const),
  path: fc.string({ unit: 'grapheme', maxLength: 8 }),
  version: fc.record({
    identity: fc.oneof(
      fc.nat().map((ino) => `65024:${ino}`),
      fc.constant('s3://a/b\n"tag"'),
    ),
    byteLength: fc.maxSafeNat(),
    // Before 1970, and after the year 2262, too.
    modifiedNanoseconds: fc.bigInt({ min: -(2n ** 65n), max: 2n ** 65n }),
  }),
  codec: fc.constantFrom(undefined, codecNamed('gzip'), codecNamed('zstd')),
  finding: fc.constantFrom(undefined, { kind: 'no-newline', what: 'one line' } as never),
  header,
});
const stream = fc.record({ kind: fc.constant('stream' as const), path: fc.constant('-'), identity: fc.string() });
const input: fc.Arbitrary<Input> = fc.oneof({ arbitrary: file, weight: 20 }, stream);

const range = fc.record({ storedStart: fc.nat(), storedEnd: fc.nat(), decodedStart: fc.nat(), decodedEnd: fc.nat() });
const part = { inputOrdinal: fc.nat(), start: fc.maxSafeNat(), end: fc.option(fc.maxSafeNat(), { nil: undefined }) };
const slice: fc.Arbitrary<Slice> = fc.array(fc.oneof(fc.record(part), fc.record({ ...part, members: range })), {
  maxLength: 3,
});

/** Repeats drawn items up to a length, so that there are many of them and few draws. */
function listOf<Item>(item: fc.Arbitrary<Item>): fc.Arbitrary<Item[]> {
  return fc
    .tuple(fc.array(item, { minLength: 1, maxLength: 40 }), fc.integer({ min: 0, max: LENGTH }))
    .map(([drawn, length]) => Array.from({ length }, (_, i) => drawn[(i * 7) % drawn.length] as Item));
}

/** Plain copies: the items of a packed list have the same properties by another way. */
function shown(each: Input | undefined): unknown {
  if (each?.kind !== 'file') return each;
  const { kind, path, version, codec, finding, header: ofInput, rows } = each;
  return { kind, path, version, codec, finding, header: ofInput, rows };
}

function expectSame<Item>(packed: List<Item>, items: readonly Item[], show: (item: Item | undefined) => unknown): void {
  expect(packed.length).toBe(items.length);
  expect([...packed].map(show)).toEqual(items.map(show));
  const middle = Math.floor(items.length / 2);
  for (const i of [0, 1023, 1024, 15, 16, middle, items.length - 1, items.length])
    expect(show(packed.at(i))).toEqual(show(items[i]));
  expect(packed.map((item, i) => [i, show(item)])).toEqual(items.map((item, i) => [i, show(item)]));
}

describe('packed lists', () => {
  it('of inputs', () => {
    const same = fc.property(listOf(input), (inputs) => {
      const packed = new PackedInputs();
      for (const each of inputs) packed.push(each);
      expectSame(packed, inputs, shown);
      expect(packed.filter(isFileInput).map(shown)).toEqual(inputs.filter(isFileInput).map(shown));
      expect(packed.findIndex((each) => !isFileInput(each))).toBe(inputs.findIndex((each) => !isFileInput(each)));
      expect(packed.some((each) => !isFileInput(each))).toBe(inputs.some((each) => !isFileInput(each)));
      const text = (sum: number, each: Input, i: number) => sum + identityOf(each).length * i;
      expect(packed.reduce(text, 1)).toBe(inputs.reduce(text, 1));
    });
    fc.assert(same, { numRuns: atScale(4, 20, 100) });
  });

  it('of slices', () => {
    const same = fc.property(listOf(slice), (slices) => {
      const packed = new PackedSlices();
      for (const each of slices) packed.push(each);
      expectSame(packed, slices, (each) => each);
      // The digest of a plan hashes this text.
      expect(JSON.stringify([...packed])).toBe(JSON.stringify(slices));
      expect(packed.flatMap((each) => each.slice(1))).toEqual(slices.flatMap((each) => each.slice(1)));
    });
    fc.assert(same, { numRuns: atScale(4, 20, 100) });
  });
});
