/** The regression guard fails when a figure is beyond its bound, and only then. */
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { failureOf, type Guarded, judge, readBaseline, writeBaseline } from '../../bench/baseline.mjs';
import { guardFigures } from '../../bench/guard-figures.mjs';
import { useTestDirectory } from '../fixtures/temp-directory.js';

const calls: Guarded = { name: 'calls', slack: 1.2 };

function judgeOne(measured: number | null, baseline: number | undefined) {
  const former = new Map(baseline === undefined ? [] : [[calls.name, baseline]]);
  const [judged] = judge([calls], new Map([[calls.name, measured]]), former);
  if (judged === undefined) throw new Error('expected one figure');
  return { verdict: judged.verdict, failure: failureOf(judged) };
}

describe('judge', () => {
  it.each([
    { measured: 100, verdict: 'within' },
    { measured: 119, verdict: 'within' },
    { measured: 84, verdict: 'within' },
    { measured: 121, verdict: 'beyond' },
    { measured: 82, verdict: 'better' },
    { measured: Number.NaN, verdict: 'beyond' },
  ])('$measured against 100: $verdict', ({ measured, verdict }) => {
    const judged = judgeOne(measured, 100);
    expect(judged.verdict).toBe(verdict);
    expect(judged.failure !== undefined).toBe(verdict === 'beyond');
  });

  it('says in one line which figure, what was measured, what was expected, and what to do', () => {
    expect(judgeOne(200, 100).failure).toBe(
      'calls: 200, expected at most 120 (baseline 100); ' +
        'if that is meant, renew the baseline with "npm run bench -- --renew-baseline"',
    );
  });

  it('passes over what cannot be measured here', () => {
    expect(judgeOne(null, 100)).toEqual({ verdict: 'not measured', failure: undefined });
  });

  it('fails for a figure that the baseline does not have', () => {
    expect(judgeOne(100, undefined).failure).toMatch(/^calls: not in the baseline; .*--renew-baseline/);
  });
});

describe('the baseline', () => {
  const directory = useTestDirectory();

  it('has each guarded figure, and no other', () => {
    const committed = readBaseline(new URL('../../bench/baseline.json', import.meta.url).pathname);
    expect([...committed.keys()]).toEqual(guardFigures.map(({ name }) => name));
  });

  it('is read as it was written', () => {
    const file = directory.path('baseline.json');
    writeBaseline(file, new Map([['calls', 100 / 3]]), { date: '2026-01-01' });
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ date: '2026-01-01' });
    expect(readBaseline(file)).toEqual(new Map([['calls', 33.33]]));
  });

  it('is not renewed when something could not be measured', () => {
    const file = directory.path('baseline.json');
    writeBaseline(file, new Map([['calls', 100]]), {});
    const renew = () => writeBaseline(file, new Map([['calls', null]]), {});
    expect(renew).toThrow('the baseline is left as it is: calls: not measured here');
    expect(readBaseline(file)).toEqual(new Map([['calls', 100]]));
  });

  it.each(['"much"', '0', '-1', 'null'])('is refused with a figure of %s', (value) => {
    const file = directory.path('baseline.json');
    writeFileSync(file, `{"figures": {"calls": ${value}}}`);
    expect(() => readBaseline(file)).toThrow(`calls: expected a number above 0, got ${value}`);
  });
});
