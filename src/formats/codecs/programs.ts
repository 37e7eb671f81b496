/**
 * Codecs that are programs: bzip2, xz and lz4, by the tools of their authors, and the program that the user names. A
 * program reads an input from standard input and writes the decoded bytes to standard output. Its exit code says
 * whether it decoded all of it.
 *
 * The input goes through a pipe, so that gates of devices, progress and the check for changed files work as for every
 * input. A program that ends before it has read everything is noticed if more is left than a pipe holds.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { corruptInputError, InputError, type PileshufError, SystemError, UsageError } from '../../errors.js';
import { errnoOf, reasonOf } from '../../io/io-error.js';
import { ChildProgram, isProgram, type ProgramEnd } from '../../machine/child-program.js';
import { freeBytes } from '../../machine/free-bytes.js';
import type { Codec, CompressedSource } from '../codec.js';

/** Ctrl-C and other signals for the whole process group may end the program before this process sees them. */
const GRACE_MILLISECONDS = 200;
const HEAD_BYTES = 32;
const MOST_ERROR_CHARACTERS = 500;

interface DecodingProgram extends Pick<Codec, 'name' | 'suffixes' | 'usualExpansion' | 'matches' | 'mayHoldNothing'> {
  readonly words: readonly string[];
  missing(path: string): PileshufError;
  /** Matches what it says when it omits a part of the input and nevertheless exits with 0. */
  readonly leavingOut?: RegExp | undefined;
}

function codecByProgram(program: DecodingProgram): Codec {
  const { name, suffixes, usualExpansion, matches, mayHoldNothing = () => true } = program;
  return {
    name,
    suffixes,
    usualExpansion,
    matches,
    mayHoldNothing,
    load: async (path) => {
      if (!isProgram(program.words[0] ?? '')) throw program.missing(path);
    },
    // An estimate is not worth starting a program for a part of an input, and the program may do more than decode.
    mostExpansion: Number.POSITIVE_INFINITY,
    decodeHead: () => ({ bytes: new Uint8Array(), decodedBytes: 0 }),
    decode: (source) => decode(program, source),
  };
}

export function userProgram(words: readonly string[]): Codec {
  const missing = () =>
    new UsageError(`\`decompressProgram\`: there is no program ${words[0]}; check the name and PATH`);
  return codecByProgram({ name: 'program', suffixes: [], usualExpansion: 4, matches: () => true, words, missing });
}

/** 'BZh' may be text, so the magic includes the block size and the start of the first block, or of the end. */
const BZIP2_MAGIC = /^425a683[1-9](314159265359|177245385090)/;
/** bzip2 ignores all bytes after the data, even another file after padding, and exits with 0. */
export const bzip2 = codecOfTool('bzip2', '.bz2', 5, BZIP2_MAGIC, /^.{8}17/, /trailing garbage/);

/** An index follows the header of an empty stream. */
export const xz = codecOfTool('xz', '.xz', 5, /^fd377a585a00/, /^.{24}00/);

/** Magic bytes of frames and of the legacy format. The end mark of an empty frame follows its header of 7 to 19 bytes. */
export const lz4 = codecOfTool(
  'lz4',
  '.lz4',
  2,
  /^(04224d18|02214c18)/,
  /^.{9}([0246].{4}|[8ace].{20}|[1357].{12}|[9bdf].{28})0{8}|^02|^5.2a4d18/,
);

/** @param emptyHex matches files whose first member has no data. */
function codecOfTool(
  name: string,
  suffix: string,
  usualExpansion: number,
  magicHex: RegExp,
  emptyHex: RegExp,
  leavingOut?: RegExp,
): Codec {
  const begins = (as: RegExp) => (head: Uint8Array) =>
    as.test(Buffer.from(head.subarray(0, HEAD_BYTES)).toString('hex'));
  const missing = (path: string) =>
    new InputError(
      'ERR_INPUT_UNREADABLE',
      `${path} is compressed with ${name}, and there is no program ${name} on PATH; install it, or name another with \`decompressProgram\``,
    );
  return codecByProgram({
    name,
    suffixes: [suffix],
    usualExpansion,
    matches: begins(magicHex),
    mayHoldNothing: begins(emptyHex),
    words: [name, '-dc'],
    missing,
    leavingOut,
  });
}

