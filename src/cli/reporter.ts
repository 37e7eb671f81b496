/**
 * Joins two voices on standard error: a display that shows progress, and messages that must stay readable. The display
 * steps aside before a message, which so never lands in a view. `quiet` silences all but errors, in every style.
 *
 * The code of a display is loaded when it has something to show: a short job starts sooner without it. Until then the
 * reports of the library wait, because the display measures by all of them.
 */

import type { ShuffleProgress } from '../options/progress.js';
import type { StopSignal } from './messages.js';
import { createMessages } from './messages.js';
import type { ProgressStyle } from './own-options.js';
import type { JobMeter, JobState, ProgressDisplay } from './progress-meters.js';
import type { ResumeAdviser } from './resume-command.js';
import type { MessageStream } from './standard-streams.js';
import { flagsAsTyped, type NameFlags } from './typed-words.js';

export interface Reporter {
  readonly progress: (progress: ShuffleProgress) => void;
  readonly warning: (line: string) => void;
  /** Tells a person at the terminal what they may not know; neither logs nor programs get it. */
  readonly hint: (line: string) => void;
  /** Resolves when no code of a display is being loaded. What shows the first report is loaded now. */
  ready(): Promise<void>;
  /** Tells at once how far the job is. `quiet` silences this, too, as `status=none` does for dd. */
  status(): Promise<void>;
  /** @param warning what is also told when all is quiet. */
  done(line: string, fields: object, warning?: string): void;
  failure(thrown: unknown, stopSignal: StopSignal | undefined): void;
  /** Ends the display; later progress is not shown. May be called again. */
  close(): void;
}

export interface ReporterOptions {
  readonly style?: ProgressStyle | undefined;
  readonly quiet?: boolean | undefined;
  /** Says how to resume the job if it ends unfinished and its work is left. Absent: no such job can have begun. */
  readonly adviseResume?: ResumeAdviser | undefined;
  /** Default: with the long flags. */
  readonly nameFlags?: NameFlags | undefined;
  /** True if the records of the output may come out on the terminal on which the progress is shown. */
  readonly sharesTerminal?: boolean | undefined;
}

type DisplayKind = 'view' | 'lines' | 'events' | 'asked';

/** A short job neither flickers nor leaves lines behind. */
const FIRST_AFTER_SECONDS: Readonly<Record<DisplayKind, number>> = { view: 0.5, lines: 10, events: 0, asked: 10 };

interface LoadedDisplay {
  readonly meter: JobMeter;
  readonly display: ProgressDisplay;
}

interface TimedProgress {
  readonly progress: ShuffleProgress;
  readonly atSeconds: number;
}

/** @param nowSeconds a clock that only goes forward; it paces the display. */
export function createReporter(
  {
    style = 'auto',
    quiet = false,
    adviseResume,
    nameFlags = flagsAsTyped([]),
    sharesTerminal = false,
  }: ReporterOptions,
  stream: MessageStream,
  nowSeconds: () => number = () => performance.now() / 1000,
): Reporter {
  const messages = createMessages(style === 'json', stream, adviseResume, nameFlags);
  const beganAtSeconds = nowSeconds();
  const way = displayKindOf(style, stream);
  const endsWithPass1 = sharesTerminal && style === 'auto';
  const shown = new LazyDisplay(() => loadDisplay(way, endsWithPass1, stream, beganAtSeconds), {
    showsFromSeconds: beganAtSeconds + FIRST_AFTER_SECONDS[way],
    isSilent: quiet,
  });
  let closed = false;
  const close = (): void => {
    closed = true;
    shown.display?.clear();
  };
  return {
    close,
    progress(progress) {
      if (!closed) shown.record({ progress, atSeconds: nowSeconds() });
    },
    async ready() {
      if (way === 'events' && !quiet) void shown.load();
      await shown.loading;
    },
    async status() {
      if (quiet) return;
      await shown.load();
      if (closed || shown.display === undefined) return;
      shown.display.clear();
      stream.write(shown.display.statusLine(shown.state, nowSeconds() - beganAtSeconds));
    },
    warning(line) {
      if (quiet || closed) return;
      shown.display?.clear();
      messages.warning(line);
    },
    hint(line) {
      if (!quiet && style !== 'none' && stream.isTTY === true) messages.hint(line);
    },
    done(line, fields, warning) {
      close();
      if (warning !== undefined) messages.warning(warning);
      if (!quiet) messages.summary(line, fields);
    },
    failure(thrown, stopSignal) {
      close();
      messages.failure(thrown, stopSignal);
    },
  };
}

/** A display that is loaded when there is something to show. Progress that comes before waits for it. */
class LazyDisplay {
  state: JobState | undefined;
  loading: Promise<void> | undefined;
  readonly #open: () => Promise<LoadedDisplay>;
  readonly #showsFromSeconds: number;
  #isSilent: boolean;
  #pending: TimedProgress[] = [];
  #loaded: LoadedDisplay | undefined;

  constructor(
    open: () => Promise<LoadedDisplay>,
    { showsFromSeconds, isSilent: isBlind }: { readonly showsFromSeconds: number; readonly isSilent: boolean },
  ) {
    this.#open = open;
    this.#showsFromSeconds = showsFromSeconds;
    this.#isSilent = isBlind;
  }

  get display(): ProgressDisplay | undefined {
    return this.#loaded?.display;
  }

  record(event: TimedProgress): void {
    if (this.#isSilent) return;
    if (this.#loaded !== undefined) {
      this.#show(this.#loaded, event);
      return;
    }
    this.#pending.push(event);
    if (event.atSeconds >= this.#showsFromSeconds) void this.load();
  }

  load(): Promise<void> {
    this.loading ??= this.#load();
    return this.loading;
  }

  async #load(): Promise<void> {
    const now = await this.#open().catch(() => undefined);
    // A job does not end for want of a display.
    if (now === undefined) this.#isSilent = true;
    else for (const event of this.#pending) this.#show(now, event);
    this.#pending = [];
    this.#loaded = now;
  }

  #show({ meter, display }: LoadedDisplay, { progress, atSeconds }: TimedProgress): void {
    this.state = meter.measure(progress, atSeconds);
    if (atSeconds >= this.#showsFromSeconds) display.show(this.state, atSeconds);
  }
}

/** A view needs a terminal that can move its cursor; everything else gets lines. */
function displayKindOf(style: ProgressStyle, stream: MessageStream): DisplayKind {
  switch (style) {
    case 'auto':
    case 'bar':
      return stream.isTTY === true && process.env['TERM'] !== 'dumb' ? 'view' : 'lines';
    case 'plain':
      return 'lines';
    case 'json':
      return 'events';
    case 'none':
      return 'asked';
  }
}

async function loadDisplay(
  way: DisplayKind,
  endsWithPass1: boolean,
  stream: MessageStream,
  beganAtSeconds: number,
): Promise<LoadedDisplay> {
  const { JobMeter } = await import('./progress-meters.js');
  const meter = new JobMeter(beganAtSeconds);
  if (way === 'events') return { meter, display: (await import('./progress-events.js')).eventDisplay(stream) };
  const {
    plainDisplay,
    silentDisplay,
    untilRecordsAreWritten: untilRecordsCome,
    viewDisplay,
  } = await import('./progress-view.js');
  const displays = { view: viewDisplay, lines: plainDisplay, asked: () => silentDisplay };
  const display = displays[way](stream);
  return { meter, display: endsWithPass1 ? untilRecordsCome(display) : display };
}
