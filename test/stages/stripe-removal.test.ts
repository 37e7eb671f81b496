/**
 * Temp data is deleted stripe by stripe while the output grows, so both together take little more space than the data
 * once. A stripe stays until all of its piles are verified in the output.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Tuning } from '#src/plan/memory-plan.js';
import { type Sabotage, withSabotage } from '../faults/sabotage.js';
import { OUTPUT_BYTES, smallSizes, writeInputs } from '../faults/small-job.js';
import { DONE, seen } from '../fixtures/command-outcome.js';
import { runCommand } from '../fixtures/run-command.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';
import type { Sighting } from './stripe-witness.mjs';

const directory = useTestDirectory();

const PILES = 8;
const STRIPES = 4;
const BUFFER_BYTES = 500;
// On the calling thread: one task is checked before the next one writes.
const SIZES: Tuning = { pileCount: PILES, stripeCount: STRIPES, outputBytes: BUFFER_BYTES, inline: true };
const NO_SABOTAGE: Sabotage = { act: 'skip-gathered', nth: Number.MAX_SAFE_INTEGER };

beforeEach(() => {
  for (const path of [['output'], ['disks'], ['disks', 'a'], ['disks', 'b']]) mkdirSync(directory.path(...path));
});

async function shuffleBeforeWitness(sabotage: Sabotage, inputs: readonly string[], sizes: Tuning) {
  const { nodeOptions, env } = withSabotage(sabotage);
  const log = directory.path('sightings');
  const witnessed = { temp: directory.path('disks'), output: directory.path('output'), log };
  const tempDirs = ['a', 'b'].flatMap((name) => ['-T', directory.path('disks', name)]);
  const result = await runCommand(
    ['-q', ...inputs, ...tempDirs, '-o', directory.path('output', 'out'), '--seed', '1'],
    {
      nodeOptions: [...nodeOptions, '--import', new URL('stripe-witness.mjs', import.meta.url).href],
      env: { ...env, ...smallSizes(sizes), PILESHUF_WITNESS: JSON.stringify(witnessed) },
    },
  );
  const sightings: Sighting[] = readFileSync(log, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  const removals = sightings.flatMap((sighting) => ('stripe' in sighting ? [sighting] : []));
  const left = sightings.flatMap((sighting) => ('left' in sighting ? sighting.left : []));
  return { result, removals, left };
}

function isRising(numbers: readonly number[]): boolean {
  return numbers.every((number, i) => i === 0 || number > (numbers[i - 1] ?? 0));
}

describe('the temp data of a stripe', () => {
  it('goes as soon as the output made from it is written, and before the next stripe is', async () => {
    const { result, removals, left } = await shuffleBeforeWitness(NO_SABOTAGE, writeInputs(directory), SIZES);
    expect(seen(result)).toEqual(DONE);
    expect(left).toEqual([]);
    expect(isRising(removals.map(({ tempBytes }) => -tempBytes))).toBe(true);
    expect(removals.at(-1)?.tempBytes).toBe(0);
    const outputOfStripe = new Map(removals.map(({ stripe, outputBytes }) => [stripe, outputBytes]));
    expect([...outputOfStripe.keys()]).toEqual([0, 1, 2, 3]);
    expect(removals.every(({ stripe, outputBytes }) => outputOfStripe.get(stripe) === outputBytes)).toBe(true);
    expect(isRising([...outputOfStripe.values()])).toBe(true);
    expect(outputOfStripe.get(STRIPES - 1)).toBe(OUTPUT_BYTES);
  });

  it('does not go before the last of several tasks that read it has ended', async () => {
    // Four piles of 5 MiB: a task each.
    const input = directory.path('large.input');
    writeFileSync(input, Array.from({ length: 20 * 1024 }, (_, i) => `${String(i).padStart(1023, '.')}\n`).join(''));
    const { result, removals } = await shuffleBeforeWitness(NO_SABOTAGE, [input], {
      ...SIZES,
      pileCount: 4,
      stripeCount: 2,
      bufferBytes: 2 ** 16,
      readBytes: 2 ** 18,
      outputBytes: 2 ** 18,
      sliceBytes: 2 ** 23,
      pass2ArenaBytes: 2 ** 24,
    });
    expect(seen(result)).toEqual(DONE);
    const outputMebibytes = removals.map(({ stripe, outputBytes }) => [stripe, Math.round(outputBytes / 2 ** 20)]);
    expect(outputMebibytes[0]).toEqual([0, 10]);
    expect(outputMebibytes.at(-1)).toEqual([1, 20]);
  });

  it('is still there when a pile of it comes out wrong', async () => {
    const nth = Math.floor(OUTPUT_BYTES / BUFFER_BYTES / 2);
    const { result, removals, left } = await shuffleBeforeWitness(
      { act: 'skip-gathered', nth, ever: true },
      writeInputs(directory),
      SIZES,
    );
    expect(seen(result)).toEqual({
      exitCode: 4,
      lines: [expect.stringMatching(/: pile \d+ came out of pass 2 with /)],
    });
    const pile = Number(/pile (\d+) came/.exec(result.stderr)?.[1]);
    const wrong = Math.floor((pile * STRIPES) / PILES);
    const stripes = [0, 1, 2, 3];
    const stripesLeft = new Set(left.map((name) => Number(name.split('.')[1])));
    expect([...new Set(removals.map(({ stripe }) => stripe))]).toEqual(stripes.slice(0, wrong));
    expect([...stripesLeft].sort()).toEqual(stripes.slice(wrong));
  });
});
