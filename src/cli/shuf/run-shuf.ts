/**
 * `shuf` as one sentence: parse the words, take the input, order it, write it. A few records are ordered here; for all
 * others the library is loaded (`shuf-job.ts`). So this file and those that it imports are few and small: nothing of them
 * may load the rest of the program.
 */
import { createRequire } from 'node:module';
import { orderFew } from '../../jobs/order-few.js';
import { drawSeed } from '../../keys.js';
import { isClosedStream } from '../../machine/closed-streams.js';
import { helpText } from './help-text.js';
import { placeOfOutput, writeStream } from './output-place.js';
import { rawWords } from './raw-words.js';
import { readSeed } from './read-seed.js';
import { parseShufWords, type ShufJob } from './shuf-call.js';
import { reasonOf, ShufError } from './shuf-error.js';
import { NOTHING, recordsOf, takeSource } from './taken-source.js';
import { ClosedOutput, writeAll } from './waiting-calls.js';

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
    const message = error instanceof ShufError ? error.message : reasonOf(error);
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
  if (readsStandardInput && isClosedStream(standard.input)) throw new ShufError('read error: Bad file descriptor');
  const taken = headCount === 0n ? NOTHING : takeSource(job, standard.input);
  // Nothing is drawn for nothing: then the source is not opened.
  const seed =
    randomSource === undefined || (taken.isEmpty && !repeat)
      ? drawSeed()
      : await readSeed(randomSource, readsStandardInput ? standard.input : undefined);
  const place = placeOfOutput(output);
  if (place.kind === 'stream' && place.path === undefined && !taken.isEmpty && isClosedStream(standard.output))
    throw new ShufError('write error: Bad file descriptor');
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
