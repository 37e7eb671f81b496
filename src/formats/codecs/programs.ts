/**
 * Codecs that are programs of their own: bzip2, xz and lz4, by the tools of their authors, and the program that the user
 * names. Each input goes to one on its standard input; what the program writes to standard output is the decoded input,
 * and its exit code says whether it decoded all of it.
 *
 * The input goes through a pipe, so that gates of devices, progress and the check for changed files work as for every
 * input. A program that ends before it has read everything is found out if more is left than a pipe holds.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { corruptInput, InputError, type PileshufError, SystemError, UsageError } from '../../errors.js';
import { errnoOf, reasonOf } from '../../io/io-error.js';
import { ChildProgram, isProgram, type ProgramEnd } from '../../machine/child-program.js';
import type { Codec, CompressedSource } from '../codec.js';
import { runThrough } from './program-run.js';

/**
 * A signal for the whole process group, such as Ctrl-C, may end the program before this process sees the signal itself.
 */
const GRACE_MILLISECONDS = 200;
/** Of the longest magic. */
const MAGIC_BYTES = 10;
/** Length of the program's standard error in a message. */
const MOST_ERROR_CHARACTERS = 500;

interface DecodingProgram {
  /** Name and arguments. */
  readonly words: readonly string[];
  /** The error for an input when there is no such program. */
  missing(path: string): PileshufError;
  /** Its message when it omits a part of the input and nevertheless exits with 0. */
  readonly leavingOut?: RegExp;
}

type CodecTraits = Pick<Codec, 'name' | 'suffixes' | 'usualExpansion' | 'matches'>;

function codecByProgram(traits: CodecTraits, program: DecodingProgram): Codec {
  return {
    ...traits,
    load: async (path) => {
      if (!isProgram(program.words[0] ?? '')) throw program.missing(path);
    },
    // A good estimate is not worth starting it for a part of an input, and it may do more than decode.
    mostExpansion: Number.POSITIVE_INFINITY,
    decodeHead: () => ({ kept: new Uint8Array(), byteLength: 0 }),
    decode: (source) => decode(program, source),
  };
}

/** The program that the user named, for all inputs. */
export function namedProgram(words: readonly string[]): Codec {
  const traits: CodecTraits = { name: 'program', suffixes: [], usualExpansion: 4, matches: () => true };
  return codecByProgram(traits, {
    words,
    missing: () => new UsageError(`\`decompressProgram\`: there is no program ${words[0]}; check the name and PATH`),
  });
}

/** 'BZh' may be text, so the magic includes the size of blocks and the start of the first block, or of the end. */
export const bzip2 = known(
  'bzip2',
  ['.bz2'],
  5,
  /^425a683[1-9](314159265359|177245385090)/,
  // It ignores all of them, even another file behind padding, and exits with 0.
  /trailing garbage/,
);

export const xz = known('xz', ['.xz'], 5, /^fd377a585a00/);

/** Frames, and the legacy format. */
export const lz4 = known('lz4', ['.lz4'], 2, /^(04224d18|02214c18)/);

/**
 * @param magicHex the beginning of a file, in hex.
 * @param leavingOut the tool's message about bytes that it ignores.
 */
function known(
  name: string,
  suffixes: readonly string[],
  usualExpansion: number,
  magicHex: RegExp,
  leavingOut?: RegExp,
): Codec {
  const matches = (head: Uint8Array) => magicHex.test(Buffer.from(head.subarray(0, MAGIC_BYTES)).toString('hex'));
  const missing = (path: string) =>
    new InputError(
      'ERR_INPUT_UNREADABLE',
      `${path} is compressed with ${name}, and there is no program ${name} on PATH; install it, or name another with \`decompressProgram\``,
    );
  const program = { words: [name, '-dc'], missing, ...(leavingOut && { leavingOut }) };
  return codecByProgram({ name, suffixes, usualExpansion, matches }, program);
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
      throw failure(program, path, end, child.errorText);
    }
    if (!(await hasReadAll())) {
      const problem = 'ended before it had read all of the input; expected a program that decodes all of it';
      throw corruptInput(path, `${nameOf(program)} ${problem}`);
    }
    if (program.leavingOut?.test(await child.allErrorText())) {
      const said = printable(child.errorText);
      throw corruptInput(path, `${nameOf(program)} left out a part of the input and said: ${said}`);
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

function failure(program: DecodingProgram, path: string, { exitCode, signal }: ProgramEnd, text: string): InputError {
  const said = printable(text);
  const words = said === '' ? 'and said nothing' : `and said: ${said}`;
  return signal === null
    ? corruptInput(path, `${nameOf(program)} ended with exit code ${exitCode} ${words}`)
    : new InputError('ERR_INPUT_UNREADABLE', `${path}: ${nameOf(program)} was ended by ${signal} ${words}`);
}

function nameOf({ words }: DecodingProgram): string {
  return `\`${printable(words.map((word) => (/^\S+$/.test(word) ? word : `'${word}'`)).join(' '))}\``;
}

/** One line without control characters; of a long text, the end. */
function printable(text: string): string {
  const line = text
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .replaceAll('\ufffd', '?')
    .trim();
  return line.length > MOST_ERROR_CHARACTERS ? `...${line.slice(-MOST_ERROR_CHARACTERS)}` : line;
}
