/** The figures of the regression guard: all are present after success, and null when they are unknown. */
import { describe, expect, it } from 'vitest';
import type { ContestantName } from '../../bench/contestants.mjs';
import { figuresOf } from '../../bench/figures.mjs';
import { guardCases, guardFigures, measureGuardFigures } from '../../bench/guard-figures.mjs';
import type { Run } from '../../bench/measure.mjs';
import type { CaseResult } from '../../bench/run-case.mjs';

/** A successful measurement of a program. */
function anyRun(known: Partial<Run>): Run {
  return {
    round: 0,
    wallSeconds: 1,
    userSeconds: null,
    sysSeconds: null,
    peakRssBytes: null,
    calls: null,
    pass1Seconds: null,
    exitStatus: 0,
    isKilled: false,
    stderrTail: '',
    ...known,
  };
}

const dataBytes = 1000;
const calls = { opens: 300, dataReads: 20, dataWrites: 30, dataReadBytes: 2100, dataWrittenBytes: 2200 };
const userSeconds: Partial<Record<ContestantName, number>> = { pileshuf: 4, 'bare-node': 2, reference: 2 };

/** All cases of the guard, with all contestants but those `without`. */
function resultsOf({ without }: { without?: ContestantName } = {}): CaseResult[] {
  return guardCases.map((theCase) => ({
    case: theCase,
    corpus: {
      parameters: { kind: theCase.kind, seed: '1', fileCount: 1, sizeBytes: dataBytes, lineCount: null },
      folder: 'corpus',
      pattern: 'corpus/part-*',
      files: [],
      bytes: dataBytes,
      lines: 10,
    },
    rounds: 1,
    contestants: theCase.contestants.map((name) => {
      const run = anyRun({
        userSeconds: userSeconds[name] ?? 3,
        peakRssBytes: 150e6,
        calls: name === 'traced' ? calls : null,
      });
      const runs = name === without ? [] : [run];
      const figures = name === without ? null : figuresOf({ runs, dataBytes });
      return { name, command: '', outcome: 'done', detail: '', isWrong: false, figures, runs };
    }),
    comparisons: [],
  }));
}

describe('measureGuardFigures', () => {
  it('tells every figure', () => {
    expect(Object.fromEntries(measureGuardFigures(resultsOf()))).toEqual({
      'quick-startup: user CPU of pileshuf / of bare Node': 2,
      'quick-startup-counts: files opened': 300,
      'quick-disk: user CPU of one worker / of the reference': 1.5,
      'quick-disk-counts: bytes read / input bytes': 2.1,
      'quick-disk-counts: bytes written / input bytes': 2.2,
      'quick-disk-counts: calls that read': 20,
      'quick-disk-counts: calls that write': 30,
      'quick-disk-counts: peak memory, MB': 150,
      'quick-ram: user CPU of one worker / of the reference': 1.5,
      'quick-tiny: user CPU of one worker / of the reference': 1.5,
    });
  });

  it.each([
    { why: 'nothing could be traced', results: resultsOf({ without: 'traced' }), count: 5 },
    { why: 'no case ran', results: [], count: guardFigures.length },
  ])('has no figure, but null, where $why', ({ results, count }) => {
    const measured = measureGuardFigures(results);
    expect(measured.size).toBe(guardFigures.length);
    expect([...measured.values()].filter((value) => value === null)).toHaveLength(count);
  });
});
