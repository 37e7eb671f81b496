/** A successful measurement of a program; a test sets the fields that it needs. */

import type { Run } from '../../bench/measure.mjs';

export function anyRun(known: Partial<Run>): Run {
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
