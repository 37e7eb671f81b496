/** The percentage and the time left of a whole job, on simulated jobs. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type JobEstimate, JobEstimator, RateMeter } from '#src/cli/progress-meters.js';
import type { JobPhase, MemberProgress, ShuffleProgress } from '#src/index.js';

interface SimulatedPhase {
  readonly phase: JobPhase;
  readonly bytes: number | undefined;
  readonly seconds: number;
  /** What the plan expects before the phase begins; absent: the truth. */
  readonly expectedBytes?: number;
  readonly resumedBytes?: number;
}

interface Seen extends JobEstimate {
  readonly atSeconds: number;
  readonly phase: JobPhase;
}

/** Five events a second. */
function eventsOf(job: readonly SimulatedPhase[], member?: MemberProgress): ShuffleProgress[] {
  return job.flatMap(({ phase, bytes, seconds, resumedBytes = 0 }, place) => {
    const phases = job.map((each, i) => ({
      phase: each.phase,
      bytes: i <= place ? each.bytes : (each.expectedBytes ?? each.bytes),
    }));
    const steps = Math.max(1, Math.round(5 * seconds));
    return Array.from({ length: steps + 1 }, (_, step) => ({
      phase,
      phases,
      member,
      bytesResumed: resumedBytes,
      bytesDone: Math.round(resumedBytes + (((bytes ?? 1e9) - resumedBytes) * step) / steps),
      bytesTotal: phase === 'commit' ? undefined : bytes,
      phaseSeconds: (seconds * step) / steps,
      disks: [],
      memory: undefined,
    }));
  });
}

function follow(events: readonly ShuffleProgress[]): Seen[] {
  const [meter, estimator] = [new RateMeter(), new JobEstimator()];
  let beganAt = 0;
  return events.map((event, i) => {
    const before = events[i - 1];
    if (before !== undefined && before.phase !== event.phase) beganAt += before.phaseSeconds;
    const atSeconds = beganAt + event.phaseSeconds;
    return { atSeconds, phase: event.phase, ...estimator.estimate(meter.measure(event)) };
  });
}

const shuffleOf = (pass1: Partial<SimulatedPhase> = {}, pass2: Partial<SimulatedPhase> = {}): SimulatedPhase[] => [
  { phase: 'scatter', bytes: 1e9, seconds: 40, ...pass1 },
  { phase: 'shuffle', bytes: 1e9, seconds: 40, ...pass2 },
  { phase: 'commit', bytes: 0, seconds: 1 },
];

const lastOf = (seen: readonly Seen[], phase: JobPhase) => seen.findLast((each) => each.phase === phase);
const leftAt = (seen: readonly Seen[], seconds: number) =>
  seen.find(({ atSeconds }) => atSeconds >= seconds)?.jobSecondsLeft;

describe('the time left', () => {
  it('is told from 2 s or 5 % on', () => {
    const told = (job: SimulatedPhase[]) => follow(eventsOf(job)).find((each) => each.jobSecondsLeft !== undefined);
    expect(told(shuffleOf({ seconds: 1000 }))?.atSeconds).toBeCloseTo(2, 0);
    expect(told(shuffleOf({ seconds: 8 }))?.atSeconds).toBeCloseTo(0.4, 5);
  });

  it('comes to the truth in each pass, however different they are', () => {
    const seen = follow(eventsOf(shuffleOf({ seconds: 10 }, { bytes: 4e9, expectedBytes: 3e9, seconds: 90 })));
    expect(leftAt(seen, 50)).toBeCloseTo(50, 0);
    expect(lastOf(seen, 'shuffle')?.jobSecondsLeft).toBe(0);
    expect(lastOf(seen, 'commit')?.jobSecondsLeft).toBeUndefined();
  });

  it('does not count what an earlier attempt did as speed', () => {
    const seen = follow(eventsOf(shuffleOf({ resumedBytes: 9e8, seconds: 4 })));
    expect(leftAt(seen, 1)).toBeUndefined();
    expect(leftAt(seen, 2)).toBeCloseTo(42, 0);
  });

  it('is unknown while the size of a pipe is, and for an output without end', () => {
    const seen = follow(eventsOf(shuffleOf({ bytes: undefined }, { bytes: undefined })));
    expect(seen.filter(({ jobDone, jobSecondsLeft }) => jobDone !== undefined || jobSecondsLeft !== undefined)).toEqual(
      [],
    );
  });

  it('is that of all members of aligned files', () => {
    const member = (number: number, startShare: number, endShare: number) => ({ number, of: 2, startShare, endShare });
    const events = [...eventsOf(shuffleOf(), member(1, 0, 0.25)), ...eventsOf(shuffleOf(), member(2, 0.25, 1))];
    const seen = follow(events);
    expect(leftAt(seen, 20)).toBeCloseTo(60 + 3 * 80, 0);
    expect(seen.at(-1)).toMatchObject({ jobDone: 1, jobSecondsLeft: undefined });
    const done = seen.map(({ jobDone = 0 }) => jobDone);
    expect(done).toEqual(done.toSorted((a, b) => a - b));
  });
});

it('the percentage never falls, and is 100 at the end of any job', () => {
  const phases = fc.tuple(
    ...(['count', 'scatter', 'measure', 'shuffle'] as const).map((phase) =>
      fc.record({
        phase: fc.constant(phase),
        bytes: fc.nat(1e12),
        expectedBytes: fc.nat(1e12),
        seconds: fc.integer({ min: 0, max: 20 }),
      }),
    ),
  );
  fc.assert(
    fc.property(phases, (each) => {
      const done = follow(eventsOf([...each, { phase: 'commit', bytes: 0, seconds: 1 }])).map(({ jobDone }) => jobDone);
      expect(done).toEqual(done.toSorted((a = 0, b = 0) => a - b));
      expect(done.at(-1)).toBe(1);
    }),
  );
});
