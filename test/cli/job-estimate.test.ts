/**
 * The estimate of a whole job, on simulated jobs and on the events of real ones (recorded-progress.json: 0.2 to 4 GB
 * of text on 2 cores, which other work kept busy: 11 to 32 processes wanted to run).
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { estimateJob, JobEstimator } from '#src/cli/job-estimate.js';
import { RateMeter } from '#src/cli/progress-rate.js';
import type { JobPhase, ShuffleProgress } from '#src/index.js';

/** What an estimate does not look at. */
const REST = { disks: [], memory: { residentBytes: 0, budgetBytes: undefined } } as const;
const PHASES: readonly JobPhase[] = ['scatter', 'shuffle', 'commit'];

interface SimulatedJob {
  /** Of each phase. */
  readonly seconds: readonly number[];
  /** Undefined: unknown. */
  readonly costs: readonly (number | undefined)[];
  /** What an earlier attempt did of pass 1, from 0 to 1. */
  readonly resumed?: number;
}

function costList(costs: readonly (number | undefined | null)[]): ShuffleProgress['phases'] {
  return PHASES.map((phase, i) => ({ phase, cost: costs[i] ?? undefined }));
}

/** Five events a second. */
function eventsOf({ seconds, costs, resumed = 0 }: SimulatedJob): ShuffleProgress[] {
  const phases = costList(costs);
  return PHASES.flatMap((phase, i) => {
    const whole = seconds[i] ?? 0;
    const bytesResumed = phase === 'scatter' ? resumed * 1e9 : 0;
    const bytesTotal = phase === 'commit' || costs[i] === undefined ? undefined : 1e9;
    const count = Math.max(1, Math.round(whole * 5));
    return Array.from({ length: count + 1 }, (_, step) => ({
      phase,
      bytesDone: phase === 'commit' ? 0 : bytesResumed + ((1e9 - bytesResumed) * step) / count,
      bytesResumed,
      bytesTotal,
      phaseSeconds: (whole * step) / count,
      phases,
      ...REST,
    }));
  });
}

interface Seen {
  /** Seconds since the job began. */
  readonly at: number;
  readonly phase: JobPhase;
  readonly jobDone: number | undefined;
  readonly left: number | undefined;
  /** Of the phase alone. */
  readonly phaseLeft: number | undefined;
}

function follow(events: readonly ShuffleProgress[]): Seen[] {
  const meter = new RateMeter();
  const estimator = new JobEstimator();
  let began = 0;
  let last: ShuffleProgress | undefined;
  return events.map((event) => {
    if (last !== undefined && last.phase !== event.phase) began += last.phaseSeconds;
    last = event;
    const measured = meter.measure(event);
    const { jobDone, jobSecondsLeft } = estimator.estimate(measured);
    const at = began + event.phaseSeconds;
    return { at, phase: event.phase, jobDone, left: jobSecondsLeft, phaseLeft: measured.secondsLeft };
  });
}

/** How often the estimate holds the real time left, or the other way round. */
function errorOf(left: number | undefined, real: number): number {
  if (left === undefined || left <= 0) return Number.POSITIVE_INFINITY;
  return Math.max(left / real, real / left);
}

function seenAt(seen: readonly Seen[], seconds: number): Seen {
  const found = seen.find(({ at }) => at >= seconds);
  if (found === undefined) throw new RangeError(`no event at ${seconds} s`);
  return found;
}

/** The largest step of the expected end of the job when pass 2 begins and runs for a tenth. */
function jumpAtPass2(seen: readonly Seen[], pass1: number, pass2: number): number {
  const around = seen.filter(({ at }) => at >= pass1 * 0.95 && at <= pass1 + pass2 * 0.1);
  const ends = around.map(({ at, left }) => at + (left ?? Number.NaN));
  const steps = ends.slice(1).map((end, i) => Math.abs(end / (ends[i] ?? Number.NaN) - 1));
  return Math.max(...steps);
}

