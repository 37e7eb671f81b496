/**
 * The displays of progress on standard error: a bar that redraws itself, lines of text for logs, lines of JSON for
 * programs. Each sets its own pace, so `show` may be called as often as the library likes. A value that is not known
 * (the total of a pipe, the speed in the first moment) is left out, or null in JSON.
 */

import type { ShuffleProgress } from '../index.js';
import type { MeasuredProgress } from './progress-rate.js';
import { formatBytes, formatWholeSeconds } from './quantity.js';

/** Standard error, or its stand-in. */
export type MessageStream = NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number };

export interface ProgressDisplay {
  show(progress: MeasuredProgress): void;
  /** Erases what is drawn on the screen; a later `show` draws it again. */
  stepAside(): void;
}

export const noDisplay: ProgressDisplay = { show: () => {}, stepAside: () => {} };

/** The phases as people see them; programs get the library's own names. */
const phaseNames: Readonly<Record<ShuffleProgress['phase'], string>> = {
  scatter: 'pass 1',
  shuffle: 'pass 2',
  commit: 'commit',
  verify: 'verify',
};

/** A short job neither flickers nor leaves lines behind. */
const firstBarAfterSeconds = 0.5;
const barEverySeconds = 0.2;
const firstLineAfterSeconds = 2;
const lineEverySeconds = 10;
const eventEverySeconds = 1;

/** With the longest numbers the whole line still fits 80 columns. */
const barColumns = 16;

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
    show({ phase, bytesDone, bytesTotal, bytesPerSecond, secondsLeft }) {
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
        secondsLeft: secondsLeft === undefined ? null : Math.round(secondsLeft * 10) / 10,
      };
      stream.write(`${JSON.stringify(event)}\n`);
    },
    stepAside() {},
  };
}

/** `pass 1 [====------------]  30%  1.20 GB of 4.00 GB  210 MB/s  14 s left` */
function describeBar(progress: MeasuredProgress): string {
  const percent = percentDone(progress);
  const name = phaseNames[progress.phase];
  const words = [describeBytes(progress), ...describePace(progress)].join('  ');
  if (percent === undefined) return `${name}  ${words}`;
  const filled = Math.floor((percent / 100) * barColumns);
  const drawing = '='.repeat(filled) + '-'.repeat(barColumns - filled);
  return `${name} [${drawing}] ${String(percent).padStart(3)}%  ${words}`;
}

/** `pass 1: 1.20 GB of 4.00 GB (30%), 210 MB/s, 14 s left` */
function describeLine(progress: MeasuredProgress): string {
  const percent = percentDone(progress);
  const done = percent === undefined ? describeBytes(progress) : `${describeBytes(progress)} (${percent}%)`;
  return `${phaseNames[progress.phase]}: ${[done, ...describePace(progress)].join(', ')}`;
}

/** Rounded down, so that 100 means all. */
function percentDone({ bytesDone, bytesTotal }: ShuffleProgress): number | undefined {
  if (bytesTotal === undefined) return undefined;
  return bytesTotal === 0 ? 100 : Math.min(100, Math.floor((bytesDone / bytesTotal) * 100));
}

function describeBytes({ bytesDone, bytesTotal }: ShuffleProgress): string {
  return bytesTotal === undefined ? formatBytes(bytesDone) : `${formatBytes(bytesDone)} of ${formatBytes(bytesTotal)}`;
}

function describePace({ bytesPerSecond, secondsLeft }: MeasuredProgress): string[] {
  const words: string[] = [];
  if (bytesPerSecond > 0) words.push(`${formatBytes(bytesPerSecond)}/s`);
  if (secondsLeft !== undefined) words.push(`${formatWholeSeconds(Math.ceil(secondsLeft))} left`);
  return words;
}
