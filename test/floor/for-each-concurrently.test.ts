/**
 * The same work for many items, a few at a time: for all of them or up to the first failure, and no work is under way
 * at the end.
 */
import { describe, expect, it } from 'vitest';
import { forEachConcurrently } from '#src/floor/for-each-concurrently.js';

const pause = () => new Promise((resolve) => setTimeout(resolve, 1));

describe('forEachConcurrently', () => {
  it.each([
    [0, undefined],
    [1, undefined],
    [3, undefined],
    [4, undefined],
    [5, undefined],
    [50, undefined],
    [50, 24],
    [50, 1],
  ])('does each of %d things once, at most four at one time or %s', async (count, atOnce) => {
    const items = Array.from({ length: count }, (_, item) => item);
    const done: number[] = [];
    let [underWay, most] = [0, 0];
    await forEachConcurrently(
      items,
      async (item) => {
        underWay += 1;
        most = Math.max(most, underWay);
        await pause();
        underWay -= 1;
        done.push(item);
      },
      atOnce,
    );
    expect(done.toSorted((a, b) => a - b)).toEqual(items);
    expect(most).toBe(Math.min(count, atOnce ?? 4));
  });

  it('throws the first failure, begins nothing after it, and waits for what is under way', async () => {
    let [begun, ended] = [0, 0];
    const work = forEachConcurrently(Array.from({ length: 50 }).keys(), async (item) => {
      begun += 1;
      await pause();
      ended += 1;
      if (item >= 5) throw new Error(`${item}`);
    });
    await expect(work).rejects.toThrow(/^5$/);
    expect(begun).toBeLessThan(13);
    expect(ended).toBe(begun);
  });
});
