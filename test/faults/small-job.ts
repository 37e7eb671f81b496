/**
 * The small job that the fault tests use. It still has several of everything: inputs, slices an input, piles a stripe,
 * segments a pile, writes an output.
 */
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { expect } from 'vitest';
import type { Tuning } from '#src/plan/memory-plan.js';
import { sortLines } from '../fixtures/command-outcome.js';
import type { TestDirectory } from '../fixtures/temp-directory.js';

/** Records of one length: a loss that a gain makes good is seen by the checksum alone. */
const RECORDS_OF_INPUT = 6000;
const TEXTS = [0, 1].map((file) =>
  Array.from({ length: RECORDS_OF_INPUT }, (_, i) => `${file} ${String(i).padStart(8, '0')}\n`).join(''),
);

export const OUTPUT_BYTES = TEXTS.reduce((sum, text) => sum + text.length, 0);
export const SORTED_OUTPUT = sortLines(TEXTS.join(''));

export const SMALL_SIZES: Partial<Tuning> = {
  pileCount: 5,
  bufferBytes: 1000,
  readBytes: 4096,
  outputBytes: 3000,
  sliceBytes: 10_000,
  stripeCount: 2,
  mayUseRamPool: false,
  inline: false,
};

/** The environment that gives `command-under-test.mjs` these sizes; undefined: what the plan chooses. */
export function smallSizes(
  tuning: { readonly [K in keyof Tuning]?: Tuning[K] | undefined } = {},
): Record<string, string> {
  return { PILESHUF_TEST_TUNING: JSON.stringify({ ...SMALL_SIZES, ...tuning }) };
}

/** Writes the inputs; the first arguments of the job. */
export function writeInputs(directory: TestDirectory): string[] {
  return TEXTS.map((text, i) => {
    const path = directory.path(`${i}.input`);
    writeFileSync(path, text);
    return path;
  });
}

/** Makes the output a file of somebody else. @returns what expects that it is untouched. */
export function makeExisting(output: string): () => void {
  writeFileSync(output, 'precious\n');
  const { ino } = statSync(output);
  return () => expect([readFileSync(output, 'utf8'), statSync(output).ino]).toEqual(['precious\n', ino]);
}
