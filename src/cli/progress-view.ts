/**
 * The progress of a job in words: as lines that fit a terminal, or as one line for a log.
 *
 *     [====--------]  30%  48 s left  pass 1 of 2  1.20 GB of 2.40 GB
 *     210 MB/s now  195 MB/s mean  memory 612 MB of 1.07 GB
 *     vda reads 105 MB/s, writes 103 MB/s, 3.2 of 8 calls
 *
 * Each line has several forms. The terminal gets the fullest that fits; of the shortest, what comes last is left out.
 */

import { formatBudget, formatBytes, formatPlural, formatWholeSeconds } from '../values/format-numbers.js';
import { type DiskRate, type JobState, type ProgressDisplay, passOf } from './progress-meters.js';
import type { MessageStream } from './standard-streams.js';
import { oneLine } from './visible-text.js';

const VIEW_EVERY_SECONDS = 0.2;
const LINE_EVERY_SECONDS = 30;

/** The width of the bar: with the longest numbers the first line still fits 80 columns. */
const BAR_COLUMNS = 12;
const MOST_NAME_COLUMNS = 24;

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
      nextViewAtSeconds = nowSeconds + VIEW_EVERY_SECONDS;
      drawnPhase = state.phase;
      // The cursor could not come back to a line that has left the screen.
      const lines = viewLines(state, stream.columns || 80).slice(0, Math.max(1, stream.rows || 24));
      const back = lines.length > 1 ? `\x1b[${lines.length - 1}A` : '';
      stream.write(`\r${lines.join('\x1b[K\r\n')}\x1b[J${back}\r`);
    },
    clear() {
      if (drawnPhase !== undefined) stream.write('\r\x1b[J');
      drawnPhase = undefined;
    },
    statusLine: timedLine,
  };
}

/**
 * Tells that records are written from pass 2 on, which may come out on the same terminal. The event that begins pass 2
 * comes before the first byte of the output.
 */
export function untilRecordsAreWritten(display: ProgressDisplay): ProgressDisplay {
  return {
    ...display,
    show(state, nowSeconds) {
      if (state.phase === 'shuffle' || state.phase === 'commit') display.clear();
      else display.show(state, nowSeconds);
    },
  };
}

/** Shows something only when it is asked. */
export const silentDisplay: ProgressDisplay = { show: () => {}, clear: () => {}, statusLine: timedLine };

/** Writes a line now and then, so that a day-long job leaves a log that can be read. */
export function plainDisplay(stream: MessageStream): ProgressDisplay {
  let nextLineAtSeconds = Number.NEGATIVE_INFINITY;
  return {
    ...silentDisplay,
    show(state, nowSeconds) {
      if (nowSeconds < nextLineAtSeconds) return;
      nextLineAtSeconds = nowSeconds + LINE_EVERY_SECONDS;
      stream.write(timedLine(state, state.jobSeconds));
    },
  };
}

function timedLine(state: JobState | undefined, jobSeconds: number): string {
  const words = state === undefined ? 'no pass has begun' : logLine(state);
  const time = new Date().toISOString().replace(/\.\d+/, '');
  return `pileshuf: ${time}, ${formatWholeSeconds(Math.round(jobSeconds))} so far: ${words}\n`;
}

/** @param columns of the terminal. A line as wide as the terminal would wrap: none is. */
export function viewLines(state: JobState, columns: number): readonly string[] {
  const room = Math.max(1, columns - 1);
  return [
    longestFit([jobParts(state, true), jobParts(state, false)], room),
    longestFit([paceParts(state, true), paceParts(state, false)], room),
    state.tasks === undefined ? disksLine(state.disks, room) : longestFit([[tasksOf(state)]], room),
  ].filter((line) => line !== '');
}

/** `30% done, 48 s left; pass 1 of 2: 1.20 GB of 2.40 GB, 210 MB/s now, 195 MB/s mean; vda reads ...; memory ...` */
export function logLine(state: JobState): string {
  const percent = percentDone(state);
  const job = [...(percent === undefined ? [] : [`${percent}% done`]), ...timeLeft(state)].join(', ');
  const phase = [nameOfPhase(state), [...amount(state), ...pace(state)].join(', ')].filter(Boolean).join(': ');
  return [job, phase, tasksOf(state), ...state.disks.map(longDisk), memoryOf(state)].filter(Boolean).join('; ');
}

function jobParts(state: JobState, hasBar: boolean): string[] {
  const percent = percentDone(state);
  const filled = Math.floor(((percent ?? 0) / 100) * BAR_COLUMNS);
  const bar = hasBar ? `[${'='.repeat(filled)}${'-'.repeat(BAR_COLUMNS - filled)}] ` : '';
  const done = percent === undefined ? [] : [`${bar}${String(percent).padStart(3)}%`];
  return [...done, ...timeLeft(state), nameOfPhase(state), ...amount(state)];
}

