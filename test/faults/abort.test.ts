/**
 * A library call that its AbortSignal stops: in every phase it rejects with AbortError, no output appears, and the
 * call stops listening to the signal.
 */
import { getEventListeners } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { AbortError, type ShuffleOptions, type ShuffleProgress, shuffle } from '#src/index.js';
import { makePipe } from '../fixtures/make-pipe.js';
import { sampled } from '../fixtures/scale.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';
import { SMALL_SIZES, writeInputs } from './small-job.js';

const directory = useTestDirectory();

function options(more: Partial<ShuffleOptions>): ShuffleOptions {
  return {
    inputs: writeInputs(directory),
    output: directory.path('out'),
    tempDirs: [directory.temp],
    memoryBytes: 2 ** 26,
    workers: 2,
    ...more,
  };
}

describe('an AbortSignal', () => {
  it.each(
    sampled(
      [
        ['scatter', false],
        ['scatter', true],
        ['shuffle', true],
        ['shuffle', false],
        ['commit', false],
        ['commit', true],
      ] as const,
      2,
    ),
  )('stops the job in phase %s (inline: %s)', async (phase, inline) => {
    const controller = new AbortController();
    const reason = new Error('mine');
    const onProgress = (progress: ShuffleProgress) => {
      if (progress.phase === phase) controller.abort(reason);
    };
    const job = shuffle(options({ signal: controller.signal, onProgress }), { ...SMALL_SIZES, inline });
    await expect(job).rejects.toThrow(AbortError);
    const { name, kind, code, cause } = await job.catch((error: unknown) => Object(error));
    expect({ name, kind, code }).toEqual({ name: 'AbortError', kind: 'aborted', code: 'ABORT_ERR' });
    expect(cause).toBe(reason);
    expect(existsSync(directory.path('out'))).toBe(false);
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  });

  it('that is already aborted refuses the job', async () => {
    let hasBegun = false;
    const onProgress = () => {
      hasBegun = true;
    };
    const signal = AbortSignal.abort();
    const job = shuffle(options({ signal, onProgress }));
    await expect(job).rejects.toThrow(AbortError);
    // As in Node's own errors: the reason of a signal without one is a DOMException.
    await expect(job).rejects.toHaveProperty('cause', signal.reason);
    expect(hasBegun).toBe(false);
  });
});

describe('an onProgress function that throws', () => {
  it.each(sampled(['scatter', 'shuffle', 'commit'] as const, 2))(
    'stops the job in phase %s, which rejects with that',
    async (phase) => {
      const mine = new Error('mine');
      const onProgress = (progress: ShuffleProgress) => {
        if (progress.phase === phase) throw mine;
      };
      await expect(shuffle(options({ onProgress }), SMALL_SIZES)).rejects.toBe(mine);
      expect(existsSync(directory.path('out'))).toBe(false);
    },
  );

  it('ends the job when the clock calls it', async () => {
    const mine = new Error('mine');
    const pipe = makePipe(directory.path('pipe'));
    let calls = 0;
    const onProgress = () => {
      calls += 1;
      if (calls === 2) throw mine;
    };
    // Nobody writes to it: only time goes by.
    await expect(shuffle(options({ inputs: [pipe], onProgress }), SMALL_SIZES)).rejects.toBe(mine);
    expect(readdirSync(directory.temp)).toEqual([]);
  });
});
