/** What pass 1 says about disks that will be full, from what the inputs have decoded to so far. */
import { open } from 'node:fs/promises';
import { describe, expect, it, vi } from 'vitest';
import { SystemError } from '#src/errors.js';
import { shuffle } from '#src/index.js';
import { JobControl } from '#src/job-control.js';
import { findShortages, SpaceWatch, type WatchedJob } from '#src/jobs/disk-space.js';
import { DeviceGates } from '#src/machine/devices.js';
import { makePipe } from '../fixtures/make-pipe.js';
import { reasonNotToMount, useMounts } from '../fixtures/mounts.js';
import { fromCi } from '../fixtures/scale.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

const directory = useTestDirectory();
const PIB = 2 ** 50;

function watchOf(
  inputBytes: number | undefined,
  what: 'temp data' | 'output' = 'temp data',
): { watch: SpaceWatch; control: JobControl; warnings: string[] } {
  const control = JobControl.create([], 0);
  const warnings: string[] = [];
  const watch = new SpaceWatch({
    control,
    inputBytes,
    needOf: (recordBytes) => ({ tempBytes: recordBytes, outputBytes: recordBytes }),
    shortagesOf: ({ tempBytes, outputBytes }) => {
      const byteLength = what === 'output' ? outputBytes : tempBytes;
      return findShortages([{ directory: directory.path(), byteLength, what }], 1, new DeviceGates({}));
    },
    onWarning: (line) => warnings.push(line),
  });
  return { watch, control, warnings };
}

describe('SpaceWatch', () => {
  it('warns once, with what the inputs hold by what was read', () => {
    const { watch, control, warnings } = watchOf(PIB);
    control.count('scatteredBytes', PIB / 8);
    control.count('decodedBytes', (3 * PIB) / 8);
    watch.look();
    watch.look();
    expect(warnings).toEqual([
      expect.stringMatching(
        // Of 3 PiB, 2.625 are to come.
        /^by the 12 % of the inputs read so far, all of them hold about 3\.38 PB, and there will not be enough space for temp data on the device of .*: about 2\.96 PB are needed and [\d.]+ [TGM]B are free; free some space or name other disks with `tempDirs`$/,
      ),
    ]);
  });

  it('warns of what a stream already holds', () => {
    const { watch, control, warnings } = watchOf(undefined, 'output');
    control.count('decodedBytes', PIB);
    watch.look();
    expect(warnings).toEqual([
      expect.stringMatching(/^the inputs read so far hold 1\.13 PB, and there will not be enough space for output /),
    ]);
  });

  it('ends the job with what the caller throws, and takes a directory that is gone for none', async () => {
    vi.useFakeTimers();
    try {
      const reasons: unknown[] = [];
      const stop = { fail: (reason: unknown) => reasons.push(reason) };
      const during = async (job: Partial<WatchedJob>) => {
        const { control } = watchOf(PIB);
        control.count('scatteredBytes', PIB / 2);
        control.count('decodedBytes', PIB);
        const shortage = { device: '1', description: 'for output', advice: 'free some space' };
        const watch = new SpaceWatch({
          control,
          inputBytes: PIB,
          needOf: (bytes) => ({ tempBytes: 0, outputBytes: bytes }),
          shortagesOf: () => [shortage],
          onWarning: () => {
            throw thrown;
          },
          ...job,
        });
        await watch.during(async () => vi.advanceTimersByTime(3500), stop);
      };
      const thrown = new RangeError('of the caller');
      await during({});
      expect(reasons).toEqual([thrown]);
      await during({
        shortagesOf: () => {
          throw new SystemError('ERR_IO', 'gone');
        },
      });
      expect(reasons).toEqual([thrown]);
    } finally {
      vi.useRealTimers();
    }
  });

  it('says nothing while there is room, or too little was read', () => {
    for (const [inputBytes, storedBytes] of [
      [1000, 500],
      [PIB, PIB / 128],
      [undefined, 500],
      [0, 0],
    ] as const) {
      const { watch, control, warnings } = watchOf(inputBytes);
      control.count('scatteredBytes', storedBytes);
      control.count('decodedBytes', storedBytes * 3);
      watch.look();
      expect(warnings).toEqual([]);
    }
  });
});

describe.skipIf(reasonNotToMount !== undefined)(`a job with a small output disk ${reasonNotToMount ?? ''}`, () => {
  const mountTmpfs = useMounts();

  it.runIf(fromCi)('says while it reads a stream that the disk will not hold the output', async () => {
    const output = `${mountTmpfs(directory.path('disk'), 'size=1m')}/out`;
    const pipe = makePipe(directory.path('pipe'));
    const warnings: string[] = [];
    const feeder = open(pipe, 'w').then(async (file) => {
      await file.write('a line of nineteen\n'.repeat(200_000));
      // The job looks once a second.
      const isTold = () => warnings.some((line) => line.includes('there will not be'));
      await vi.waitUntil(isTold, { timeout: 300_000 }).finally(() => file.close());
    });
    const onWarning = (line: string) => warnings.push(line);
    const job = shuffle({ inputs: [pipe], output, tempDirs: [directory.temp], onWarning });
    await expect(job).rejects.toMatchObject({ code: 'ERR_NO_SPACE' });
    await feeder;
    expect(warnings).toContainEqual(
      expect.stringMatching(
        /^the inputs read so far hold [\d.]+ MB, and there will not be enough space for output on /,
      ),
    );
  });
});
