/** Messages name the memory that is given, and advise what is enough with what transfers and ordered records take. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { UsageError } from '#src/errors.js';
import { shareOfPiles } from '#src/keep/repeat.js';
import { callerMemoryOf, leastMemoryWith } from '#src/plan/given-memory.js';
import { type MemoryNeed, planMemory } from '#src/plan/memory-plan.js';
import { hasRoomFor, memoryFor } from '#src/plan/pass2-memory.js';
import { memoryBesideTransfers, poolBytesOf } from '#src/remote/transfer-pool.js';
import { atScale } from '../fixtures/scale.js';
import { anyNeed, logarithmic, MIB, usualNeed } from './memory-needs.js';

/** Undefined: nothing is refused. */
function messageOf(plan: () => unknown): string | undefined {
  try {
    plan();
  } catch (error) {
    return error instanceof UsageError ? error.message : expect.fail(String(error));
  }
  return undefined;
}

interface Kind {
  readonly fetches: boolean;
  readonly uploads: boolean;
  readonly workers: number;
  readonly shareOfMemory: number;
}

const anyKind: fc.Arbitrary<Kind> = fc.record({
  fetches: fc.boolean(),
  uploads: fc.boolean(),
  workers: logarithmic(1, 512),
  shareOfMemory: fc.constantFrom(1, 1 / 2),
});

/** What a job of this kind has of so much memory. */
function givenTo(memoryBytes: number, { fetches, uploads, workers, shareOfMemory }: Kind) {
  const taken = (of: boolean) => (of ? poolBytesOf({ memoryBytes, workers, uploads }) : 0);
  const { memoryBytes: rest, transfers } = memoryBesideTransfers(
    { memoryBytes, workers },
    taken(fetches),
    taken(uploads),
  );
  return { budgetBytes: Math.floor(rest * shareOfMemory), shareOfMemory, transfers };
}

describe('the least memory', () => {
  it('leaves so much beside transfers, and 1 MiB less does not', () => {
    fc.assert(
      fc.property(anyKind, logarithmic(MIB, 2 ** 42), logarithmic(MIB, 2 ** 40), (kind, memoryBytes, budgetBytes) => {
        const given = givenTo(memoryBytes, kind);
        expect(callerMemoryOf(given)).toBeLessThanOrEqual(memoryBytes + 1);
        expect(callerMemoryOf(given)).toBeGreaterThanOrEqual(memoryBytes - 1);
        const least = leastMemoryWith(budgetBytes, given);
        expect(least % MIB).toBe(0);
        expect(givenTo(least, kind).budgetBytes).toBeGreaterThanOrEqual(budgetBytes);
        expect(givenTo(least - MIB, kind).budgetBytes).toBeLessThan(budgetBytes);
      }),
      { numRuns: atScale(500, 1000, 2000) },
    );
  });

  it.each([
    [false, 4, 4],
    [true, 4, 20],
    [true, 48, 64],
    [true, 768, 1023],
  ])('with uploads: %s, of %i MiB beside them, is %i MiB', (uploads, restMib, leastMib) => {
    const kind = { fetches: false, uploads, workers: 4, shareOfMemory: 1 };
    expect(leastMemoryWith(restMib * MIB, givenTo(256 * MIB, kind))).toBe(leastMib * MIB);
  });

  it('is in the words of a budget that is too small, with the budget that was given', () => {
    const refused = (memoryMib: number, kind: Partial<Kind>) => {
      const all = { fetches: true, uploads: true, workers: 4, shareOfMemory: 1, ...kind };
      return messageOf(() => planMemory({ ...usualNeed, ...givenTo(memoryMib * MIB, all) }));
    };
    expect(refused(8, {})).toBe(
      'a memory budget of 8388608 bytes is too small: expected at least 20M; give more with `memoryBytes`',
    );
    expect(refused(19, {})).toContain('19922944 bytes is too small: expected at least 20M');
    expect(refused(20, {})).toBeUndefined();
    expect(refused(4, { uploads: false })).toContain('4194304 bytes is too small: expected at least 5M');
    expect(refused(3, { uploads: false, fetches: false })).toContain(
      '3145728 bytes is too small: expected at least 4M',
    );
    const layout = { pileCount: 3000, stripeCount: 1 };
    const need = {
      ...usualNeed,
      layout,
      ...givenTo(20 * MIB, { fetches: true, uploads: true, workers: 4, shareOfMemory: 1 }),
    };
    const [, advised] = /of 20971520 bytes is too small for the 3000 existing piles: expected at least (\d+)M/.exec(
      messageOf(() => planMemory(need)) ?? '',
    ) ?? ['', ''];
    const kind = { fetches: true, uploads: true, workers: 4, shareOfMemory: 1 };
    const planned = (mib: number) => messageOf(() => planMemory({ ...need, ...givenTo(mib * MIB, kind) }));
    expect(planned(Number(advised))).toBeUndefined();
    expect(planned(Number(advised) - 1)).toContain(`expected at least ${advised}M`);
  });

  it('to draw with replacement is that of records that lie in order beside the piles, and of transfers', () => {
    const kind = { fetches: false, uploads: true, workers: 4, shareOfMemory: 1 };
    const share = (mib: number) => shareOfPiles({ repeat: true }, givenTo(mib * MIB, kind));
    expect(messageOf(() => share(40))).toBe(
      'a memory budget of 41943040 bytes is too small for `repeat`: expected at least 48M; give more with `memoryBytes`',
    );
    expect(share(48)).toBe(1 / 2);
  });

  it('for a long record is enough beside transfers, and 1 MiB less is not', () => {
    const long = fc.record({ recordBytes: logarithmic(1, 2 ** 30), decoderBytes: fc.constantFrom(0, 2 ** 24) });
    const shape = fc.record({ reads: fc.constantFrom('only', undefined), hasStreams: fc.boolean() });
    fc.assert(
      fc.property(
        anyNeed,
        shape,
        anyKind,
        logarithmic(20 * MIB, 2 ** 36),
        long,
        (any, shaped, kind, memoryBytes, need) => {
          const roomOf = (bytes: number) => {
            const planned: MemoryNeed = { ...any, ...shaped, ...givenTo(bytes, kind) };
            return { planned, hasRoom: hasRoomFor(planned, need) };
          };
          const now = roomOf(memoryBytes);
          fc.pre(!now.hasRoom);
          const least = Number.parseInt(memoryFor(now.planned, need), 10) * MIB;
          expect(least).toBeGreaterThan(memoryBytes);
          expect(roomOf(least).hasRoom).toBe(true);
          if (least - MIB > memoryBytes) expect(roomOf(least - MIB).hasRoom).toBe(false);
        },
      ),
      { numRuns: atScale(100, 500, 1000) },
    );
  });
});
