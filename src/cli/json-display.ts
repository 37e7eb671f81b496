/**
 * Progress as JSON lines, for programs: at most one a second, and always the first of a phase and the
 * one that says a phase has all its bytes. Fields are always there; what is not known is null.
 */

import type { ShuffleProgress } from '../index.js';
import type { MessageStream, ProgressDisplay } from './progress-display.js';

const eventEverySeconds = 1;

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
      if (!isNewPhase && !isNewlyComplete && now < nextEventAtSeconds) {
        return;
      }
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
