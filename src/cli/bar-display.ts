/**
 * Progress as one line that redraws itself, by cli-progress. The package is loaded only when a bar is
 * to be drawn, which is not before half a second: a short job neither waits for it nor flickers.
 *
 * Line wrapping stays on and the cursor visible, so that a process that is killed leaves a terminal
 * in order. To step aside the bar is stopped, not hidden: cli-progress returns to the line where it
 * began, which may be a message's line if one was printed meanwhile.
 */

import type { GenericFormatter, SingleBar } from 'cli-progress';
import type { MessageStream, ProgressDisplay } from './progress-display.js';
import type { MeasuredProgress } from './progress-rate.js';
import { describeBytes, describePace, percentDone, phaseNames } from './progress-text.js';

const firstBarAfterSeconds = 0.5;
const redrawsPerSecond = 5;
/** With the longest numbers the whole line still fits 80 columns; cli-progress cuts it at a narrower edge. */
const barColumns = 16;

export function barDisplay(stream: MessageStream, nowSeconds: () => number): ProgressDisplay {
  const startAtSeconds = nowSeconds() + firstBarAfterSeconds;
  let createBar: (() => SingleBar) | undefined;
  let isLoading = false;
  let bar: SingleBar | undefined;

  const load = async (): Promise<void> => {
    isLoading = true;
    const { SingleBar } = (await import('cli-progress')).default;
    createBar = () =>
      new SingleBar({
        stream,
        format: formatLine,
        fps: redrawsPerSecond,
        linewrap: true,
        hideCursor: false,
        clearOnComplete: true,
      });
  };

  return {
    show(progress) {
      if (bar !== undefined) {
        bar.setTotal(progress.bytesTotal ?? 0);
        bar.update(progress.bytesDone, { progress });
      } else if (createBar !== undefined) {
        bar = createBar();
        bar.start(progress.bytesTotal ?? 0, progress.bytesDone, { progress });
      } else if (!isLoading && nowSeconds() >= startAtSeconds) {
        // A broken installation costs the bar, not the job.
        load().catch(() => {});
      }
    },
    stepAside() {
      bar?.stop();
      bar = undefined;
    },
  };
}

/** `pass 1 [====------------]  30%  1.20 GB of 4.00 GB  210 MB/s  14 s left` */
const formatLine: GenericFormatter = (_options, _params, { progress }: { progress: MeasuredProgress }) => {
  const percent = percentDone(progress);
  const name = phaseNames[progress.phase];
  const words = [describeBytes(progress), ...describePace(progress)];
  if (percent === undefined) {
    return [name, ...words].join('  ');
  }
  const filled = Math.floor((percent / 100) * barColumns);
  const drawing = '='.repeat(filled) + '-'.repeat(barColumns - filled);
  return `${name} [${drawing}] ${String(percent).padStart(3)}%  ${words.join('  ')}`;
};
