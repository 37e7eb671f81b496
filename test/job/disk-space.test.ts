/**
 * Whether the disks can hold a job: needs on one device are added up to the byte, for any number of named directories,
 * minus data that never exists at the same time.
 */
import { mkdirSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import { readFreeBytes } from '#src/io/paths.js';
import { findShortages, type SpaceNeed } from '#src/job/disk-space.js';
import { DeviceGates } from '#src/machine/devices.js';
import { reasonNotToMount, useMounts } from '../fixtures/mounts.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

describe.skipIf(reasonNotToMount !== undefined)(`findShortages ${reasonNotToMount ?? ''}`, () => {
  const directory = useTestDirectory();
  const mountTmpfs = useMounts();

  let [a, b, other] = ['', '', ''];
  /** Free bytes of the device of `a` and `b`, and of `other`, which has more. */
  let [free, freeOfOther] = [0, 0];
  beforeEach(() => {
    const disk = mountTmpfs(directory.path('disk'), 'size=1m');
    other = mountTmpfs(directory.path('other'), 'size=3m');
    [a, b] = [`${disk}/a`, `${disk}/b`];
    for (const path of [a, b]) mkdirSync(path);
    free = readFreeBytes(a) ?? Number.NaN;
    freeOfOther = readFreeBytes(other) ?? Number.NaN;
  });

  const tempData = (path: string, byteLength: number): SpaceNeed => ({
    directory: path,
    byteLength,
    what: 'temp data',
  });
  const output = (path: string, byteLength: number): SpaceNeed => ({ directory: path, byteLength, what: 'output' });

  /** Takes exactly these, and not a block more of any of them. */
  function expectToFitExactly(needs: readonly SpaceNeed[], stripeCount: number): void {
    const shortagesOf = (of: readonly SpaceNeed[]) => findShortages(of, stripeCount, new DeviceGates({}));
    expect(shortagesOf(needs)).toEqual([]);
    for (const more of needs) {
      const tooMuch = needs.map((need) => (need === more ? { ...need, byteLength: need.byteLength + 4096 } : need));
      expect(shortagesOf(tooMuch)).toHaveLength(1);
    }
  }

  it('adds up temp data and output on one device, less the stripes that are gone before', () => {
    expectToFitExactly([tempData(a, free / 2), output(b, free / 2)], 1);
    expectToFitExactly([tempData(a, (free * 2) / 3), output(b, (free * 2) / 3)], 2);
    expectToFitExactly([tempData(a, (free * 4) / 5), output(a, (free * 4) / 5)], 4);
  });

  it('adds up several temp directories on one device, which share nothing', () => {
    expectToFitExactly([tempData(a, free / 2), tempData(b, free / 2)], 16);
    expectToFitExactly([tempData(a, free / 4), tempData(b, free / 4), tempData(a, free / 2)], 16);
  });

  it('does not add up what goes to different devices, and takes off nothing there', () => {
    expectToFitExactly([tempData(a, free), output(other, freeOfOther)], 16);
    expectToFitExactly([tempData(a, free), tempData(other, freeOfOther)], 16);
    expectToFitExactly([tempData(a, free / 2), tempData(other, freeOfOther), output(b, free / 2)], 1);
    // The half on the other device does not make room for the output here.
    expectToFitExactly([tempData(a, (free * 2) / 3), tempData(other, freeOfOther), output(b, (free * 2) / 3)], 2);
  });

  it('says what is needed where, and what helps', () => {
    const needs = [tempData(a, 2 ** 20), output(b, 2 ** 20), output(other, 2 ** 30)];
    expect(findShortages(needs, 1, new DeviceGates({}))).toMatchObject([
      {
        description: `for temp data and output on the device of ${a}: about 2.10 MB are needed and 1.05 MB are free`,
        advice: 'free some space or name other disks with `tempDirs`',
      },
      {
        description: `for output on the device of ${other}: about 1.07 GB are needed and 3.15 MB are free`,
        advice: 'free some space',
      },
    ]);
  });

  it('tells sizes to the byte that would read the same', () => {
    expect(findShortages([tempData(a, free + 1)], 1, new DeviceGates({}))).toMatchObject([
      {
        description: expect.stringContaining(
          'about 1.05 MB (1,048,577 bytes) are needed and 1.05 MB (1,048,576 bytes) are free',
        ),
      },
    ]);
  });
});
