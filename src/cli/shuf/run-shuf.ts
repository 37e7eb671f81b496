/**
 * `shuf` as one sentence: parse the words, take the input, order it, write it. A few records are ordered here; for all
 * others the library is loaded (`shuf-job.ts`). So this file and those that it imports are few and small: nothing of them
 * may load the rest of the program.
 */
import { createRequire } from 'node:module';
import { cutIntoRecords, joinRecords, type RecordList } from '../../formats/record-list.js';
import { areFew, orderFew } from '../../jobs/order-few.js';
import { drawSeed } from '../../keys.js';
import type { NumberRange } from './counts.js';
import { helpText } from './help-text.js';
import { placeOfOutput, writeStream } from './output-place.js';
import { quote, quoteName } from './quoted.js';
import { seedOfSource } from './random-source.js';
import { bytesOfWord, hasRawBytes, rawWords } from './raw-words.js';
import type { GivenInput } from './shuf-job.js';
import { parseShufWords, type ShufJob } from './shuf-call.js';
import { errnoOf, reasonOf, ShufError } from './shuf-error.js';
import { takeInput } from './taken-input.js';
import { ClosedOutput, writeAll } from './waiting-calls.js';

const STANDARD_ERROR_FD = 2;
const NEWLINE = 0x0a;
const NUL = 0x00;

/** How the process must end: with an exit code, or as a signal ends it. */
export type ShufEnd = number | NodeJS.Signals;

/**
 * @param words behind the name of the program, the last ones of this process.
 * @param program what a user types to call it, for advice.
 */
export async function runShuf(words: readonly string[], program: string): Promise<ShufEnd> {
  try {
    const call = parseShufWords(rawWords(words), process.env['POSIXLY_CORRECT'] !== undefined);
    if (call.kind === 'shuffle') return await perform(call);
    const text = call.kind === 'help' ? helpText(program) : `shuf (pileshuf) ${readVersion()}\n`;
    writeStream(undefined, Buffer.from(text));
    return 0;
  } catch (error) {
    if (error instanceof ClosedOutput) return 'SIGPIPE';
    const message = error instanceof Error ? error.message : String(error);
    const hint = error instanceof ShufError && error.hasHint ? `Try '${program} --help' for more information.\n` : '';
    complain(`shuf: ${message}\n${hint}`);
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

async function perform(job: ShufJob): Promise<ShufEnd> {
  const { headCount, repeat, output, randomSource } = job;
  const taken = headCount === 0n ? NOTHING : takeSource(job);
  // Nothing is drawn for nothing: then the source is not opened.
  const seed = randomSource === undefined || (taken.isEmpty && !repeat) ? drawSeed() : readSeed(randomSource);
  const place = placeOfOutput(output);
  if (taken.isEmpty && repeat && headCount !== 0n) throw new ShufError('no lines to repeat');
  if (taken.kind === 'few' && place.kind === 'stream' && (taken.isEmpty || !repeat)) {
    writeStream(place.path, orderFew(taken.list, seed, headCount === undefined ? undefined : Number(headCount)));
    return 0;
  }
  const { shuffleMany, shuffleNumbers } = await import('./shuf-job.js');
  const large = { ...job, seed, output: place.path };
  if (taken.kind === 'range') return shuffleNumbers(large, taken.range);
  return shuffleMany(large, taken.kind === 'many' ? taken.input : { records: recordsOf(taken.list) });
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

function takeSource({ source, zeroTerminated }: ShufJob): TakenSource {
  const delimiter = zeroTerminated ? NUL : NEWLINE;
  if (source.kind === 'range') return { ...source, isEmpty: source.range.high < source.range.low };
  if (source.kind === 'words') {
    const records = source.words.map(bytesOfWord);
    const list = joinRecords(records, Uint8Array.of(delimiter));
    if (areFew(list)) return few(list);
    return { kind: 'many', input: { records }, isEmpty: false };
  }
  const taken = takeInput(source.path);
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

/** @throws ShufError */
function readSeed(path: string): string {
  let seed: string | undefined;
  try {
    seed = seedOfSource(hasRawBytes(path) ? bytesOfWord(path) : path);
  } catch (error) {
    // A directory can be opened, and not be read.
    if (errnoOf(error) === 'EISDIR') throw new ShufError(`${quote(path)}: read error: ${reasonOf(error)}`);
    throw new ShufError(`${quoteName(path)}: ${reasonOf(error)}`);
  }
  if (seed === undefined) throw new ShufError(`${quote(path)}: end of file`);
  return seed;
}

function readVersion(): string {
  const description: { version: string } = createRequire(import.meta.url)('pileshuf/package.json');
  return description.version;
}

/** Standard error may be closed: the exit code tells of the failure all the same. */
function complain(text: string): void {
  try {
    writeAll(STANDARD_ERROR_FD, Buffer.from(text));
  } catch {
    // Nobody reads it.
  }
}
