/**
 * Units of shards, simulated record by record: they tile their shards, are as large as asked for, and are the same however the
 * piles are divided among tasks; each belongs to one task, which reads as far as the unit goes.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PileTotals } from '#src/piles/pile-totals.js';
import type { PileRange } from '#src/plan/pile-ranges.js';
import { cutAt, fittedCuts, joinCuts, type PlainCuts, type ShardCuts } from '#src/plan/shard-cuts.js';
import { ownUnits, planExactCuts, planUnitCuts, type UnitCuts, unitsFrom, unitsOfRange } from '#src/plan/unit-cuts.js';
import { endOfReading, maxPendingBytes, planUnitRanges } from '#src/plan/unit-ranges.js';

const sum = (numbers: readonly number[]) => numbers.reduce((total, more) => total + more, 0);

interface Order {
  readonly lengths: readonly number[];
  readonly cuts: ShardCuts;
  readonly units: UnitCuts;
}

const lengthsOf = fc.array(fc.oneof(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 90 })), {
  maxLength: 120,
});

/** The rank or byte of each record. */
function placesOf({ lengths, cuts }: Order): number[] {
  let byte = 0;
  return lengths.map((length, rank) => {
    byte += length;
    return cuts.by === 'rank' ? rank : byte - length;
  });
}

function plainCuts(kind: string, lengths: readonly number[], count: number): PlainCuts {
  const totalBytes = sum(lengths);
  if (kind === 'count') return { by: 'rank', shardCount: count, totalRecords: lengths.length };
  if (kind === 'bytes') return { by: 'byte', shardCount: count, totalBytes };
  if (kind === 'fitted') {
    const starts = [0, ...lengths.slice(0, -1).map((_, i) => sum(lengths.slice(0, i + 1)))];
    return fittedCuts(starts.filter((_, i) => i % count === 0).concat(starts.length === 0 ? [0] : []));
  }
  const shardCount = Math.max(1, Math.ceil(lengths.length / count));
  return { by: 'rank', shardCount, totalRecords: lengths.length, recordsPerShard: count };
}

const orders = fc
  .record({
    lengths: lengthsOf,
    kind: fc.constantFrom('count', 'records', 'bytes', 'fitted'),
    count: fc.integer({ min: 1, max: 7 }),
    splitAt: fc.option(fc.nat({ max: 119 })),
    rule: fc.record({
      bytes: fc.integer({ min: 1, max: 400 }),
      records: fc.option(fc.integer({ min: 1, max: 20 }), { nil: undefined }),
    }),
  })
  .map(({ lengths, kind, count, splitAt, rule }): Order => {
    const at = splitAt === null ? 0 : Math.min(splitAt, lengths.length);
    const parts = [lengths.slice(0, at), lengths.slice(at)];
    const cuts =
      splitAt === null
        ? plainCuts(kind, lengths, count)
        : joinCuts(
            parts.map((part, i) => ({
              firstRank: i * at,
              firstByte: i * sum(lengths.slice(0, at)),
              bytes: sum(part),
              cuts: plainCuts(kind, part, count),
            })),
          );
    return { lengths, cuts, units: planUnitCuts(cuts, { records: lengths.length, bytes: sum(lengths) }, rule) };
  });

function totalsOf(lengths: readonly number[], pileCounts: readonly number[]): PileTotals {
  const counts: number[] = [];
  for (let left = lengths.length, i = 0; left > 0 || counts.length === 0; i++) {
    const count = Math.min(left, pileCounts[i % pileCounts.length] ?? 1);
    counts.push(count);
    left -= count;
    if (i > 400) throw new Error('no pile has a record');
  }
  let rank = 0;
  const bytes = counts.map((count) => {
    rank += count;
    return sum(lengths.slice(rank - count, rank));
  });
  return {
    records: Float64Array.from(counts),
    recordBytes: Float64Array.from(bytes),
    checksums: new BigUint64Array(counts.length),
  };
}

const piles = fc.array(fc.nat({ max: 9 }), { minLength: 1, maxLength: 9 }).filter((counts) => sum(counts) > 0);

/** The records [begin, end) of each unit, by the places of records, without empty units. */
function recordsOfUnits(order: Order, units: Iterable<{ shard: number; begin: number; end: number }>): string[] {
  const places = placesOf(order);
  const from = (place: number) => {
    const found = places.findIndex((each) => each >= place);
    return found === -1 ? places.length : found;
  };
  return [...units]
    .map(({ shard, begin, end }) => `${shard}: ${from(begin)} to ${from(end)}`)
    .filter((text) => {
      const [, first, end] = /: (\d+) to (\d+)/.exec(text) ?? [];
      return first !== end;
    });
}

