/**
 * How long a job is expected to take, as a range: its best case is a machine that has nothing else to do and a page cache
 * with what the samples found there, its worst case is all data from the disks and a machine as busy as now.
 */
import type { DeviceClass } from '../machine/disks.js';
import {
  type Circumstances,
  expectPasses,
  startSeconds,
  type TimedDevice,
  type TimedJob,
} from '../plan/expected-time.js';
import type { PreviewedTime } from './preview-report.js';
import type { Slowness } from './probe-work.js';

/** A device of the job with what is known of it. */
export interface KnownDevice {
  readonly name: string;
  readonly deviceClass: DeviceClass;
  readonly inputShare: number;
  readonly tempShare: number;
  readonly outputShare: number;
  readonly readBytesPerSecond: number | undefined;
  readonly writeBytesPerSecond: number | undefined;
  readonly cachedShare: number | undefined;
}

const MB = 1e6;
/** What disks of a kind usually do: in the worst case and in the best, in bytes a second. */
const USUAL_SPEEDS: Readonly<Record<DeviceClass, readonly [number, number]>> = {
  rotating: [80 * MB, 250 * MB],
  'solid-state': [400 * MB, 5000 * MB],
  virtual: [100 * MB, 2500 * MB],
  network: [50 * MB, 2000 * MB],
  unknown: [80 * MB, 2500 * MB],
  memory: [1500 * MB, 10_000 * MB],
};
const SEEK_SECONDS = 0.008;
/** A measured speed, for the length of a job. */
const SPEED_MARGIN = 1.5;
/** The model itself errs by so much (docs/SCALE-MODEL.md). */
const MODEL_MARGIN = { best: 0.65, worst: 1.4 };
/** Where nothing was measured. */
const UNPROBED: Slowness = { alone: 0.5, now: 3 };
/** The kernel scatters samples that stay in the cache of a core; the records of a job do not, except in the best case. */
const OUT_OF_CACHE = 1.25;
/** The part of free memory that temp data may take before the system writes it to its disk. */
const CACHED_MEMORY_SHARE = 0.3;

export interface TimedMachine {
  readonly slowness: Slowness | undefined;
  /** For the page cache, beside the budget of the job. */
  readonly freeMemoryBytes: number;
}

export function expectTime(
  job: TimedJob,
  devices: readonly KnownDevice[],
  { slowness, freeMemoryBytes }: TimedMachine,
): PreviewedTime {
  const { alone, now } = slowness ?? UNPROBED;
  const mayStay = job.tempBytes === 0 ? 1 : Math.min(1, (freeMemoryBytes * CACHED_MEMORY_SHARE) / job.tempBytes);
  const cachedInputs = devices.reduce((sum, device) => sum + device.inputShare * (device.cachedShare ?? 0), 0);
  const measured = slowness !== undefined;
  const best: Circumstances = {
    slowness: alone,
    cachedInputShare: measured ? cachedInputs : 1,
    cachedTempShare: mayStay,
  };
  const worst: Circumstances = { slowness: now * OUT_OF_CACHE, cachedInputShare: 0, cachedTempShare: 0 };
  const likely: Circumstances = {
    slowness: Math.sqrt(best.slowness * worst.slowness),
    cachedInputShare: cachedInputs,
    cachedTempShare: mayStay / 2,
  };
  const passesIn = (circumstances: Circumstances, place: number) =>
    expectPasses(job, devices.map(timedAt(place)), circumstances);
  const [fast, slow, usual] = [passesIn(best, 1), passesIn(worst, 0), passesIn(likely, 0.5)];
  const passes = usual.map(({ name, limit, device }, i) => ({
    name,
    seconds: {
      least: MODEL_MARGIN.best * (fast[i]?.seconds ?? 0),
      most: MODEL_MARGIN.worst * (slow[i]?.seconds ?? 0),
    },
    limit,
    device,
  }));
  const sum = (of: 'least' | 'most') => passes.reduce((all, { seconds }) => all + seconds[of], 0);
  return {
    isProbed: measured,
    total: {
      least: sum('least') + MODEL_MARGIN.best * startSeconds(best),
      most: sum('most') + MODEL_MARGIN.worst * startSeconds(worst),
    },
    passes,
  };
}

/** @param place from 0, the worst case, to 1, the best. */
function timedAt(place: number) {
  return (device: KnownDevice): TimedDevice => {
    const { name, deviceClass, inputShare, tempShare, outputShare } = device;
    const speed = (measured: number | undefined) => {
      const [slow, fast] =
        measured === undefined ? USUAL_SPEEDS[deviceClass] : [measured / SPEED_MARGIN, measured * SPEED_MARGIN];
      return slow * (fast / slow) ** place;
    };
    return {
      ...{ name, inputShare, tempShare, outputShare },
      readBytesPerSecond: speed(device.readBytesPerSecond),
      writeBytesPerSecond: speed(device.writeBytesPerSecond),
      seekSeconds: deviceClass === 'rotating' ? SEEK_SECONDS : 0,
    };
  };
}
