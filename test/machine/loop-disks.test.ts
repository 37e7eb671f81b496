/** Disks as the kernel reports them: loop devices marked as rotating or not. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { describeDevice } from '#src/machine/devices.js';
import { reasonForNoLoopDisks, useLoopDisks } from '../fixtures/loop-disks.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

describe.skipIf(reasonForNoLoopDisks)(`describeDevice on loop devices ${reasonForNoLoopDisks ?? ''}`, () => {
  const directory = useTestDirectory();
  const mountDisk = useLoopDisks();

  it.each([
    [true, 'rotating', 1],
    [false, 'solid-state', 16],
  ])('takes one that rotates: %s, for %s', (rotates, deviceClass, ioLimit) => {
    const disk = mountDisk(directory.path('disk'), { byteLength: 2 ** 20, rotates });
    expect(describeDevice(disk)).toMatchObject({ deviceClass, ioLimit, fileSystemType: 'ext4' });
  });

  it('tells two of them apart, and directories on one of them not', () => {
    const [first, second] = ['first', 'second'].map((name) => {
      const disk = mountDisk(directory.path(name), { byteLength: 2 ** 20, rotates: false });
      const inside = join(disk, 'inside');
      mkdirSync(inside);
      return { id: describeDevice(disk).id, idInside: describeDevice(inside).id };
    });
    expect(first?.id).toBe(first?.idInside);
    expect(second?.id).toBe(second?.idInside);
    expect(first?.id).not.toBe(second?.id);
  });
});
