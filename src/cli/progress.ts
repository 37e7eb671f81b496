/**
 * Chooses how the command talks while it works and puts the two voices together: a display that
 * shows progress (bar, plain lines, JSON lines, nothing) and messages that must stay readable (text
 * or JSON). A message never lands in the middle of a bar: the display steps aside first.
 * `quiet` silences all but errors, whatever the style.
 */

import type { ShuffleProgress, ShuffleReport } from '../index.js';
import { barDisplay } from './bar-display.js';
import type { StopSignal } from './exit-code.js';
import { jsonDisplay } from './json-display.js';
import { describeReport, jsonMessages, textMessages } from './messages.js';
import { plainDisplay } from './plain-display.js';
import type { MessageStream, ProgressDisplay } from './progress-display.js';
import { RateMeter } from './progress-rate.js';

export type ProgressStyle = 'auto' | 'bar' | 'plain' | 'json' | 'none';

export interface Reporter {
  readonly progress: (progress: ShuffleProgress) => void;
  readonly warning: (line: string) => void;
  summary(report: ShuffleReport): void;
  /** What else than a shuffle was done: as a line for people, as fields for programs. */
  done(line: string, fields: object): void;
  failure(thrown: unknown, stopSignal: StopSignal | undefined): void;
  /** Ends the display; what comes later is not shown. May be called again. */
  close(): void;
}

export interface ReporterOptions {
  readonly style: ProgressStyle;
  readonly quiet: boolean;
  /** Goes on with the job, should it end unfinished and be kept; absent while none can have begun. */
  readonly resumeCommand?: string;
}

const noDisplay: ProgressDisplay = { show: () => {}, stepAside: () => {} };

/** `nowSeconds` is any clock that only goes forward; it paces the display. */
export function createReporter(
  { style, quiet, resumeCommand }: ReporterOptions,
  stream: MessageStream,
  nowSeconds: () => number = () => performance.now() / 1000,
): Reporter {
  const messages = style === 'json' ? jsonMessages(stream, resumeCommand) : textMessages(stream, resumeCommand);
  const display = quiet ? noDisplay : createDisplay(style, stream, nowSeconds);
  const meter = new RateMeter();
  let closed = false;
  const close = (): void => {
    closed = true;
    display.stepAside();
  };

  const done = (line: string, fields: object): void => {
    close();
    if (!quiet) {
      messages.summary(line, fields);
    }
  };

  return {
    close,
    progress(progress) {
      if (!closed) {
        display.show(meter.measure(progress));
      }
    },
    warning(line) {
      if (!quiet && !closed) {
        display.stepAside();
        messages.warning(line);
      }
    },
    summary: (report) => done(describeReport(report), report),
    done,
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