async function* decode(program: DecodingProgram, source: CompressedSource): AsyncGenerator<Uint8Array, void> {
  const { path } = source;
  source.onDecoder?.(program.words[0] ?? '');
  const child = await start(program, path);
  try {
    const { end, hasReadAll } = yield* runThrough(child, source);
    if (end.exitCode !== 0) {
      await delay(GRACE_MILLISECONDS);
      source.throwIfAborted?.();
      throw programError(program, path, end, child.errorText);
    }
    if (!(await hasReadAll())) {
      const problem = 'ended before it had read all of the input; expected a program that decodes all of it';
      throw corruptInputError(path, `${nameOf(program)} ${problem}`);
    }
    if (program.leavingOut?.test(await child.allErrorText())) {
      const said = printable(child.errorText);
      throw corruptInputError(path, `${nameOf(program)} left out a part of the input and said: ${said}`);
    }
  } finally {
    await child.stop();
  }
}

async function start(program: DecodingProgram, path: string): Promise<ChildProgram> {
  try {
    return await ChildProgram.start(program.words);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') throw program.missing(path);
    throw new SystemError('ERR_IO', `${path}: cannot start ${nameOf(program)}: ${reasonOf(error)}`, { cause: error });
  }
}

function programError(
  program: DecodingProgram,
  path: string,
  { exitCode, signal }: ProgramEnd,
  text: string,
): InputError {
  const said = printable(text);
  const words = said === '' ? 'and said nothing' : `and said: ${said}`;
  return signal === null
    ? corruptInputError(path, `${nameOf(program)} ended with exit code ${exitCode} ${words}`)
    : new InputError('ERR_INPUT_UNREADABLE', `${path}: ${nameOf(program)} was ended by ${signal} ${words}`);
}

function nameOf({ words }: DecodingProgram): string {
  return `\`${printable(words.map((word) => (/^\S+$/.test(word) ? word : `'${word}'`)).join(' '))}\``;
}

/** One line without control characters, of a long text only the end. */
function printable(text: string): string {
  const line = text
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .replaceAll('\ufffd', '?')
    .trim();
  return line.length > MOST_ERROR_CHARACTERS ? `...${line.slice(-MOST_ERROR_CHARACTERS)}` : line;
}

/** The time between two checks whether the job should stop while the program is silent. */
const WATCH_MILLISECONDS = 50;

interface ProgramRun {
  readonly end: ProgramEnd;
  /**
   * Returns whether the program read the whole input, as far as this process can tell: a pipe may hold the last few
   * hundred KB. Waits for the source, and throws what it throws.
   */
  hasReadAll(): Promise<boolean>;
}

interface OnPieces {
  readonly onFed?: (bytes: Uint8Array) => void;
  readonly onMade?: (piece: Uint8Array) => void;
}

/**
 * Gives what the program makes of the input; a piece is good until the next one. The caller stops `child`, whatever
 * happens.
 */
export async function* runThrough(
  child: ChildProgram,
  source: CompressedSource,
  { onFed = freeBytes, onMade }: OnPieces = {},
): AsyncGenerator<Uint8Array, ProgramRun, void> {
  let stopped: { readonly reason: unknown } | undefined;
  const throwIfStopped = () => {
    if (stopped !== undefined) throw stopped.reason;
  };
  const stop = async (reason: unknown): Promise<false> => {
    stopped ??= { reason };
    await child.stop();
    return false;
  };
  const feeding = feed(child, source, onFed).catch(stop);
  const watch = setInterval(() => {
    try {
      source.throwIfAborted?.();
    } catch (error) {
      void stop(error);
    }
  }, WATCH_MILLISECONDS);
  try {
    for await (const piece of child.output) {
      onMade?.(piece);
      yield piece;
    }
    const end = await child.ended;
    throwIfStopped();
    const hasReadAll = async () => {
      const readAll = await feeding;
      throwIfStopped();
      return readAll;
    };
    return { end, hasReadAll };
  } catch (error) {
    // The reason for stopping comes first: the end of the output is a consequence.
    throwIfStopped();
    throw error;
  } finally {
    clearInterval(watch);
  }
}

async function feed(
  child: ChildProgram,
  source: CompressedSource,
  onFed: (bytes: Uint8Array) => void,
): Promise<boolean> {
  for (let bytes = await source.next(); bytes.byteLength > 0; bytes = await source.next()) {
    if (!(await child.write(bytes))) return false;
    onFed(bytes);
  }
  child.endInput();
  return true;
}
