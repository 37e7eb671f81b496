/**
 * A library call that its AbortSignal stops: it rejects with AbortedError in whichever phase it is, no
 * output appears, and the caller's signal is let go of.
 */
import { getEventListeners } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { AbortedError, type ShuffleOptions, type ShuffleProgress, shuffle } from '#src/index.js';
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
  it.each([
    ['scatter', true],
    ['scatter', false],
    ['shuffle', true],
    ['shuffle', false],
  ] as const)('stops the job in phase %s (inline: %s)', async (phase, inline) => {
    const controller = new AbortController();
    const onProgress = (progress: ShuffleProgress) => {
      if (progress.phase === phase) controller.abort();
    };
    const job = shuffle(options({ signal: controller.signal, onProgress }), { ...SMALL_SIZES, inline });
    await expect(job).rejects.toThrow(AbortedError);
    await expect(job).rejects.toMatchObject({ kind: 'aborted', code: 'ERR_ABORTED' });
    expect(existsSync(directory.path('out'))).toBe(false);
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  });

  it('that is aborted already lets nothing begin', async () => {
    let hasBegun = false;
    const onProgress = () => {
      hasBegun = true;
    };
    const job = shuffle(options({ signal: AbortSignal.abort(), onProgress }));
    await expect(job).rejects.toThrow(AbortedError);
    expect(hasBegun).toBe(false);
  });

  it('leaves the output that should be replaced', async () => {
    writeFileSync(directory.path('out'), 'precious\n');
    const controller = new AbortController();
    const onProgress = () => controller.abort();
    const job = shuffle(options({ force: true, signal: controller.signal, onProgress }), SMALL_SIZES);
    await expect(job).rejects.toThrow(AbortedError);
    expect(readFileSync(directory.path('out'), 'utf8')).toBe('precious\n');
  });

  it('is let go of when the job ends well', async () => {
    const { signal } = new AbortController();
    await shuffle(options({ signal }), SMALL_SIZES);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});
