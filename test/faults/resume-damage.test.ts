/**
 * An interrupted job whose files are damaged: the command names the damage, and makes only the damaged pile set again. The
 * output has the same bytes. damaged-store.test.ts changes every byte of a smaller job.
 */
import { copyFileSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { sampled } from '../fixtures/scale.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';
import { runInProcess, stopInProcess } from './job-in-process.js';
import { contentOf, findJobPaths, namesBelow, undisturbed } from './resumable-job.js';
import { SMALL_SIZES, writeInputs } from './small-job.js';

const directory = useMemoryDirectory();

const PILES = 6;
const STRIPES = 6;
const SIZES = { ...SMALL_SIZES, pileCount: PILES, stripeCount: STRIPES };
/** The one whose files are damaged. */
const SLICE = 4;

let inputs: string[] = [];
let output = '';
let job: ReturnType<typeof findJobPaths>;
beforeEach(() => {
  inputs = writeInputs(directory);
  output = directory.path('out');
});

const argv = () => [...inputs, '-o', output, '-T', directory.temp, '--workers', '2', '--seed', '1', '--resume'];
const resume = () => runInProcess(argv(), SIZES);

/** Has a job stopped in pass 2. */
async function interrupt(nthWrite: number): Promise<void> {
  await stopInProcess(argv(), { call: 'write', ending: '.part', nth: nthWrite }, SIZES);
  job = findJobPaths(directory.temp, directory.path());
}

/** The data file of the slice that is damaged. */
function dataFile(stripe: number): string {
  const digits = String(SLICE).padStart(6, '0');
  const name = namesBelow(job.data).find(
    (file) => file.startsWith(`set-${digits}-`) && file.endsWith(`.${stripe}.pile`),
  );
  return join(job.data, name ?? 'none');
}

function indexOf(slice: number): string {
  return join(job.job, `set-${String(slice).padStart(6, '0')}.index`);
}

function flipByte(path: string, position: number): void {
  const bytes = readFileSync(path);
  bytes[position] = (bytes[position] ?? 0) ^ 4;
  writeFileSync(path, bytes);
}

async function expectUndisturbedBytes() {
  expect(contentOf(output)).toBe(await undisturbed(directory, { inputs }));
}

describe('stored records', () => {
  // In a record: its key, its length, its bytes.
  it.each(
    sampled(
      [
        ['first', () => 0],
        ['fifth', () => 4],
        ['ninth', () => 8],
        ['thirteenth', () => 12],
        ['last', (path: string) => statSync(path).size - 1],
      ] as const,
      4,
    ),
  )('whose %s byte changed are seen when they are read, and made again', async (_, position) => {
    await interrupt(1);
    const path = dataFile(STRIPES - 1);
    flipByte(path, position(path));
    const refused = await resume();
    expect(refused).toMatchObject({
      exitCode: 4,
      failure: { code: 'ERR_VERIFICATION', resume: { directory: job.job } },
    });
    const { message = '' } = refused.failure ?? {};
    expect(message).toContain(path);
    expect(message).toMatch(
      /are not what was written there; check the disk; if the job can be resumed, give `resume`$/,
    );
    const continued = await resume();
    expect(continued).toMatchObject({ exitCode: 0, slicesMade: [SLICE], warnings: [] });
    await expectUndisturbedBytes();
  });

  it.each<[string, (path: string) => void, string]>([
    ['are gone', (path) => rmSync(path), 'is missing, expected \\d+ bytes'],
    ['were cut off', (path) => truncateSync(path, statSync(path).size - 1), 'has \\d+ bytes, expected \\d+ bytes'],
  ])('that %s are seen at once, and made again', async (_, damage, what) => {
    await interrupt(1);
    const path = dataFile(STRIPES - 1);
    damage(path);
    const continued = await resume();
    expect(continued).toMatchObject({ exitCode: 0, slicesMade: [SLICE] });
    expect(continued.warnings).toEqual([
      expect.stringMatching(
        new RegExp(`^verification failed: the data file ${path} ${what}; this part is made again$`),
      ),
    ]);
    await expectUndisturbedBytes();
  });
});

describe('an index', () => {
  it.each(
    sampled<[string, (path: string) => void]>(
      [
        ['is empty', (path) => truncateSync(path, 0)],
        ['has another byte', (path) => flipByte(path, statSync(path).size - 2)],
        ['was cut off', (path) => truncateSync(path, statSync(path).size - 1)],
        ['is that of another slice', (path) => copyFileSync(indexOf(SLICE + 1), path)],
      ],
      2,
    ),
  )('that %s is seen at once, and its pile set is made again', async (_, damage) => {
    await interrupt(1);
    damage(indexOf(SLICE));
    const continued = await resume();
    expect(continued).toMatchObject({ exitCode: 0, slicesMade: [SLICE] });
    expect(continued.warnings).toEqual([expect.stringContaining(basename(indexOf(SLICE)))]);
    await expectUndisturbedBytes();
  });

  it('that is gone means that its pile set is made again, without a word', async () => {
    await interrupt(1);
    rmSync(indexOf(SLICE));
    expect(await resume()).toMatchObject({ exitCode: 0, slicesMade: [SLICE], warnings: [] });
    await expectUndisturbedBytes();
  });
});
