/** What pass 1 says about disks that will be full, from what the inputs have decoded to so far. */
import { describe, expect, it } from 'vitest';
import { JobControl } from '#src/job-control.js';
import { findShortages } from '#src/jobs/disk-space.js';
import { SpaceWatch } from '#src/jobs/space-watch.js';
import { DeviceGates } from '#src/machine/device-gates.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

const directory = useTestDirectory();
const PIB = 2 ** 50;

function watchOf(inputBytes: number | undefined): { watch: SpaceWatch; control: JobControl; warnings: string[] } {
  const control = JobControl.create([], 0);
  const warnings: string[] = [];
  const watch = new SpaceWatch({
    control,
    inputBytes,
    needOf: (recordBytes) => ({ tempBytes: recordBytes, outputBytes: recordBytes }),
    shortagesOf: ({ tempBytes }) =>
      findShortages(
        [{ directory: directory.path(), byteLength: tempBytes, what: 'temp data' }],
        1,
        new DeviceGates({}),
      ),
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
        /^by the 12 % of the inputs read so far, all of them hold about 3221225472 MiB, and there will not be enough space for temp data on the device of .*: about 28185722\d\d MiB are needed and \d+ MiB are free; free some space or name other disks with `tempDirs`$/,
      ),
    ]);
  });

  it('says nothing while there is room, too little was read, or the total is unknown', () => {
    for (const [inputBytes, storedBytes] of [
      [1000, 500],
      [PIB, PIB / 128],
      [undefined, PIB / 2],
    ] as const) {
      const { watch, control, warnings } = watchOf(inputBytes);
      control.count('scatteredBytes', storedBytes);
      control.count('decodedBytes', storedBytes * 3);
      watch.look();
      expect(warnings).toEqual([]);
    }
  });
});
