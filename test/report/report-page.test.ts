/** What the page of a report counts and says. */
import { describe, expect, it } from 'vitest';
import { PHASES } from '#src/floor/phase-clock.js';
import { linearScale, speedsOf, throughputChart } from '#src/report/charts.js';
import { budgetText, percentText, secondsFormat } from '#src/report/format-text.js';
import { workShares } from '#src/report/report-summary.js';
import { noteWritten, takeWrittenRecords } from '#workers/piles/written-ranks.js';

describe('a chart', () => {
  it('is one picture: its parts have no labels', () => {
    const moments = [0, 1].map((seconds) => ({ seconds, readBytes: 0, writtenBytes: 0, traffic: [] }));
    const seconds = { prepare: 0, pass1: 1, between: 0, pass2: 1, commit: 0, release: 0 };
    const chart = throughputChart(moments, { seconds } as never);
    expect(chart.match(/aria-label/g)).toHaveLength(1);
    expect(chart).toMatch(/^<svg role="img"[^>]* aria-label="Megabytes a second/);
  });

  it('of speeds has no peak where the last moment came at once', () => {
    const at = (seconds: number, bytes: number) => ({ seconds, readBytes: bytes, writtenBytes: 0 });
    const speeds = speedsOf([at(0, 0), at(1, 1e6), at(2, 2e6), at(2.001, 3e6)]);
    expect(speeds.map(({ seconds }) => seconds)).toEqual([0, 1, 2.001]);
    expect(Math.max(...speeds.map(({ read }) => read))).toBeLessThan(2);
    expect(speedsOf([])).toEqual([]);
  });
});

describe('ticks', () => {
  it.each([
    [0, 100, ['0', '20', '40', '60', '80', '100']],
    [0, 0.37, ['0', '0.1', '0.2', '0.3']],
    [-0.5, 4.5, ['0', '1', '2', '3', '4']],
    [1090, 1113, ['1,090', '1,095', '1,100', '1,105', '1,110']],
    [7, 7, ['7']],
  ])('from %d to %d are round', (lowest, highest, expected) => {
    expect(linearScale('', [lowest, highest], [0, 500]).ticks.map(({ text }) => text)).toEqual(expected);
  });
});

describe('numbers', () => {
  it('of memory are as -S takes them, where that is short', () => {
    expect([2 ** 26, 1000, 0, 2 ** 30 + 2 ** 10].map(budgetText)).toEqual([
      '64M (67.1 MB)',
      '1.00 kB',
      '0 B',
      '1.07 GB',
    ]);
  });

  it('of one column have the same digits', () => {
    expect([0.0004, 1.5].map(secondsFormat([0.0004, 1.5]))).toEqual(['0.000 s', '1.500 s']);
    expect([0, 0.06, 1].map(percentText)).toEqual(['0.0 %', '6.0 %', '100.0 %']);
  });

  it('of the time of workers add up', () => {
    const pass = { read: 1, scatter: 2, idle: 1, other: 4 };
    expect(workShares({ pass1: pass, pass2: pass } as never)).toEqual({
      computing: 0.25,
      moving: 0.125,
      waiting: 0.125,
    });
    const all = Object.fromEntries([...PHASES, 'idle'].map((phase) => [phase, phase === 'other' ? 0 : 1]));
    const { computing, moving, waiting } = workShares({ pass1: all, pass2: all } as never);
    expect(computing + moving + waiting).toBeCloseTo(1);
  });
});

describe('the place of a written record', () => {
  it('is that among what the output has of its pile', () => {
    const keys = [2n, 5n, 9n];
    noteWritten(BigUint64Array.of(5n, 7n, 9n), { keyAt: (at) => keys[at] ?? 0n }, 3, { pile: 4, index: 10 });
    expect(takeWrittenRecords()).toEqual([
      { key: 5n, pile: 4, index: 11, nextKey: 9n },
      { key: 9n, pile: 4, index: 12, nextKey: undefined },
    ]);
  });
});