describe('the time left', () => {
  it('is that of the whole job, where the time left of a pass was told before', () => {
    const seen = follow(eventsOf({ seconds: [8, 9, 1], costs: [2, 2, 0.3] }));
    const { left, phaseLeft } = seenAt(seen, 18 * 0.4);
    expect(phaseLeft).toBeLessThan(1);
    expect(errorOf(left, 18 * 0.6)).toBeLessThan(1.3);
  });

  it.each([
    [
      [10, 10, 1],
      [2, 2, 0.3],
    ],
    // Passes that cost three times more or less than expected.
    [
      [6, 18, 1],
      [2, 2, 0.3],
    ],
    [
      [18, 6, 1],
      [2, 2, 0.3],
    ],
    [
      [15, 150, 3],
      [6, 20, 0.3],
    ],
    [
      [2, 40, 0],
      [2, 22, 0],
    ],
  ])(
    'of phases of %j seconds, expected to cost %j, is right within a factor of 3 from a fifth on',
    (seconds, costs) => {
      const whole = seconds.reduce((sum, each) => sum + each, 0);
      const seen = follow(eventsOf({ seconds, costs }));
      let worst = 0;
      for (const { at, phase, left } of seen) {
        if (at < whole / 5 || phase === 'commit' || whole - at < 1) continue;
        worst = Math.max(worst, errorOf(left, whole - at));
      }
      expect(worst).toBeLessThan(3);
      const [pass1 = 0, pass2 = 0] = seconds;
      expect(jumpAtPass2(seen, pass1, pass2)).toBeLessThan(0.25);
    },
  );

  it('counts only the work of this attempt when a job is resumed', () => {
    const seen = follow(eventsOf({ seconds: [2, 10, 1], costs: [2, 2, 0.3], resumed: 0.8 }));
    const { left, jobDone } = seenAt(seen, 1);
    expect(errorOf(left, 12)).toBeLessThan(1.2);
    // Nine tenths of pass 1 are done, which is half of the job.
    expect(jobDone).toBeCloseTo(0.42, 1);
  });

  it('is unknown while the size of the inputs is, and known in pass 2', () => {
    const events = eventsOf({ seconds: [10, 10, 1], costs: [undefined, undefined, undefined] });
    const known = costList([2, 2, 0.3]);
    const seen = follow(
      events.map((event) =>
        event.phase === 'scatter'
          ? event
          : { ...event, bytesTotal: event.phase === 'shuffle' ? 1e9 : undefined, phases: known },
      ),
    );
    expect(seenAt(seen, 5)).toMatchObject({ jobDone: undefined, left: undefined });
    expect(errorOf(seenAt(seen, 12).left, 9)).toBeLessThan(1.3);
    expect(seenAt(seen, 15).jobDone).toBeCloseTo(15 / 21, 1);
  });

  it('is not told while a commit takes longer than expected', () => {
    const seen = follow(eventsOf({ seconds: [1, 1, 60], costs: [2, 2, 0.3] }));
    expect(seenAt(seen, 2).left).toBeGreaterThan(0);
    expect(seenAt(seen, 30).left).toBe(undefined);
  });

  it('is unknown in the first moment, and for an empty job', () => {
    const now = {
      phase: 'scatter',
      bytesDone: 0,
      bytesResumed: 0,
      phaseSeconds: 0,
      bytesPerSecond: 0,
      ...REST,
    } as const;
    const unknown = { jobDone: undefined, jobSecondsLeft: undefined };
    const measured = {
      ...now,
      meanBytesPerSecond: 0,
      startSeconds: 0,
      secondsLeft: undefined,
      phases: costList([2, 2, 0.3]),
    };
    expect(estimateJob([], { ...measured, bytesTotal: 1000 })).toEqual(unknown);
    expect(estimateJob([], { ...measured, bytesTotal: 0, phases: costList([0, 0, 0]) })).toEqual(unknown);
  });
});

it('the done part never falls, and reaches nearly all', () => {
  const seen = follow(eventsOf({ seconds: [18, 6, 1], costs: [2, 2, 0.3] }));
  const parts = seen.flatMap(({ jobDone }) => jobDone ?? []);
  expect(parts).toEqual(parts.toSorted((a, b) => a - b));
  expect(parts[0]).toBeLessThan(0.05);
  expect(parts.at(-1)).toBeGreaterThan(0.95);
  expect(parts.at(-1)).toBeLessThanOrEqual(1);
});

interface Recorded {
  readonly title: string;
  readonly seconds: readonly [number, number, number];
  readonly expectedCosts: readonly number[];
  readonly knownCosts: readonly number[];
  readonly events: readonly [JobPhase, number, number | null, number][];
}

const recorded: Recorded[] = JSON.parse(readFileSync(new URL('recorded-progress.json', import.meta.url), 'utf8'));

function wholeOf({ seconds: [pass1, pass2, commit] }: Recorded): number {
  return pass1 + pass2 + commit;
}

function seenOf({ expectedCosts, knownCosts, events }: Recorded): Seen[] {
  return follow(
    events.map(([phase, bytesDone, bytesTotal, phaseSeconds]) => ({
      phase,
      bytesDone,
      bytesResumed: 0,
      bytesTotal: bytesTotal ?? undefined,
      phaseSeconds,
      phases: costList(phase === 'scatter' ? expectedCosts : knownCosts),
      ...REST,
    })),
  );
}

