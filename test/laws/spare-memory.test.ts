/**
 * A budget that pass 1 uses up to its last megabyte: segments without room in memory go to disk, all of them or only
 * the late ones, and the bytes of the output stay the same. A long record gets the rest of the memory; if none is left,
 * the record ends the job, without an output.
 */
import { existsSync, readdirSync, rmdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { STORED_HEADER_BYTES } from '#src/plan/arena-sizes.js';
import { fromCi, sampled } from '../fixtures/scale.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';
import type { Settings } from './any-settings.js';
import type { Encoding } from './encodings.js';
import { recordsOf, referenceOrder } from './reference-order.js';
import { expectReport, type Job, shuffleToFile } from './shuffle-under-test.js';

const directory = useMemoryDirectory();

const MIB = 2 ** 20;
const NEWLINE = 0x0a;
const PILES = 4;
const READ_BYTES = 16 * 1024;
const BUDGET_BYTES_OF_WORKER = 16 * MIB;
/** Longer than the read window, which so must grow: by a megabyte, as the pool does. */
const LONG_RECORD = Buffer.from(`${'x'.repeat(3 * READ_BYTES)}\n`);

const RECORDS_OF_INPUT = 900;
/** Six inputs of more than half a megabyte each, so that four of the pool's megabytes hold all that is stored. */
const INPUTS = Array.from({ length: 6 }, (_, input) =>
  Buffer.from(
    Array.from({ length: RECORDS_OF_INPUT }, (_, i) => `${input} ${i} ${'.'.repeat((i * 37) % 1400)}\n`).join(''),
  ),
);
const STORED_BYTES = Buffer.concat(INPUTS).byteLength + 6 * RECORDS_OF_INPUT * STORED_HEADER_BYTES;

/** Segments begin at multiples of 8; each pile has one or two of a slice. */
const PADDING_BYTES = 7 * 2 * PILES * Math.ceil(STORED_BYTES / (100 * 1024));

/** Pile buffers take the budget, but for so many bytes that no thread is promised. */
function settingsWith(spareBytes: number, encoding: Encoding, workers = 1): Settings {
  const arenaBytes = (workers * BUDGET_BYTES_OF_WORKER - spareBytes) / workers;
  return {
    workers,
    memoryBytes: workers * BUDGET_BYTES_OF_WORKER,
    tempDirCount: 2,
    encodings: [encoding],
    tuning: {
      pileCount: PILES,
      // Beside the buffers there are two windows, the boundary table and the like.
      bufferBytes: Math.floor((arenaBytes - 2 * READ_BYTES - 80 * 1024) / PILES) - 96,
      readBytes: READ_BYTES,
      outputBytes: 4096,
      // Room for every pile: one that is scattered again goes to the disk, too.
      pass2ArenaBytes: 4 * MIB,
      sliceBytes: 100 * 1024,
      stripeCount: 2,
      mayUseRamPool: true,
      inline: workers === 1,
    },
  };
}

async function expectSameBytes(inputs: readonly Buffer[], settings: Settings): Promise<number> {
  const job: Job = { inputs, seed: 'spare', settings };
  const { bytes, report } = await shuffleToFile(directory, job);
  expect(bytes.equals(Buffer.concat(referenceOrder(inputs, job.seed)))).toBe(true);
  expectReport(
    report,
    inputs.flatMap((input) => recordsOf(input, NEWLINE)),
  );
  return report.tempBytes;
}

describe.each<Encoding>(sampled(['plain', 'gzip'], 2))('spare memory for %s inputs', (encoding) => {
  it.runIf(fromCi)('that holds nothing, some or all of what is stored leaves the rest to the disk', async () => {
    const tempBytes: number[] = [];
    for (const spare of [0.1, 0.9, 1.2, 2.5, 3.3, 6]) {
      tempBytes.push(await expectSameBytes(INPUTS, settingsWith(spare * MIB, encoding)));
    }
    const [none, almostNone, one, two, three, all] = tempBytes;
    expect([none, almostNone]).toEqual([STORED_BYTES, STORED_BYTES]);
    for (const [i, bytes] of [one, two, three].entries()) {
      const least = STORED_BYTES - (i + 1) * MIB;
      expect(bytes).toBeGreaterThanOrEqual(least);
      expect(bytes).toBeLessThanOrEqual(least + PADDING_BYTES);
    }
    expect(all).toBe(0);
  });

  it('is had by one of two threads, and the other one goes to the disk', async () => {
    for (const spare of sampled([0.5, 1.5, 2.5], 3, 1, 3)) {
      const tempBytes = await expectSameBytes(INPUTS, settingsWith(spare * MIB, encoding, 2));
      expect(tempBytes).toBeGreaterThan(0);
      expect(tempBytes).toBeGreaterThanOrEqual(STORED_BYTES - Math.floor(spare) * MIB);
    }
  });

  it.runIf(fromCi).each([
    ['first', 0, [1.2, 2.5, 6], [0.1, 0.9]],
    ['last', 5, [6], [0.1, 0.9, 1.2, 2.5]],
  ])('is enough or not for a long record that comes %s', async (_, input, enough, tooLittle) => {
    const inputs = INPUTS.map((bytes, i) => (i === input ? Buffer.concat([LONG_RECORD, bytes]) : bytes));
    for (const spare of enough) await expectSameBytes(inputs, settingsWith(spare * MIB, encoding));
    for (const spare of tooLittle) {
      const job: Job = { inputs, seed: 'spare', settings: settingsWith(spare * MIB, encoding) };
      const refused = directory.path('refused');
      await expect(shuffleToFile(directory, job, refused)).rejects.toMatchObject({
        code: 'ERR_RECORD_TOO_LONG',
        message: expect.stringMatching(
          /in-\d: the record at byte 0 has 49153 bytes and does not fit the memory budget; expected `memoryBytes` of at least \d+M$/,
        ),
      });
      expect(existsSync(refused)).toBe(false);
      // Only empty directories can be removed like this.
      for (const name of readdirSync(directory.temp)) rmdirSync(directory.path('temp', name));
    }
  });
});
