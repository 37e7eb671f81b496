/** Whole jobs of the library on one input, one after the other, each with another seed. */
import { readFileSync } from 'node:fs';
import { shuffle } from '#src/index.js';
import type { Tuning } from '#src/plan/memory-plan.js';
import { tuningUnderTest } from '../fixtures/tuning-under-test.js';
import type { FastDirectory } from './fast-directory.js';

export async function shuffleWithSeed(
  directory: FastDirectory,
  inputPath: string,
  seed: string,
  tuning: Tuning,
  unique = false,
): Promise<Buffer> {
  const output = directory.path('out');
  await shuffle(
    {
      inputs: [inputPath],
      output,
      force: true,
      seed,
      unique,
      tempDirs: [directory.temp],
      memoryBytes: 4 * 2 ** 20,
      workers: 1,
    },
    { ...tuningUnderTest, ...tuning, inline: true },
  );
  return readFileSync(output);
}
