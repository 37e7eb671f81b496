/**
 * `shuf` as one sentence: parse the words, take the input, order it, write it. A few records are ordered here; for all
 * others the library is loaded (`shuf-job.ts`). So this file and those that it imports are few and small: nothing of them
 * may load the rest of the program.
 */
import { closeSync, fstatSync } from 'node:fs';
import { createRequire } from 'node:module';
import { cutIntoRecords, joinRecords, type RecordList } from '../../formats/record-list.js';
import { areFew, orderFew } from '../../jobs/order-few.js';
import { drawSeed } from '../../keys.js';
import type { NumberRange } from './counts.js';
import { helpText } from './help-text.js';
import { placeOfOutput, writeStream } from './output-place.js';
import { quote } from './quoted.js';
import { seedOfSource } from './random-source.js';
import { bytesOfWord, rawWords } from './raw-words.js';
import { parseShufWords, type ShufJob } from './shuf-call.js';
import { ShufError } from './shuf-error.js';
import type { GivenInput } from './shuf-job.js';
import { openInput, takeInput } from './taken-input.js';
import { ClosedOutput, readSome, writeAll } from './waiting-calls.js';

const NEWLINE = 0x0a;
const NUL = 0x00;

/** Open files, by their numbers. */
export interface StandardFiles {
  readonly input: number;
  readonly output: number;
  readonly error: number;
}

/** How the process must end: with an exit code, or as a signal ends it. */
export type ShufEnd = number | NodeJS.Signals;

/**
 * @param words behind the name of the program, the last ones of this process.
 * @param program what a user types to call it, for advice.
 * @param standard other files than those of this process, for tests. The library writes to its standard output alone.
 */
export async function runShuf(
  words: readonly string[],
  program: string,
  standard: StandardFiles = { input: 0, output: 1, error: 2 },
): Promise<ShufEnd> {
  try {
    const call = parseShufWords(rawWords(words), process.env['POSIXLY_CORRECT'] !== undefined);
    if (call.kind === 'shuffle') return await perform(call, standard);
    const text = call.kind === 'help' ? helpText(program) : `shuf (pileshuf) ${readVersion()}\n`;
    writeAll(standard.output, Buffer.from(text));
    return 0;
  } catch (error) {
    if (error instanceof ClosedOutput) return 'SIGPIPE';
    const message = error instanceof Error ? error.message : String(error);
    const hint = error instanceof ShufError && error.hasHint ? `Try '${program} --help' for more information.\n` : '';
    complain(standard.error, `shuf: ${message}\n${hint}`);
    return 1;
  }
}

/** Ends the process as `runShuf` says. */
export function endProcess(end: ShufEnd): void {
  if (typeof end === 'number') {
    process.exitCode = end;
    return;
  }
  // Node ignores SIGPIPE. Without the last listener, a signal does what it does to other programs.
  const listener = () => {};
  process.on(end, listener);
  process.off(end, listener);
  process.kill(process.pid, end);
}

async function perform(job: ShufJob, standard: StandardFiles): Promise<ShufEnd> {
  const { source, headCount, repeat, output, randomSource } = job;
  const readsStandardInput = headCount !== 0n && source.kind === 'file' && source.path === undefined;
  const taken = headCount === 0n ? NOTHING : takeSource(job, standard.input);
  // Nothing is drawn for nothing: then the source is not opened.
  const seed =
    randomSource === undefined || (taken.isEmpty && !repeat)
      ? drawSeed()
      : await readSeed(randomSource, readsStandardInput ? standard.input : undefined);
  const place = placeOfOutput(output);
  if (taken.isEmpty && repeat && headCount !== 0n) throw new ShufError('no lines to repeat');
  // With -n 0 there is nothing to repeat.
  const repeats = repeat && !taken.isEmpty;
  if (taken.kind === 'few' && place.kind === 'stream' && !repeats) {
    const ordered = orderFew(taken.list, seed, headCount === undefined ? undefined : Number(headCount));
    if (place.path === undefined) writeAll(standard.output, ordered);
    else writeStream(place.path, ordered);
    return 0;
  }
  const { shuffleMany, shuffleNumbers } = await import('./shuf-job.js');
  const large = { ...job, repeat: repeats, seed, output: place.path };
  if (taken.kind === 'range') return shuffleNumbers(large, taken.range);
  if (taken.kind === 'many') return shuffleMany(large, taken.input);
  const isLimit = repeats || (headCount !== undefined && headCount < taken.list.ends.length);
  return shuffleMany({ ...large, headCount: isLimit ? headCount : undefined }, { records: recordsOf(taken.list) });
}

/** What was read of the source: all of few records, or where to find many. */
type TakenSource = { readonly isEmpty: boolean } & (
  | { readonly kind: 'few'; readonly list: RecordList }
  | { readonly kind: 'many'; readonly input: GivenInput }
  | { readonly kind: 'range'; readonly range: NumberRange }
);

const NOTHING: TakenSource = {
  kind: 'few',
  list: { bytes: new Uint8Array(), ends: new Float64Array() },
  isEmpty: true,
};

function takeSource({ source, zeroTerminated }: ShufJob, standardInput: number): TakenSource {
  const delimiter = zeroTerminated ? NUL : NEWLINE;
  if (source.kind === 'range') {
    const isEmpty = source.range.high < source.range.low;
    return isEmpty ? NOTHING : { ...source, isEmpty };
  }
  if (source.kind === 'words') {
    const records = source.words.map(bytesOfWord);
    const list = joinRecords(records, Uint8Array.of(delimiter));
    if (areFew(list)) return few(list);
    return { kind: 'many', input: { records }, isEmpty: false };
  }
  const taken = takeInput(source.path, standardInput);
  if (taken.kind === 'few') return few(cutIntoRecords(taken.bytes, delimiter));
  return { kind: 'many', input: taken.input, isEmpty: false };
}

function few(list: RecordList): TakenSource {
  return { kind: 'few', list, isEmpty: list.ends.length === 0 };
}

/** Without their delimiters. */
function recordsOf({ bytes, ends }: RecordList): Uint8Array[] {
  return Array.from(ends, (end, i) => bytes.subarray(ends[i - 1] ?? 0, end - 1));
}

/** @param input the open file of standard input, if it is read as input. @throws ShufError */
async function readSeed(path: string, input: number | undefined): Promise<string> {
  const fd = openInput(path);
  try {
    // What both share is read as input, to its end.
    const isUsedUp = input !== undefined && areOnePipe(fd, input);
    const seed = isUsedUp ? undefined : await seedOfSource((bytes, offset) => readSome(fd, bytes, offset));
    if (seed !== undefined) return seed;
  } catch (error) {
    throw error instanceof ShufError ? new ShufError(`${quote(path)}: ${error.message}`) : error;
  } finally {
    closeSync(fd);
  }
  throw new ShufError(`${quote(path)}: end of file`);
}

function areOnePipe(fd: number, other: number): boolean {
  const [a, b] = [fstatSync(fd), fstatSync(other)];
  return a.isFIFO() && a.dev === b.dev && a.ino === b.ino;
}

function readVersion(): string {
  const description: { version: string } = createRequire(import.meta.url)('pileshuf/package.json');
  return description.version;
}

/** Standard error may be closed: the exit code tells of the failure all the same. */
function complain(fd: number, text: string): void {
  try {
    writeAll(fd, Buffer.from(text));
  } catch {
    // Nobody reads it.
  }
}
