/**
 * The displays of progress on standard error: a bar that redraws itself, lines of text for logs, lines of JSON for
 * programs. Each sets its own pace, so `show` may be called as often as the library likes. A value that is not known
 * (the total of a pipe, the speed in the first moment) is left out, or null in JSON.
 */

import type { ShuffleProgress } from '../jobs/options.js';
import type { JobEstimate } from './job-estimate.js';
import type { MeasuredProgress } from './progress-rate.js';
import { formatBytes, formatWholeSeconds } from './quantity.js';
import { jsonLine } from './visible-text.js';

/** Standard error, or its stand-in. */
export type MessageStream = NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number };

/** The progress of a phase, and of the whole job. */
export type EstimatedProgress = MeasuredProgress & JobEstimate;

export interface ProgressDisplay {
  show(progress: EstimatedProgress): void;
  /** Erases what is drawn on the screen; a later `show` draws it again. */
  stepAside(): void;
}

export const noDisplay: ProgressDisplay = { show: () => {}, stepAside: () => {} };

/** A short job neither flickers nor leaves lines behind. */
const firstBarAfterSeconds = 0.5;
const barEverySeconds = 0.2;
const firstLineAfterSeconds = 2;
const lineEverySeconds = 10;
const eventEverySeconds = 1;

/** With the longest numbers the whole line still fits 80 columns. */
const barColumns = 12;

/**
 * One line, which is cut at the edge of the terminal. The cursor stays visible and waits at the start of the line, and
 * line wrapping stays on: a process that is killed leaves a terminal in order, and what others print covers the bar.
 */
export function barDisplay(stream: MessageStream, nowSeconds: () => number): ProgressDisplay {
  let nextBarAtSeconds = nowSeconds() + firstBarAfterSeconds;
  let drawnPhase: ShuffleProgress['phase'] | undefined;
  return {
    show(progress) {
      const now = nowSeconds();
      const isNewPhase = drawnPhase !== undefined && drawnPhase !== progress.phase;
      if (now < nextBarAtSeconds && !isNewPhase) return;
      nextBarAtSeconds = now + barEverySeconds;
      drawnPhase = progress.phase;
      // A line as wide as the terminal would wrap.
      stream.write(`\r${describeBar(progress).slice(0, (stream.columns || 80) - 1)}\x1b[K\r`);
    },
    stepAside() {
      if (drawnPhase !== undefined) stream.write('\r\x1b[K');
      drawnPhase = undefined;
    },
  };
}

/**
 * A display that ends with pass 1: from then on records are written, which may come out on the same terminal. The event
 * that begins pass 2 comes before the first byte of the output.
 */
export function untilRecordsCome(display: ProgressDisplay): ProgressDisplay {
  return {
    show(progress) {
      if (progress.phase === 'scatter' || progress.phase === 'count') display.show(progress);
      else display.stepAside();
    },
    stepAside: () => display.stepAside(),
  };
}

/** The first line comes after two seconds and then one every ten: a day-long job leaves a log that can be read. */
export function plainDisplay(stream: MessageStream, nowSeconds: () => number): ProgressDisplay {
  let nextLineAtSeconds = nowSeconds() + firstLineAfterSeconds;
  return {
    show(progress) {
      const now = nowSeconds();
      if (now < nextLineAtSeconds) return;
      nextLineAtSeconds = now + lineEverySeconds;
      stream.write(`pileshuf: ${describeLine(progress)}\n`);
    },
    stepAside() {},
  };
}