describe.each(recorded)('a real job with $title', (job) => {
  const whole = wholeOf(job);
  const seen = seenOf(job);

  it('has a time left that is right within a factor of 3.5 from a fifth to nine tenths', () => {
    const told = seen.filter(({ at }) => at > whole * 0.2 && at < whole * 0.9);
    for (const { at, left } of told) expect(errorOf(left, whole - at), `after ${at} s`).toBeLessThan(3.5);
    expect(told.length).toBeGreaterThan(10);
  });

  it('has a done part within three tenths of the real one', () => {
    for (const { at, jobDone } of seen) {
      if (jobDone !== undefined) expect(Math.abs(jobDone - at / whole), `after ${at} s`).toBeLessThan(0.3);
    }
  });
});

it('after a fifth, the expected end is within a fifth of the real one for half of the real jobs', () => {
  const errors = recorded.map((job) => {
    const whole = wholeOf(job);
    const { at, left = Number.POSITIVE_INFINITY } = seenAt(seenOf(job), whole / 5);
    return Math.abs((at + left) / whole - 1);
  });
  expect(errors.length).toBeGreaterThan(30);
  expect(errors.filter((error) => error < 0.2).length).toBeGreaterThan(errors.length / 2);
  expect(Math.max(...errors)).toBeLessThan(0.9);
});

it.each([
  [10, 10, 0.5],
  [3600, 3600, 180],
])('after a fifth of a job of steady phases of %d, %d and %d s, the expected end is that of the job', (...seconds) => {
  const whole = seconds.reduce((sum, each) => sum + each, 0);
  const { at, left = Number.NaN } = seenAt(follow(eventsOf({ seconds, costs: [2, 2, 0.1] })), whole / 5);
  expect((at + left) / whole).toBeGreaterThan(0.95);
  expect((at + left) / whole).toBeLessThan(1.05);
});

it('a disk that writes in bursts does not move the time left of an hour', () => {
  const [seconds, burstSeconds] = [3600, 20];
  const phases = costList([2, 0, 0]);
  const steps = Array.from({ length: seconds }, (_, at) => Math.floor(at / burstSeconds) % 2);
  let bytesDone = 0;
  const events = steps.map((isBurst, at) => {
    bytesDone += 1e6 * (isBurst === 1 ? 1.9 : 0.1);
    return { phase: 'scatter' as const, bytesDone, bytesResumed: 0, bytesTotal: 3.6e9, phaseSeconds: at + 1, phases };
  });
  for (const { at, left } of follow(events.map((event) => ({ ...event, ...REST })))) {
    if (at < seconds / 5 || at > 0.9 * seconds) continue;
    expect(errorOf(left, seconds - at), `after ${at} s`).toBeLessThan(1.2);
  }
});

it('the time in which threads start is no work', () => {
  const events = eventsOf({ seconds: [10, 10, 0], costs: [2, 2, 0] });
  const late = events.map((event) =>
    event.phase === 'scatter' ? { ...event, phaseSeconds: event.phaseSeconds + (event.bytesDone > 0 ? 3 : 0) } : event,
  );
  const [first, ...rest] = late;
  const waits = [0.5, 1, 2, 3].map((phaseSeconds) => ({ ...first, phaseSeconds }) as ShuffleProgress);
  const { at, left } = seenAt(follow([...waits, ...rest]), 5);
  expect(at + (left ?? 0)).toBeCloseTo(23, 0);
});

it('begins anew with each member of aligned files', () => {
  const estimator = new JobEstimator();
  const at = (number: number, bytesDone: number) =>
    estimator.estimate({
      phase: 'shuffle',
      bytesDone,
      bytesResumed: 0,
      bytesTotal: 100,
      phaseSeconds: bytesDone / 10,
      phases: [{ phase: 'shuffle', cost: 1 }],
      bytesPerSecond: 10,
      meanBytesPerSecond: 10,
      startSeconds: 0,
      ...REST,
      secondsLeft: (100 - bytesDone) / 10,
      member: { number, of: 2 },
    }).jobDone;
  expect(at(1, 90)).toBeGreaterThan(0.8);
  expect(at(1, 10)).toBeGreaterThan(0.8);
  expect(at(2, 10)).toBeLessThan(0.5);
});

it('of phases that come again the last time counts', () => {
  const phases = (['draw', 'shuffle'] as const).map((phase) => ({ phase, cost: 1 }));
  const leftAfter = (...seconds: readonly number[]) => {
    const estimator = new JobEstimator();
    const at = (phase: JobPhase, bytesDone: number, phaseSeconds: number) =>
      estimator.estimate({
        ...{ phase, phases, bytesDone, phaseSeconds, bytesResumed: 0, bytesTotal: 100, bytesPerSecond: 0, ...REST },
        ...{ meanBytesPerSecond: 0, startSeconds: 0, secondsLeft: undefined },
      }).jobSecondsLeft;
    for (const [i, each] of seconds.entries()) at(i % 2 === 0 ? 'draw' : 'shuffle', 100, each);
    return at('shuffle', 0, 0);
  };
  expect(leftAfter(4)).toBe(4);
  expect(leftAfter(90, 2, 4)).toBe(3);
});
