/** The phase that each time counts for, with a simulated clock. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { inPhase, inPhaseAsync, measured, PHASES, piecesInPhase } from '#src/floor/phase-clock.js';

const NOTHING = Object.fromEntries(PHASES.map((phase) => [phase, 0]));
let seconds = 0;

beforeEach(() => {
  seconds = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => seconds * 1000);
});
afterEach(() => {
  vi.restoreAllMocks();
});

const pass = (more: number) => {
  seconds += more;
};

describe('a task that is measured', () => {
  it('has the time of each phase, without that of phases inside it', async () => {
    const { value, seconds: spent } = await measured(async () => {
      pass(1);
      const answer = inPhase('scatter', () => {
        pass(2);
        inPhase('write', () => pass(4));
        pass(8);
        return 'done';
      });
      pass(16);
      await inPhaseAsync('gate', async () => pass(32));
      return answer;
    });
    expect(value).toBe('done');
    expect(spent).toEqual({ ...NOTHING, other: 17, scatter: 10, write: 4, gate: 32 });
  });

  it('goes back to the phase before when one fails', async () => {
    const { seconds: spent } = await measured(async () => {
      const fail = (): void => {
        pass(1);
        throw new Error('full');
      };
      expect(() => inPhase('write', fail)).toThrow('full');
      await expect(inPhaseAsync('read', async () => fail())).rejects.toThrow('full');
      pass(2);
    });
    expect(spent).toEqual({ ...NOTHING, write: 1, read: 1, other: 2 });
  });

  it('counts the wait for each piece, and not what is done with it', async () => {
    let isReturned = false;
    async function* pieces() {
      try {
        for (let piece = 0; ; piece++) {
          pass(1);
          yield piece;
        }
      } finally {
        isReturned = true;
      }
    }
    const { value, seconds: spent } = await measured(async () => {
      const seen: number[] = [];
      for await (const piece of piecesInPhase('decompress', pieces())) {
        seen.push(piece);
        pass(10);
        if (piece === 2) break;
      }
      return seen;
    });
    expect(value).toEqual([0, 1, 2]);
    expect(spent).toEqual({ ...NOTHING, decompress: 3, other: 30 });
    expect(isReturned).toBe(true);
  });

  it('is measured no longer when it failed', async () => {
    const failed = measured(async () => {
      throw new Error('full');
    });
    await expect(failed).rejects.toThrow('full');
    expect(inPhase('read', () => 1)).toBe(1);
    const { seconds: spent } = await measured(async () => pass(1));
    expect(spent).toEqual({ ...NOTHING, other: 1 });
  });
});

describe('without a measured task', () => {
  it('nothing looks at the clock', async () => {
    const now = vi.mocked(performance.now);
    const before = now.mock.calls.length;
    expect(inPhase('read', () => 1)).toBe(1);
    expect(await inPhaseAsync('read', async () => 2)).toBe(2);
    expect(now.mock.calls.length).toBe(before);
  });
});
