/** The speeds of disks, from counts that only grow, until they begin anew. */
import { expect, it } from 'vitest';
import { DiskMeter } from '#src/cli/measured-job.js';
import type { DiskProgress, ShuffleProgress } from '#src/index.js';

const disk = (name: string, bytesRead: number, bytesWritten: number, callsUnderWay = 0): DiskProgress => ({
  name,
  bytesRead,
  bytesWritten,
  callsUnderWay,
  callLimit: 8,
});
const report = (disks: DiskProgress[], more: Partial<ShuffleProgress> = {}): ShuffleProgress => ({
  phase: 'scatter',
  bytesDone: 0,
  bytesResumed: 0,
  bytesTotal: 1,
  phaseSeconds: 0,
  phases: [],
  disks,
  memory: { residentBytes: 0, budgetBytes: undefined },
  ...more,
});

it('counts the last ten seconds, of each disk on its own', () => {
  const meter = new DiskMeter();
  const seen = Array.from({ length: 31 }, (_, second) =>
    meter.measure(report([disk('a', second * 100, 0, second % 2 ? 4 : 0), disk('b', 0, second < 20 ? 0 : 50)]), second),
  );
  expect(seen[0]).toMatchObject([{ readBytesPerSecond: 0 }, { writtenBytesPerSecond: 0 }]);
  expect(seen[15]).toMatchObject([{ readBytesPerSecond: 100, writtenBytesPerSecond: 0 }, { writtenBytesPerSecond: 0 }]);
  expect(seen[15]?.[0]?.meanCalls).toBeCloseTo(2, 0);
  expect(seen[29]).toMatchObject([{}, { writtenBytesPerSecond: 5 }]);
  expect(seen[30]).toMatchObject([{}, { writtenBytesPerSecond: 0 }]);
});

it('begins anew with a member, and behind the pass that counts', () => {
  const meter = new DiskMeter();
  const member = (number: number) => ({ number, of: 2, startShare: (number - 1) / 2, endShare: number / 2 });
  const rateOf = (bytesRead: number, atSeconds: number, more: Partial<ShuffleProgress>) =>
    meter.measure(report([disk('a', bytesRead, 0)], more), atSeconds)[0]?.readBytesPerSecond;
  expect(rateOf(0, 0, { phase: 'count' })).toBe(0);
  expect(rateOf(500, 1, { phase: 'count' })).toBe(500);
  expect(rateOf(0, 2, { phase: 'scatter' })).toBe(0);
  expect(rateOf(100, 3, { phase: 'scatter' })).toBe(100);
  expect(rateOf(300, 4, { phase: 'shuffle' })).toBe(150);
  expect(rateOf(0, 5, { member: member(1) })).toBe(0);
  expect(rateOf(70, 6, { member: member(1) })).toBe(70);
  expect(rateOf(10, 7, { member: member(2) })).toBe(0);
});

it('takes a disk that comes later', () => {
  const meter = new DiskMeter();
  meter.measure(report([]), 0);
  expect(meter.measure(report([disk('a', 100, 0)]), 1)).toMatchObject([{ readBytesPerSecond: 0 }]);
});
