/** Results reach their receiver in the order of their turns, each once, as soon as all earlier ones have. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { inTurn } from '#src/stages/run-tasks.js';

describe('inTurn', () => {
  it('hands results on in turn, and none before its turn', () => {
    const order = fc
      .integer({ min: 0, max: 30 })
      .chain((count) => fc.shuffledSubarray([...Array(count).keys()], { minLength: count, maxLength: count }));
    fc.assert(
      fc.property(order, (turns) => {
        const taken: (readonly [string, number])[] = [];
        const take = inTurn(
          (result: string, turn: number) => taken.push([result, turn]),
          (turn) => turn,
        );
        const given = new Set<number>();
        for (const turn of turns) {
          take(`result ${turn}`, turn);
          given.add(turn);
          let inOrder = 0;
          while (given.has(inOrder)) inOrder += 1;
          expect(taken).toEqual([...Array(inOrder).keys()].map((each) => [`result ${each}`, each]));
        }
      }),
    );
  });
});
