/**
 * One progress event in words, for the bar and the plain lines alike. What is not known (the total of
 * a pipe, the speed in the first moment) is left out, never guessed.
 */

import type { ShuffleProgress } from '../index.js';
import type { MeasuredProgress } from './progress-rate.js';
import { formatBytes, formatWholeSeconds } from './quantity.js';

/** The phases as shown to people; programs get the library's own names. */
export const phaseNames: Readonly<Record<ShuffleProgress['phase'], string>> = {
  scatter: 'pass 1',
  shuffle: 'pass 2',
  commit: 'commit',
};

/** Done in percent, rounded down so that 100 means all; undefined while the total is not known. */
export function percentDone({ bytesDone, bytesTotal }: ShuffleProgress): number | undefined {
  if (bytesTotal === undefined) {
    return undefined;
  }
  return bytesTotal === 0 ? 100 : Math.min(100, Math.floor((bytesDone / bytesTotal) * 100));
}

/** `1.20 GB of 4.00 GB`, or `1.20 GB`. */
export function describeBytes({ bytesDone, bytesTotal }: ShuffleProgress): string {
  return bytesTotal === undefined ? formatBytes(bytesDone) : `${formatBytes(bytesDone)} of ${formatBytes(bytesTotal)}`;
}

/** `['210 MB/s', '13 s left']`, less what is not known. */
export function describePace({ bytesPerSecond, secondsLeft }: MeasuredProgress): string[] {
  const words: string[] = [];
  if (bytesPerSecond > 0) {
    words.push(`${formatBytes(bytesPerSecond)}/s`);
  }
  if (secondsLeft !== undefined) {
    words.push(`${formatWholeSeconds(Math.ceil(secondsLeft))} left`);
  }
  return words;
}