function paceParts(state: JobState, hasBudget: boolean): string[] {
  return [...pace(state), memoryOf(state, hasBudget)].filter(Boolean);
}

function disksLine(disks: readonly DiskRate[], room: number): string {
  const short = disks.map(shortDisk);
  const fewer = short.slice(1).map((_, i) => [...short.slice(0, -1 - i), `and ${i + 1} more`]);
  return longestFit([disks.map(longDisk), short, ...fewer, short], room);
}

function longDisk(disk: DiskRate): string {
  const { name, read, written, calls } = wordsOf(disk);
  return `${name} reads ${read}, writes ${written}, ${calls} of ${disk.callLimit} calls`;
}

function shortDisk(disk: DiskRate): string {
  const { name, read, written, calls } = wordsOf(disk);
  return `${name} r ${read} w ${written} ${calls}/${disk.callLimit}`;
}

function wordsOf({ name, readBytesPerSecond, writtenBytesPerSecond, meanCalls }: DiskRate) {
  const shown = oneLine(name);
  return {
    name: columnsOf(shown) <= MOST_NAME_COLUMNS ? shown : `${cut(shown, MOST_NAME_COLUMNS - 3)}...`,
    read: `${formatBytes(readBytesPerSecond)}/s`,
    written: `${formatBytes(writtenBytesPerSecond)}/s`,
    calls: meanCalls.toFixed(meanCalls < 9.95 ? 1 : 0),
  };
}

/** `3 tasks run, 4 wait (Resources)`. */
function tasksOf({ tasks }: JobState): string {
  if (tasks === undefined) return '';
  const { running, waiting, reasons } = tasks;
  const runs = running === 0 ? [] : [`${formatPlural(running, 'task')} ${running === 1 ? 'runs' : 'run'}`];
  const why = reasons.length === 0 ? '' : ` (${oneLine(reasons.join(', '))})`;
  const waits = waiting === 0 ? [] : [`${formatPlural(waiting, 'task')} ${waiting === 1 ? 'waits' : 'wait'}${why}`];
  return [...runs, ...waits].join(', ');
}

/** The budget is for records alone: the process has more. */
function memoryOf({ memory }: JobState, hasBudget = true): string {
  if (memory === undefined) return '';
  const { residentBytes, budgetBytes } = memory;
  const budget = !hasBudget || budgetBytes === undefined ? '' : ` (-S ${formatBudget(budgetBytes)})`;
  return `memory ${formatBytes(residentBytes)}${budget}`;
}

/** Rounded down: only the summary tells the end. */
function percentDone({ jobDone }: JobState): number | undefined {
  return jobDone === undefined ? undefined : Math.min(99, Math.floor(jobDone * 100));
}

function timeLeft({ jobSecondsLeft }: JobState): string[] {
  return jobSecondsLeft === undefined ? [] : [`${formatWholeSeconds(Math.ceil(jobSecondsLeft))} left`];
}

/** The phases as people see them; programs get the library's own names. */
function nameOfPhase(state: JobState): string {
  const { pass, passes } = passOf(state);
  const { member } = state;
  const name = pass === null ? state.phase : `pass ${pass} of ${passes}`;
  return member === undefined ? name : `${name} for member ${member.number} of ${member.of}`;
}

/** A commit has no bytes to count. */
function amount({ phase, bytesDone, bytesTotal }: JobState): string[] {
  if (phase === 'commit') return [];
  return [`${formatBytes(bytesDone)} of ${bytesTotal === undefined ? 'an unknown total' : formatBytes(bytesTotal)}`];
}

function pace({ phase, bytesPerSecond, meanBytesPerSecond }: JobState): string[] {
  if (phase === 'commit' || meanBytesPerSecond === 0) return [];
  return [`${formatBytes(bytesPerSecond)}/s now`, `${formatBytes(meanBytesPerSecond)}/s mean`];
}

/** The first form that fits; else of the last one as many parts as fit, from the first on. */
function longestFit(forms: readonly (readonly string[])[], room: number): string {
  const shortest = forms.at(-1) ?? [];
  const shorter = shortest.slice(1).map((_, i) => shortest.slice(0, -1 - i));
  const lines = [...forms, ...shorter].map((parts) => parts.join('  '));
  return lines.find((line) => columnsOf(line) <= room) ?? cut(shortest[0] ?? '', room);
}

/** The most columns that any terminal needs for a text. What is not ASCII may take two: terminals do not agree. */
function columnsOf(text: string): number {
  let columns = 0;
  for (const character of text) columns += character < '\x80' ? 1 : 2;
  return columns;
}

/** Cuts only between characters as a person sees them. */
function cut(text: string, room: number): string {
  let fitting = '';
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    if (columnsOf(fitting + segment) > room) break;
    fitting += segment;
  }
  return fitting.trimEnd();
}
