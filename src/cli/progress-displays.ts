/** The displays of progress. Each sets its own pace: `show` may be called as often as the library likes. */

import { formatWholeSeconds } from '../quantity.js';
import type { JobState, ProgressDisplay } from './measured-job.js';
import { logLine, viewLines } from './progress-view.js';
import type { MessageStream } from './standard-streams.js';

const viewEverySeconds = 0.2;
const lineEverySeconds = 30;

/**
 * The cursor stays visible and waits at the start of the first line, and line wrapping stays on: a process that is
 * killed leaves a terminal in order, what others print covers the view, and a view that a narrower terminal has wrapped
 * is drawn over from its start.
 */
export function viewDisplay(stream: MessageStream): ProgressDisplay {
  let nextViewAtSeconds = Number.NEGATIVE_INFINITY;
  let drawnPhase: JobState['phase'] | undefined;
  return {
    show(state, nowSeconds) {
      const isNewPhase = drawnPhase !== undefined && drawnPhase !== state.phase;
      if (nowSeconds < nextViewAtSeconds && !isNewPhase) return;
      nextViewAtSeconds = nowSeconds + viewEverySeconds;
      drawnPhase = state.phase;
      // The cursor could not come back to a line that has left the screen.
      const lines = viewLines(state, stream.columns || 80).slice(0, Math.max(1, stream.rows || 24));
      const back = lines.length > 1 ? `\x1b[${lines.length - 1}A` : '';
      stream.write(`\r${lines.join('\x1b[K\r\n')}\x1b[J${back}\r`);
    },
    stepAside() {
      if (drawnPhase !== undefined) stream.write('\r\x1b[J');
      drawnPhase = undefined;
    },
  };
}

/**
 * From pass 2 on records are written, which may come out on the same terminal. The event that begins pass 2 comes
 * before the first byte of the output.
 */
export function untilRecordsCome(display: ProgressDisplay): ProgressDisplay {
  return {
    show(state, nowSeconds) {
      if (state.phase === 'shuffle' || state.phase === 'commit') display.stepAside();
      else display.show(state, nowSeconds);
    },
    stepAside: () => display.stepAside(),
  };
}

/** One line now and then: a day-long job leaves a log that can be read. */
export function plainDisplay(stream: MessageStream): ProgressDisplay {
  let nextLineAtSeconds = Number.NEGATIVE_INFINITY;
  return {
    show(state, nowSeconds) {
      if (nowSeconds < nextLineAtSeconds) return;
      nextLineAtSeconds = nowSeconds + lineEverySeconds;
      stream.write(timedLine(state, state.jobSeconds));
    },
    stepAside() {},
  };
}

export const noDisplay: ProgressDisplay = { show: () => {}, stepAside: () => {} };

/** @param state undefined: no phase has begun. */
export function timedLine(state: JobState | undefined, jobSeconds: number): string {
  const words = state === undefined ? 'no pass has begun' : logLine(state);
  const time = new Date().toISOString().replace(/\.\d+/, '');
  return `pileshuf: ${time}, ${formatWholeSeconds(Math.round(jobSeconds))} so far: ${words}\n`;
}
