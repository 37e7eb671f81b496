/** Progress as JSON, as in examples/progress.schema.json. A value that is not known (the total of a pipe) is null. */

import { type JobState, type ProgressDisplay, passOf } from './progress-meters.js';
import type { MessageStream } from './standard-streams.js';
import { jsonLine } from './visible-text.js';

const eventEverySeconds = 1;

/**
 * Writes events as JSON: a plan when the job begins, and with each member of aligned files; then at most one event a second,
 * and always the first of a phase and the one that completes it.
 */
export function eventDisplay(stream: MessageStream): ProgressDisplay {
  let last: Pick<JobState, 'phase' | 'member'> | undefined;
  let wasComplete = false;
  let nextEventAtSeconds = 0;
  const write = (event: object) => stream.write(`${jsonLine(event)}\n`);
  return {
    show(state, nowSeconds) {
      const { phase, bytesDone, bytesTotal } = state;
      const isNewJob = last === undefined || last.member?.number !== state.member?.number;
      const isNewPhase = isNewJob || phase !== last?.phase;
      const isComplete = bytesTotal !== undefined && bytesDone >= bytesTotal;
      const isNewlyComplete = isComplete && (isNewPhase || !wasComplete);
      if (isNewJob) write(planOf(state));
      if (!isNewPhase && !isNewlyComplete && nowSeconds < nextEventAtSeconds) return;
      last = { phase, member: state.member };
      wasComplete = isComplete;
      nextEventAtSeconds = nowSeconds + eventEverySeconds;
      write(progressEvent(state));
    },
    clear() {},
    statusLine: (state, jobSeconds) => `${jsonLine(progressEvent(state ?? { ...NOT_BEGUN, jobSeconds }))}\n`,
  };
}

const NOT_BEGUN = {
  phase: null,
  bytesDone: 0,
  bytesTotal: undefined,
  bytesPerSecond: 0,
  meanBytesPerSecond: 0,
  jobDone: undefined,
  jobSecondsLeft: undefined,
  member: undefined,
  memory: undefined,
  phases: [],
  disks: [],
} as const;

type ShownState = Omit<JobState, 'phase' | 'phaseSeconds' | 'bytesResumed' | 'workedSeconds'> & {
  readonly phase: JobState['phase'] | null;
};

function planOf(state: JobState): object {
  const { phases, bytesTotal, memory, disks } = state;
  return {
    event: 'plan',
    ...memberOf(state),
    phases: phases.map(({ phase, bytes }) => ({ phase, bytes: bytes === undefined ? null : Math.round(bytes) })),
    bytesTotal: bytesTotal ?? null,
    memoryBudgetBytes: memory?.budgetBytes ?? null,
    disks: disks.map(({ name, callLimit }) => ({ name, callLimit })),
  };
}

function progressEvent(state: ShownState): object {
  const { phase, bytesDone, bytesTotal, bytesPerSecond, meanBytesPerSecond } = state;
  const { jobDone, jobSecondsLeft, jobSeconds, memory, disks } = state;
  return {
    event: 'progress',
    phase,
    bytesDone,
    bytesTotal: bytesTotal ?? null,
    bytesPerSecond: Math.round(bytesPerSecond),
    meanBytesPerSecond: Math.round(meanBytesPerSecond),
    ...passOf(state),
    ...memberOf(state),
    jobDone: jobDone === undefined ? null : Math.round(jobDone * 1000) / 1000,
    jobSecondsLeft: inTenths(jobSecondsLeft),
    jobSeconds: inTenths(jobSeconds),
    memoryBytes: memory?.residentBytes ?? null,
    ...(state.tasks === undefined ? {} : { tasks: state.tasks }),
    disks: disks.map(({ name, bytesRead, bytesWritten, callsUnderWay, callLimit }) => ({
      name,
      bytesRead,
      bytesWritten,
      callsUnderWay,
      callLimit,
    })),
  };
}

function memberOf({ member }: Pick<JobState, 'member'>): object {
  return member === undefined ? {} : { member: member.number, members: member.of };
}

function inTenths(seconds: number | undefined): number | null {
  return seconds === undefined ? null : Math.round(seconds * 10) / 10;
}
