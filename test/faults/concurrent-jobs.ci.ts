/**
 * Several jobs at the same time. Jobs in one process do not disturb each other. Only one job at a time writes an output: a
 * second one is refused at once, and the first is not disturbed. The tests of sinks have files that appear meanwhile.
 */
import { readFileSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import { type ShuffleOptions, shuffle } from '#src/index.js';
import { sampled } from '../fixtures/scale.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';
import { SMALL_SIZES, writeInputs } from './small-job.js';

const directory = useTestDirectory();

let inputs: string[] = [];
beforeEach(() => {
  inputs = writeInputs(directory);
});

function settings(): Pick<ShuffleOptions, 'tempDirs' | 'memoryBytes' | 'workers'> {
  return { tempDirs: [directory.temp], memoryBytes: 2 ** 26, workers: 2 };
}

describe('several jobs in one process', () => {
  it.each(sampled([true, false], 2))('write the same outputs as alone (inline: %s)', async (inline) => {
    const tuning = { ...SMALL_SIZES, inline };
    const seeds = ['1', '2', '3', '1'];
    const output = (name: string) => directory.path(`out ${name}`);
    await Promise.all(seeds.map((seed, i) => shuffle({ ...settings(), inputs, seed, output: output(`${i}`) }, tuning)));
    for (const [i, seed] of seeds.entries()) {
      await shuffle({ ...settings(), inputs, seed, output: output(`${i} alone`) }, tuning);
      expect(readFileSync(output(`${i}`), 'latin1')).toBe(readFileSync(output(`${i} alone`), 'latin1'));
    }
    expect(readFileSync(output('0'), 'latin1')).not.toBe(readFileSync(output('1'), 'latin1'));
  });
});