describe('exact units', () => {
  const ofOneLength = fc
    .record({
      count: fc.nat({ max: 90 }),
      byteLength: fc.integer({ min: 1, max: 9 }),
      unit: fc.integer({ min: 1, max: 20 }),
    })
    .chain(({ count, byteLength, unit }) =>
      fc.record({
        kind: fc.constantFrom('count', 'records', 'bytes'),
        shards: fc.integer({ min: 1, max: 7 }),
        splitAt: fc.nat({ max: count }),
        count: fc.constant(count),
        byteLength: fc.constant(byteLength),
        unit: fc.constant(unit),
      }),
    );

  it('have whole records, as many as asked for, but for the last of each shard', () => {
    fc.assert(
      fc.property(ofOneLength, ({ kind, shards, splitAt, count, byteLength, unit }) => {
        const lengths = Array.from({ length: count }, () => byteLength);
        const parts = [lengths.slice(0, splitAt), lengths.slice(splitAt)];
        const cuts = joinCuts(
          parts.map((part, i) => ({
            firstRank: i * splitAt,
            firstByte: i * splitAt * byteLength,
            bytes: sum(part),
            cuts: plainCuts(kind, part, shards),
          })),
        );
        const units = planExactCuts(cuts, { records: count, bytes: sum(lengths) }, unit, byteLength);
        const step = cuts.by === 'rank' ? 1 : byteLength;
        const all = [...unitsFrom(units, 0)];
        let place = 0;
        for (const [i, { begin, end, shard }] of all.entries()) {
          expect(begin).toBe(place);
          expect(end % step).toBe(0);
          const isLast = all[i + 1]?.shard !== shard;
          if (isLast) expect(end - begin).toBeLessThanOrEqual(unit * step);
          else expect(end - begin).toBe(unit * step);
          place = end;
        }
        expect(place).toBe(count * step);
        for (const [i, { begin }] of all.entries()) expect([...unitsFrom(units, begin)]).toEqual(all.slice(i));
      }),
    );
  });
});

describe('unitsFrom', () => {
  it('tiles each shard with units of nearly equal size, at most as large as asked for, from any place on', () => {
    fc.assert(
      fc.property(orders, fc.nat({ max: 3000 }), (order, from) => {
        const { cuts, units, lengths } = order;
        const all = [...unitsFrom(units, 0)];
        for (let shard = 0; shard < cuts.shardCount; shard++) {
          const ofShard = all.filter((unit) => unit.shard === shard);
          const end = Math.min(cutAt(cuts, shard + 1), units.end);
          let place = cutAt(cuts, shard);
          for (const [i, unit] of ofShard.entries()) {
            expect(unit).toMatchObject({ begin: place, beginsShard: i === 0 });
            expect(unit.end - unit.begin).toBeGreaterThan(0);
            expect(unit.end - unit.begin).toBeLessThanOrEqual(units.mostOfUnit);
            place = unit.end;
          }
          if (ofShard.length > 0 || place < end) expect(place).toBe(end);
          const sizes = ofShard.map((unit) => unit.end - unit.begin);
          expect(Math.max(0, ...sizes) - Math.min(...sizes, Number.POSITIVE_INFINITY)).toBeLessThanOrEqual(1);
          expect(ofShard.length).toBe(Math.max(0, Math.ceil((end - cutAt(cuts, shard)) / units.mostOfUnit)));
        }
        expect(all.map(({ begin }) => begin)).toEqual(all.map(({ begin }) => begin).toSorted((a, b) => a - b));
        expect([...unitsFrom(units, from)]).toEqual(all.filter(({ begin }) => begin >= from));
        expect(units.end).toBe(cuts.by === 'rank' ? lengths.length : sum(lengths));
      }),
    );
  });

  it('has as many records as bytes allow on average, or as asked for', () => {
    const cuts = { by: 'rank', shardCount: 1, totalRecords: 1000 } as const;
    const total = { records: 1000, bytes: 50_000 };
    expect(planUnitCuts(cuts, total, { bytes: 5000 }).mostOfUnit).toBe(100);
    expect(planUnitCuts(cuts, total, { bytes: 5000, records: 70 }).mostOfUnit).toBe(70);
    expect(planUnitCuts(cuts, total, { bytes: 10, records: 70 }).mostOfUnit).toBe(1);
    const byByte = { by: 'byte', shardCount: 1, totalBytes: 50_000 } as const;
    expect(planUnitCuts(byByte, total, { bytes: 5000, records: 70 }).mostOfUnit).toBe(3500);
    expect([...unitsFrom(planUnitCuts(cuts, { records: 0, bytes: 0 }, { bytes: 1 }), 0)]).toEqual([]);
  });
});

