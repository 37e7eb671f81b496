/** Figures and their bounds: in rounds, a byte, and never silently left out. */

import { describe, expect, it } from 'vitest';
import { comparisonsOf, type Measured, ratioInRounds } from '../../bench/figures.mjs';
import type { Run } from '../../bench/measure.mjs';
import { anyRun } from './any-run.js';

const data = { bytes: 1000, lines: 100 };

const run = (round: number, wallSeconds: number, more?: Partial<Run>) => anyRun({ round, wallSeconds, ...more });

function measured(runs: Run[], dataBytes = data.bytes): Measured {
  return { runs, dataBytes };
}

describe('comparisonsOf', () => {
  it('takes the median of the ratios in rounds, and the ratio of the medians', () => {
    const runs = new Map([
      ['pileshuf', measured([run(0, 2), run(1, 10), run(2, 6)])],
      ['floor', measured([run(0, 1), run(1, 10), run(2, 2)])],
    ]);
    const [found] = comparisonsOf(runs, data, { 'pileshuf / floor': { atMost: 1.25 } });
    expect(found).toMatchObject({ name: 'pileshuf / floor', bar: { atMost: 1.25 }, isMet: false });
    expect(found?.median).toBeCloseTo(2);
    expect(found?.ofMedians).toBeCloseTo(3);
  });

  it('compares what a byte takes where the amounts differ', () => {
    const runs = new Map([
      ['pileshuf', measured([run(0, 8.8)], 8000)],
      ['eighth', measured([run(0, 1)], 1000)],
    ]);
    const [found] = comparisonsOf(runs, { bytes: 8000, lines: 800 }, { 'pileshuf / eighth': { atMost: 1.15 } });
    expect(found?.median).toBeCloseTo(1.1);
    expect(found?.isMet).toBe(true);
  });

  it.each([
    [0.86, false],
    [0.88, true],
    [1.14, true],
    [1.16, false],
  ])('holds %d against a bar on both sides', (seconds, isMet) => {
    const runs = new Map([
      ['pileshuf', measured([run(0, 1)])],
      ['shards', measured([run(0, seconds)])],
    ]);
    const bars = { 'shards / pileshuf': { atLeast: 0.87, atMost: 1.15 } };
    expect(comparisonsOf(runs, data, bars).map((each) => each.isMet)).toEqual([isMet]);
  });

  it('tells CPU time a record', () => {
    const pileshuf = measured([run(0, 1, { userSeconds: 1e-5 })]);
    const bars = { 'pileshuf user CPU ns/record': { atMost: 150 } };
    const [found] = comparisonsOf(new Map([['pileshuf', pileshuf]]), data, bars);
    expect([found?.median?.toFixed(3), found?.isMet]).toEqual(['100.000', true]);
  });

  it('shows a bar that nothing was measured for', () => {
    const bars = { 'terashuf / pileshuf': { atLeast: 5 } };
    expect(comparisonsOf(new Map([['pileshuf', measured([run(0, 1)])]]), data, bars)).toEqual([
      { name: 'terashuf / pileshuf', ofMedians: null, median: null, bar: { atLeast: 5 }, isMet: null },
    ]);
  });
});

describe('ratioInRounds', () => {
  it('takes the rounds that both have, and is null when there is none', () => {
    const above = [run(0, 2), run(1, 9), run(2, 6)];
    expect(ratioInRounds(above, [run(0, 1), run(2, 2)], (each) => each.wallSeconds)).toBe(2.5);
    expect(ratioInRounds(above, [], (each) => each.wallSeconds)).toBeNull();
  });
});
