/** The cost model: the fit finds the costs behind the figures, and predictions change in the right direction. */
import { describe, expect, it } from 'vitest';
import { type Costs, type Machine, predict } from '../../bench/model/cost-model.mjs';
import { fitCosts, type MeasuredJob } from '../../bench/model/fit.mjs';
import { type PlannedJob, planJob } from '../../bench/model/planned-job.mjs';

const GB = 1e9;
const MIB = 2 ** 20;

const costs: Costs = {
  startSeconds: 0.25,
  phases: [
    { pass: 1, phase: 'scan', perByte: 1e-10, perRecord: 1e-9 },
    { pass: 1, phase: 'scatter', perByte: 3e-10, perRecord: 25e-9 },
    { pass: 1, phase: 'hash', perByte: 2e-10, perRecord: 2e-9 },
    { pass: 1, phase: 'other', perByte: 1e-10, perRecord: 0 },
    { pass: 2, phase: 'sort', perByte: 0, perRecord: 25e-9 },
    { pass: 2, phase: 'gather', perByte: 2e-10, perRecord: 20e-9 },
    { pass: 2, phase: 'hash', perByte: 1e-10, perRecord: 1e-9 },
    { pass: 2, phase: 'other', perByte: 2e-10, perRecord: 3e-9 },
  ],
  perMovedByte: 2e-10,
  perSegment: 12e-6,
  overlap: 2,
};

const machine: Machine = {
  disks: { count: 1, readBytesPerSecond: 2e9, writeBytesPerSecond: 1.2e9, seekSeconds: 0, callSeconds: 0 },
  cachedTempBytes: 5e9,
  memoryBytesPerSecond: Number.POSITIVE_INFINITY,
};

function jobOf(bytes: number, recordBytes: number, budgetBytes: number, workers = 2): PlannedJob {
  const rest = { tempDisks: 1, rotates: false, openFileLimit: 2 ** 20 };
  return planJob({ bytes, records: bytes / recordBytes, budgetBytes, workers, ...rest });
}

/** What would be measured of a job, were the model true. */
function measured(job: PlannedJob): MeasuredJob {
  const { seconds, passes } = predict(costs, job, machine);
  const phasesOf = (pass: 1 | 2) =>
    Object.fromEntries(
      costs.phases
        .filter((phase) => phase.pass === pass)
        .map(({ phase, perByte, perRecord }) => [phase, perByte * job.bytes + perRecord * job.records]),
    );
  const [pass1, pass2] = [phasesOf(1), phasesOf(2)];
  const computed = [...Object.values(pass1), ...Object.values(pass2)].reduce((sum, each) => sum + each, 0);
  const moved = 2 * (job.bytes + job.storedBytes);
  return {
    name: '',
    job,
    machine,
    wallSeconds: seconds,
    userSeconds: computed + 0.18,
    sysSeconds: moved * costs.perMovedByte + job.segments * costs.perSegment + 0.04,
    steps: { start: 0.25, pass1: passes[0]?.seconds ?? 0, pass2: passes[1]?.seconds ?? 0 },
    pass1,
    pass2,
  };
}

describe('fitCosts', () => {
  const jobs = [
    jobOf(2 * GB, 105, 256 * MIB),
    jobOf(2 * GB, 2500, 256 * MIB),
    jobOf(1 * GB, 8, 256 * MIB),
    jobOf(2 * GB, 105, 24 * MIB),
  ];

  it('finds the costs that made the figures', () => {
    const fitted = fitCosts(jobs.map(measured));
    expect(fitted.overlap).toBe(costs.overlap);
    expect(fitted.startSeconds).toBeCloseTo(costs.startSeconds);
    expect(fitted.perMovedByte).toBeCloseTo(costs.perMovedByte, 12);
    expect(fitted.perSegment).toBeCloseTo(costs.perSegment, 8);
    for (const [i, { phase, perByte, perRecord }] of costs.phases.entries()) {
      expect(fitted.phases[i]?.phase).toBe(phase);
      expect(fitted.phases[i]?.perByte).toBeCloseTo(perByte, 12);
      expect(fitted.phases[i]?.perRecord).toBeCloseTo(perRecord, 11);
    }
  });

  it('finds them also where other work took the cores for half of the time, but for the elapsed times', () => {
    const twice = (seconds: Record<string, number>) =>
      Object.fromEntries(Object.entries(seconds).map(([phase, each]) => [phase, 2 * each]));
    const disturbed = jobs.map(measured).map((job) => ({
      ...job,
      wallSeconds: 2 * job.wallSeconds,
      steps: twice(job.steps),
      pass1: twice(job.pass1),
      pass2: twice(job.pass2),
    }));
    const fitted = fitCosts(disturbed);
    expect(fitted.phases[1]?.perRecord).toBeCloseTo(25e-9, 11);
    expect(fitted).toMatchObject({ overlap: 2, startSeconds: 0.25 });
  });
});

describe('predict', () => {
  const seconds = (job: PlannedJob, disks: Partial<Machine['disks']> = {}) =>
    predict(costs, job, { ...machine, cachedTempBytes: 0, disks: { ...machine.disks, ...disks } }).seconds;
  const job = jobOf(100 * GB, 105, 1024 * MIB, 8);

  it('takes less with more or faster disks, and with more workers', () => {
    expect(seconds(job, { count: 4 })).toBeLessThan(seconds(job));
    expect(seconds(job, { readBytesPerSecond: 4e9 })).toBeLessThan(seconds(job));
    expect(seconds(job)).toBeLessThan(seconds(jobOf(100 * GB, 105, 1024 * MIB, 4)));
  });

  it('takes more for seeks, for short records, for a level more, and twice as long for twice the data', () => {
    expect(seconds(job, { seekSeconds: 0.008 })).toBeGreaterThan(seconds(job));
    expect(seconds(jobOf(100 * GB, 8, 1024 * MIB, 8))).toBeGreaterThan(seconds(job));
    const little = jobOf(100 * GB, 105, 128 * MIB, 8);
    expect([job.levels, little.levels]).toEqual([1, 2]);
    expect(seconds(little)).toBeGreaterThan(1.4 * seconds(job));
    expect(seconds(jobOf(200 * GB, 105, 1024 * MIB, 8)) / seconds(job)).toBeCloseTo(2, 1);
  });

  it('is never below what the disks alone take', () => {
    expect(seconds(job)).toBeGreaterThan((2 * (100 * GB)) / 2e9 + (2 * (100 * GB)) / 1.2e9);
  });
});