describe('planUnitRanges', () => {
  const threads = fc.integer({ min: 1, max: 6 });
  const somePiles = fc.uniqueArray(fc.nat({ max: 60 }), { maxLength: 20 });

  it('gives each unit to one range, whatever the piles, and reads the piles that hold its units', () => {
    fc.assert(
      fc.property(orders, piles, threads, (order, counts, threadCount) => {
        const { units, lengths, cuts } = order;
        const totals = totalsOf(lengths, counts);
        const column = cuts.by === 'rank' ? totals.records : totals.recordBytes;
        const ranges = planUnitRanges(totals, units, threadCount, () => false);
        const found: string[] = [];
        let pile = 0;
        for (const range of ranges) {
          expect(range.first).toBe(pile);
          pile = range.end;
          const own = unitsOfRange(units, range, totals);
          const ofRange = [...ownUnits(own)];
          found.push(...recordsOfUnits(order, ofRange));
          const endPile = endOfReading(range, own, totals);
          const reached = column.subarray(0, endPile).reduce((total, more) => total + more, 0);
          expect(endPile).toBeGreaterThanOrEqual(range.end);
          expect(reached).toBeGreaterThanOrEqual(ofRange.at(-1)?.end ?? 0);
          // Beyond its own piles, it reads the one in which the next range begins, at most.
          expect(endPile).toBeLessThanOrEqual(range.end + 1);
        }
        expect(pile).toBe(totals.records.length);
        expect(found).toEqual(recordsOfUnits(order, unitsFrom(units, 0)));
      }),
    );
  });

  it('leaves out the piles that are done, and each unit that begins in them', () => {
    fc.assert(
      fc.property(orders, piles, threads, somePiles, (order, counts, threadCount, done) => {
        const { units, lengths } = order;
        const totals = totalsOf(lengths, counts);
        const isDone = (pile: number) => done.includes(pile);
        const rangeOf = (pile: number): PileRange => {
          const sumTo = (column: Float64Array) => column.subarray(0, pile).reduce((total, more) => total + more, 0);
          return {
            first: pile,
            end: pile + 1,
            firstRank: sumTo(totals.records),
            firstByte: sumTo(totals.recordBytes),
          };
        };
        const unitsIn = (range: PileRange) => [...ownUnits(unitsOfRange(units, range, totals))];
        const ranges = planUnitRanges(totals, units, threadCount, isDone);
        const ofDone = [...totals.records.keys()].filter(isDone).flatMap((pile) => unitsIn(rangeOf(pile)));
        const all = [...ranges.flatMap(unitsIn), ...ofDone].toSorted((a, b) => a.begin - b.begin);
        expect(all).toEqual([...unitsFrom(units, 0)]);
        const piled = ranges.flatMap(({ first, end }) => Array.from({ length: end - first }, (_, i) => first + i));
        expect(piled).toEqual([...totals.records.keys()].filter((pile) => !isDone(pile)));
      }),
    );
  });

  it('has ranges whose units wait with no more than is told', () => {
    const shape = fc.record({
      pileCount: fc.integer({ min: 1, max: 90 }),
      pileBytes: fc.integer({ min: 1, max: 12 }),
      threadCount: fc.integer({ min: 1, max: 3 }),
      shardCount: fc.integer({ min: 1, max: 40 }),
      most: fc.integer({ min: 1, max: 150 }),
    });
    fc.assert(
      fc.property(shape, ({ pileCount, pileBytes, threadCount, shardCount, most }) => {
        const bytes = pileCount * pileBytes;
        const totals = totalsOf(Array(bytes).fill(1), [pileBytes]);
        const cuts: ShardCuts = { by: 'rank', shardCount, totalRecords: bytes };
        const units = { cuts, end: bytes, mostOfUnit: most };
        const shardBytes = Math.ceil(bytes / shardCount);
        const waiting = planUnitRanges(totals, units, threadCount, () => false).map((range) => {
          const own = [...ownUnits(unitsOfRange(units, range, totals))];
          // Those of a shard that the range does not begin; of others, one at a time.
          const ofOthers = own.filter(({ shard }) => shard === own[0]?.shard && own[0]?.beginsShard === false);
          const inTheMaking = Math.max(0, ...own.map(({ begin, end }) => end - begin));
          return Math.max(sum(ofOthers.map(({ begin, end }) => end - begin)), inTheMaking);
        });
        const together = waiting.toSorted((a, b) => b - a).slice(0, threadCount);
        const unitBytes = Math.min(most, shardBytes);
        expect(sum(together)).toBeLessThanOrEqual(
          maxPendingBytes({ bytes, pileCount, threadCount, unitBytes, shardBytes }) + 1e-9,
        );
      }),
    );
  });

  it('makes the last ranges smaller, each as long as its units', () => {
    const totals = totalsOf(Array(240).fill(1), [1]);
    const cuts: ShardCuts = { by: 'rank', shardCount: 1, totalRecords: 240 };
    const rangesOf = (mostOfUnit: number, threadCount: number) =>
      planUnitRanges(totals, { cuts, end: 240, mostOfUnit }, threadCount, () => false).map(
        ({ first, end }) => end - first,
      );
    const ofUnits = rangesOf(1, 10);
    expect([ofUnits.slice(0, 3), ofUnits.slice(-3)]).toEqual([
      [3, 2, 2],
      [1, 1, 1],
    ]);
    expect(new Set(rangesOf(1, 2).slice(0, 30))).toEqual(new Set([4]));
    expect(rangesOf(60, 4)).toEqual([60, 60, 60, 60]);
  });
});
