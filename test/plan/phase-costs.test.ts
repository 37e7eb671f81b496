/** What the phases of a job cost in relation to each other. */
import { describe, expect, it } from 'vitest';
import type { TimedJob } from '#src/plan/expected-time.js';
import { costsOfPass1, costsOfPass2, costsOfShuffle, type JobPhase, type PhaseCost } from '#src/plan/phase-costs.js';
import { TIMED_JOB as job } from '../fixtures/timed-job.js';

const GB = 1e9;

function costOf(phase: JobPhase, phases: readonly PhaseCost[]): number {
  return phases.find((each) => each.phase === phase)?.cost ?? Number.NaN;
}

/** The cost of pass 2 over that of pass 1. */
function relation(change: Partial<TimedJob> = {}): number {
  const costs = costsOfShuffle({ ...job, ...change }, true);
  return costOf('shuffle', costs) / costOf('scatter', costs);
}

describe('a shuffle', () => {
  it('costs about the same in both passes, and little in the commit', () => {
    expect(relation()).toBeGreaterThan(0.8);
    expect(relation()).toBeLessThan(1.3);
    const costs = costsOfShuffle(job, true);
    expect(costOf('commit', costs)).toBeLessThan(costOf('shuffle', costs) / 5);
    expect(costOf('commit', costsOfShuffle(job, false))).toBe(0);
  });

  it.each<[string, Partial<TimedJob>, number, number]>([
    ['another level', { levels: 2 }, 1.6, 3],
    ['decoding', { decodeSeconds: 50 }, 0.2, 0.8],
    ['one input that cannot be cut', { decodeSeconds: 50, tasks: 1, longestTaskShare: 1 }, 0.02, 0.3],
    ['encoding', { encodeSeconds: 60 }, 1.4, 6],
    [
      'a small part of the records',
      { pileBytes: GB, pileRecords: 1e7, tempBytes: GB, outputBytes: GB, outputRecords: 1e7, writtenBytes: GB },
      0.05,
      0.6,
    ],
  ])('with %s costs otherwise', (_, change, least, most) => {
    expect(relation(change)).toBeGreaterThan(least);
    expect(relation(change)).toBeLessThan(most);
  });

  it('has phases for what is counted, measured and drawn', () => {
    const phases = costsOfShuffle({ ...job, isCounted: true, between: ['measure', 'draw'], levels: 2 }, true);
    expect(phases.map(({ phase }) => phase)).toEqual(['count', 'scatter', 'measure', 'draw', 'shuffle', 'commit']);
    for (const { cost } of phases) expect(cost).toBeGreaterThan(0);
    expect(costOf('draw', phases)).toBeGreaterThan(costOf('measure', phases));
  });
});

it('a job without a pass does not pay for it', () => {
  const [whole, pass1, pass2] = [costsOfShuffle(job, true), costsOfPass1(job, GB), costsOfPass2(job, true)];
  expect(pass1.map(({ phase }) => phase)).toEqual(['scatter', 'commit']);
  expect(costOf('scatter', pass1)).toBe(costOf('scatter', whole));
  expect(pass2.map(({ phase }) => phase)).toEqual(['scatter', 'shuffle', 'commit']);
  expect(costOf('scatter', pass2)).toBe(0);
  expect(costOf('shuffle', pass2)).toBe(costOf('shuffle', whole));
});
