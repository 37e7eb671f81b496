/** The model of the time: what limits a pass, and how sizes change it. */
import { describe, expect, it } from 'vitest';
import { expectPasses, type TimedDevice, type TimedJob } from '#src/plan/expected-time.js';
import { TIMED_JOB as job } from '../fixtures/timed-job.js';

const GB = 1e9;
const disk: TimedDevice = {
  name: 'disk',
  inputShare: 1,
  tempShare: 1,
  outputShare: 1,
  readBytesPerSecond: 1 * GB,
  writeBytesPerSecond: 0.5 * GB,
  seekSeconds: 0,
};
const fast = { ...disk, readBytesPerSecond: 100 * GB, writeBytesPerSecond: 100 * GB };
const cold = { slowness: 1, cachedInputShare: 0, cachedTempShare: 0 };

const passesOf = (change: Partial<TimedJob> = {}, devices = [disk], circumstances = cold) =>
  expectPasses({ ...job, ...change }, devices, circumstances);
const secondsOf = (...given: Parameters<typeof passesOf>) =>
  passesOf(...given).reduce((sum, { seconds }) => sum + seconds, 0);

describe('a pass', () => {
  it('is limited by a slow disk, by its bytes over its speed', () => {
    const [pass1, pass2] = passesOf();
    expect(pass1).toMatchObject({ name: 'pass 1', limit: 'disk', device: 'disk' });
    expect(pass2).toMatchObject({ name: 'pass 2', limit: 'disk', device: 'disk' });
    const bytesOverSpeed = 10 + 11.2 / 0.5;
    expect(pass1?.seconds).toBeGreaterThan(bytesOverSpeed);
    expect(pass1?.seconds).toBeLessThan(1.1 * bytesOverSpeed);
  });

  it('is limited by the cores where disks are fast, and by one core where one task has most', () => {
    expect(passesOf({}, [fast]).map(({ limit }) => limit)).toEqual(['cores', 'cores']);
    const long = passesOf({ longestTaskShare: 0.9 }, [fast]);
    expect(long.map(({ limit }) => limit)).toEqual(['one core', 'cores']);
    expect(long[0]?.seconds).toBeGreaterThan(5 * (passesOf({}, [fast])[0]?.seconds ?? 0));
  });

  it('waits for the slowest of several disks', () => {
    const halves = [
      { ...disk, tempShare: 0.5 },
      { ...disk, name: 'slow', inputShare: 0, tempShare: 0.5, outputShare: 0, writeBytesPerSecond: 0.05 * GB },
    ];
    expect(passesOf({}, halves)[0]).toMatchObject({ limit: 'disk', device: 'slow' });
  });

  it('is there for counting, for further levels, and for what is measured between the passes', () => {
    const names = (change: Partial<TimedJob>) => passesOf(change).map(({ name }) => name);
    expect(names({ isCounted: true })).toEqual(['count', 'pass 1', 'pass 2']);
    expect(names({ levels: 3 })).toEqual(['pass 1', 'further levels', 'pass 2']);
    expect(names({ between: ['measure'] })).toEqual(['pass 1', 'measure', 'pass 2']);
    expect(names({ between: ['measure', 'draw'] })).toEqual(['pass 1', 'measure', 'draw', 'pass 2']);
  });
});

describe('the time', () => {
  it.each([
    ['more data', { inputBytes: 20 * GB, readBytes: 20 * GB, pileBytes: 20 * GB, tempBytes: 22 * GB }],
    ['another level', { levels: 2 }],
    ['more temp data', { tempBytes: 20 * GB }],
    ['smaller records', { readRecords: 1e9, pileRecords: 1e9, outputRecords: 1e9 }],
    ['decoding', { decodeSeconds: 400 }],
    ['encoding', { encodeSeconds: 400 }],
    ['more inputs', { inputFiles: 1e6 }],
    ['more outputs', { outputFiles: 1e5 }],
    ['fewer threads', { threads: 1 }],
  ] as const)('grows with %s', (_, change) => {
    expect(secondsOf(change)).toBeGreaterThan(1.02 * secondsOf());
  });

  it('grows with comparing, where the disks are fast', () => {
    expect(secondsOf({ isCompared: true }, [fast])).toBeGreaterThan(1.05 * secondsOf({}, [fast]));
  });

  it('shrinks with the page cache, a faster processor, and work that is done', () => {
    const whole = secondsOf();
    expect(secondsOf({}, [disk], { ...cold, cachedInputShare: 1 })).toBeLessThan(whole - 5);
    expect(secondsOf({}, [disk], { ...cold, cachedTempShare: 1 })).toBeLessThan(whole - 20);
    expect(secondsOf({}, [fast], { ...cold, slowness: 0.5 })).toBeLessThan(0.6 * secondsOf({}, [fast]));
    expect(secondsOf({ shareLeft: { pass1: 0, pass2: 0.5 } })).toBeCloseTo((passesOf()[1]?.seconds ?? 0) / 2, 0);
  });

  it('of a rotating disk has a seek for each segment', () => {
    const rotating = { ...disk, seekSeconds: 0.008 };
    const more = secondsOf({}, [rotating]) - secondsOf();
    expect(more).toBeGreaterThan(0.8 * 22_000 * 0.008);
  });

  it('is a number for a job of nothing', () => {
    const nothing = Object.fromEntries(
      Object.entries(job).map(([name, value]) => [name, typeof value === 'number' ? 0 : value]),
    );
    const empty = { ...job, ...nothing, levels: 1, threads: 1, tasks: 1 };
    const times = expectPasses(empty, [disk], cold).map(({ seconds }) => seconds);
    expect(Math.max(...times)).toBeLessThan(0.1);
    expect(Math.min(...times)).toBeGreaterThan(0);
  });
});