/** At most one event a second, and always the first of a phase and the one that completes it. All fields are there. */
export function jsonDisplay(stream: MessageStream, nowSeconds: () => number): ProgressDisplay {
  let lastPhase: ShuffleProgress['phase'] | undefined;
  let wasComplete = false;
  let nextEventAtSeconds = 0;
  return {
    show(progress) {
      const { phase, bytesDone, bytesTotal, bytesPerSecond, secondsLeft, jobDone, jobSecondsLeft } = progress;
      const now = nowSeconds();
      const isNewPhase = phase !== lastPhase;
      const isComplete = bytesTotal !== undefined && bytesDone >= bytesTotal;
      const isNewlyComplete = isComplete && (isNewPhase || !wasComplete);
      if (!isNewPhase && !isNewlyComplete && now < nextEventAtSeconds) return;
      lastPhase = phase;
      wasComplete = isComplete;
      nextEventAtSeconds = now + eventEverySeconds;
      const event = {
        event: 'progress',
        phase,
        bytesDone,
        bytesTotal: bytesTotal ?? null,
        bytesPerSecond: Math.round(bytesPerSecond),
        secondsLeft: inTenths(secondsLeft),
        ...passOf(progress),
        ...(progress.member !== undefined && { member: progress.member.number, members: progress.member.of }),
        jobDone: jobDone === undefined ? null : Math.round(jobDone * 1000) / 1000,
        jobSecondsLeft: inTenths(jobSecondsLeft),
      };
      stream.write(`${jsonLine(event)}\n`);
    },
    stepAside() {},
  };
}

function inTenths(seconds: number | undefined): number | null {
  return seconds === undefined ? null : Math.round(seconds * 10) / 10;
}

/** `[====--------]  30%  48 s left  pass 1 of 2  1.20 GB of 2.40 GB  210 MB/s`: the job first, then the phase. */
function describeBar(progress: EstimatedProgress): string {
  const percent = percentDone(progress);
  const words = [...describeTimeLeft(progress), namePhase(progress), ...describePhase(progress)].join('  ');
  if (percent === undefined) return words;
  const filled = Math.floor((percent / 100) * barColumns);
  const drawing = '='.repeat(filled) + '-'.repeat(barColumns - filled);
  return `[${drawing}] ${String(percent).padStart(3)}%  ${words}`;
}

/** `30% done, 48 s left; pass 1 of 2: 1.20 GB of 2.40 GB, 210 MB/s` */
function describeLine(progress: EstimatedProgress): string {
  const percent = percentDone(progress);
  const job = [...(percent === undefined ? [] : [`${percent}% done`]), ...describeTimeLeft(progress)].join(', ');
  const phase = [namePhase(progress), describePhase(progress).join(', ')].filter((words) => words !== '').join(': ');
  return job === '' ? phase : `${job}; ${phase}`;
}

/** Of the job; rounded down, because the end is told by the summary. */
function percentDone({ jobDone }: EstimatedProgress): number | undefined {
  return jobDone === undefined ? undefined : Math.min(99, Math.floor(jobDone * 100));
}

function describeTimeLeft({ jobSecondsLeft }: EstimatedProgress): string[] {
  return jobSecondsLeft === undefined ? [] : [`${formatWholeSeconds(Math.ceil(jobSecondsLeft))} left`];
}

/** The phases as people see them; programs get the library's own names. */
function namePhase(progress: ShuffleProgress): string {
  const { pass, passes } = passOf(progress);
  const { member } = progress;
  const name = pass === null ? progress.phase : `pass ${pass} of ${passes}`;
  return member === undefined ? name : `${name} for member ${member.number} of ${member.of}`;
}

/** `pass` is null in a phase that is no pass over the records. */
function passOf({ phase, phases }: ShuffleProgress): { readonly pass: number | null; readonly passes: number } {
  const passes = phases.filter((each) => each.phase === 'scatter' || each.phase === 'shuffle');
  const place = passes.findIndex((each) => each.phase === phase);
  return { pass: place < 0 ? null : place + 1, passes: passes.length };
}

/** A commit has no bytes to count. */
function describePhase({ phase, bytesDone, bytesTotal, bytesPerSecond }: MeasuredProgress): string[] {
  if (phase === 'commit') return [];
  const total = bytesTotal === undefined ? 'an unknown total' : formatBytes(bytesTotal);
  const pace = bytesPerSecond > 0 ? [`${formatBytes(bytesPerSecond)}/s`] : [];
  return [`${formatBytes(bytesDone)} of ${total}`, ...pace];
}
