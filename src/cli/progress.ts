/**
 * Chooses how a command reports its work, and joins two voices: a display that shows progress, and messages that must
 * stay readable. A message never lands in the middle of a bar: the display steps aside first. `quiet` silences all but
 * errors, in every style.
 */

import type { ShuffleProgress } from '../jobs/options.js';
import type { StopSignal } from './exit-code.js';
import { JobEstimator } from './job-estimate.js';
import { jsonMessages, textMessages } from './messages.js';
import {
  barDisplay,
  jsonDisplay,
  type MessageStream,
  noDisplay,
  type ProgressDisplay,
  plainDisplay,
  untilRecordsCome,
} from './progress-displays.js';
import { RateMeter } from './progress-rate.js';
import type { ResumeAdviser } from './resume-command.js';

export type ProgressStyle = 'auto' | 'bar' | 'plain' | 'json' | 'none';

export interface Reporter {
  readonly progress: (progress: ShuffleProgress) => void;
  readonly warning: (line: string) => void;
  /** What a person at the terminal may not know; neither logs nor programs get it. */
  readonly hint: (line: string) => void;
  /** The summary of what was done: a line for people, fields for programs. */
  done(line: string, fields: object): void;
  failure(thrown: unknown, stopSignal: StopSignal | undefined): void;
  /** Ends the display; later progress is not shown. May be called again. */
  close(): void;
}

export interface ReporterOptions {
  readonly style?: ProgressStyle | undefined;
  readonly quiet?: boolean | undefined;
  /** Says how to resume the job if it ends unfinished and its work is kept. Absent: no such job can have begun. */
  readonly adviseResume?: ResumeAdviser | undefined;
  /** Whether the records of the output may come out on the terminal on which the progress is shown. */
  readonly sharesTerminal?: boolean | undefined;
}

/** `nowSeconds` is any clock that only goes forward; it paces the display. */
export function createReporter(
  { style = 'auto', quiet = false, adviseResume, sharesTerminal = false }: ReporterOptions,
  stream: MessageStream,
  nowSeconds: () => number = () => performance.now() / 1000,
): Reporter {
  const messages = style === 'json' ? jsonMessages(stream, adviseResume) : textMessages(stream, adviseResume);
  const drawn = quiet ? noDisplay : createDisplay(style, stream, nowSeconds);
  const display = sharesTerminal && style === 'auto' ? untilRecordsCome(drawn) : drawn;
  const meter = new RateMeter();
  const estimator = new JobEstimator();
  let closed = false;
  const close = (): void => {
    closed = true;
    display.stepAside();
  };
  return {
    close,
    progress(progress) {
      if (closed) return;
      const measured = meter.measure(progress);
      display.show({ ...measured, ...estimator.estimate(measured) });
    },
    warning(line) {
      if (quiet || closed) return;
      display.stepAside();
      messages.warning(line);
    },
    hint(line) {
      if (!quiet && style !== 'none' && stream.isTTY === true) messages.hint(line);
    },
    done(line, fields) {
      close();
      if (!quiet) messages.summary(line, fields);
    },
    failure(thrown, stopSignal) {
      close();
      messages.failure(thrown, stopSignal);
    },
  };
}

/** A bar needs a terminal that can move its cursor; everything else gets lines. */
function createDisplay(style: ProgressStyle, stream: MessageStream, nowSeconds: () => number): ProgressDisplay {
  switch (style) {
    case 'auto':
    case 'bar':
      return stream.isTTY === true && process.env['TERM'] !== 'dumb'
        ? barDisplay(stream, nowSeconds)
        : plainDisplay(stream, nowSeconds);
    case 'plain':
      return plainDisplay(stream, nowSeconds);
    case 'json':
      return jsonDisplay(stream, nowSeconds);
    case 'none':
      return noDisplay;
  }
}
