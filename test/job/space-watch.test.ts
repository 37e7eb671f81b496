/** What pass 1 says about disks that will be full, from what the inputs have decoded to so far. */
import { open } from 'node:fs/promises';
import { describe, expect, it, vi } from 'vitest';
import { shuffle } from '#src/index.js';
import { watchSpace } from '#src/job/disk-space.js';
import { JobControl } from '#src/job-control.js';
import { DeviceGates } from '#src/machine/devices.js';
import { makePipe } from '../fixtures/make-pipe.js';
import { reasonNotToMount, useMounts } from '../fixtures/mounts.js';
import { fromCi } from '../fixtures/scale.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

const directory = useTestDirectory();
const PIB = 2 ** 50;

/** What a job says in three looks at its disks, when so many bytes of the inputs were read. */
async function told(
  inputBytes: number | undefined,
  read: { readonly storedBytes: number; readonly decodedBytes: number },
  { what = 'temp data', path = directory.path(), onWarning = (_: string) => {} } = {},
) {
  vi.useFakeTimers();
  try {
    const control = JobControl.create([], 0);
    const warnings: string[] = [];
    const reasons: unknown[] = [];
    const job = {
      control,
      plan: {
        inputBytes,
        memory: { stripeCount: 1 },
        needOf: (recordBytes: number) => ({ tempBytes: recordBytes, outputBytes: recordBytes }),
      },
      site:
        what === 'output' ? { tempDirs: [], outputDirectory: path } : { tempDirs: [path], outputDirectory: undefined },
      deviceGates: new DeviceGates({}),
      request: {
        onWarning: (line: string) => {
          warnings.push(line);
          onWarning(line);
        },
      },
    };
    const pass1 = async () => {
      control.count('scatteredBytes', read.storedBytes);
      control.count('decodedBytes', read.decodedBytes);
      vi.advanceTimersByTime(3500);
    };
    await watchSpace(job, pass1, { fail: (reason) => reasons.push(reason) });
    return { warnings, reasons };
  } finally {
    vi.useRealTimers();
  }
}

describe('the watch over disks', () => {
  it('warns once, with what the inputs hold by what was read', async () => {
    const { warnings } = await told(PIB, { storedBytes: PIB / 8, decodedBytes: (3 * PIB) / 8 });
    expect(warnings).toEqual([
      expect.stringMatching(
        // Of 3 PiB, 2.625 are to come.
        /^by the 12 % of the inputs read so far, all of them hold about 3\.38 PB, and there will not be enough space for temp data on the device of .*: about 2\.96 PB are needed and [\d.]+ [TGM]B are free; free some space or name other disks with `tempDirs`$/,
      ),
    ]);
  });

  it('warns of what a stream already holds', async () => {
    const { warnings } = await told(undefined, { storedBytes: 0, decodedBytes: PIB }, { what: 'output' });
    expect(warnings).toEqual([
      expect.stringMatching(/^the inputs read so far hold 1\.13 PB, and there will not be enough space for output /),
    ]);
  });

  it('ends the job with what the caller throws, and takes a directory that is gone for none', async () => {
    const thrown = new RangeError('of the caller');
    const onWarning = () => {
      throw thrown;
    };
    const read = { storedBytes: PIB / 2, decodedBytes: PIB };
    expect(await told(PIB, read, { onWarning })).toMatchObject({ reasons: [thrown] });
    expect(await told(PIB, read, { onWarning, path: directory.path('gone') })).toEqual({ warnings: [], reasons: [] });
  });

  it.each([
    [1000, 500],
    [PIB, PIB / 128],
    [undefined, 500],
    [0, 0],
  ])('says nothing while there is room, or too little was read: of %s bytes %s', async (inputBytes, storedBytes) => {
    const { warnings } = await told(inputBytes, { storedBytes, decodedBytes: storedBytes * 3 });
    expect(warnings).toEqual([]);
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
