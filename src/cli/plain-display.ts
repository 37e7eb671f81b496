/**
 * Progress as lines of text, for logs. The first comes after two seconds and then one every ten, so
 * that a short job leaves nothing but its summary and a day-long one a log that can be read.
 */

import type { MessageStream, ProgressDisplay } from './progress-display.js';
import type { MeasuredProgress } from './progress-rate.js';
import { describeBytes, describePace, percentDone, phaseNames } from './progress-text.js';

const firstLineAfterSeconds = 2;
const lineEverySeconds = 10;

export function plainDisplay(stream: MessageStream, nowSeconds: () => number): ProgressDisplay {
  let nextLineAtSeconds = nowSeconds() + firstLineAfterSeconds;
  return {
    show(progress) {
      const now = nowSeconds();
      if (now >= nextLineAtSeconds) {
        nextLineAtSeconds = now + lineEverySeconds;
        stream.write(`pileshuf: ${describeProgress(progress)}\n`);
      }
    },
    stepAside() {},
  };
}

/** `pass 1: 1.20 GB of 4.00 GB (30%), 210 MB/s, 14 s left` */
function describeProgress(progress: MeasuredProgress): string {
  const percent = percentDone(progress);
  const done = percent === undefined ? describeBytes(progress) : `${describeBytes(progress)} (${percent}%)`;
  return `${phaseNames[progress.phase]}: ${[done, ...describePace(progress)].join(', ')}`;
}
