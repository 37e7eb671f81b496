/**
 * Codecs that are programs of their own: each input is given to one on its standard input, and what it writes to
 * standard output is what the input decodes to. Its exit code says whether it is all of it.
 *
 * The input goes through a pipe, so that the gates of devices, the progress and a changing file are seen to
 * as always, and a program that ends before it has read all is found out, as far as more is left than a pipe holds.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { InputError, type PileshufError, SystemError, UsageError } from '../../errors.js';
import { ChildProgram, type ProgramEnd } from '../../io/child-program.js';
import { errnoOf } from '../../io/errno.js';
import { isProgram } from '../../io/find-program.js';
import { reasonOf } from '../../io/io-error.js';
import type { Codec, CompressedSource } from '../codec.js';
import { freeBytes } from '../free-bytes.js';

/** How often is looked whether the job was asked to stop, while the program is silent. */
const WATCH_MILLISECONDS = 50;
/**
 * A signal for the whole process group, such as Ctrl-C, may end the program before this process knows that it was
 * meant as well.
 */
const GRACE_MILLISECONDS = 200;
/** Of what the program wrote to standard error, in a message. */
const MOST_ERROR_CHARACTERS = 500;

export interface DecodingProgram {
  /** Name and arguments. */
  readonly words: readonly string[];
  /** The error for an input when there is no such program. */
  missing(path: string): PileshufError;
  /** What it says when it leaves out a part of the input and ends well all the same. */
  readonly leavingOut?: RegExp;
}

type CodecTraits = Pick<Codec, 'name' | 'suffixes' | 'usualExpansion' | 'matches'>;

export function codecByProgram(traits: CodecTraits, program: DecodingProgram): Codec {
  return {
    ...traits,
    load: async (path) => {
      if (!isProgram(program.words[0] ?? '')) throw program.missing(path);
    },
    // To start it for a part of an input would cost more than a good estimate is worth, and it may do more than decode.
    decodeHead: () => new Uint8Array(),
    decode: (source) => decode(program, source),
  };
}

/** The one that the user named, for all inputs. */
export function namedProgram(words: readonly string[]): Codec {
  const traits: CodecTraits = { name: 'program', suffixes: [], usualExpansion: 4, matches: () => true };
  return codecByProgram(traits, {
    words,
    missing: () => new UsageError(`\`decompressProgram\`: there is no program ${words[0]}; check the name and PATH`),
  });
}

async function* decode(program: DecodingProgram, source: CompressedSource): AsyncGenerator<Uint8Array> {
  const { path } = source;
  const child = await start(program, path);
  let stopped: { readonly reason: unknown } | undefined;
  const stop = (reason: unknown) => {
    stopped ??= { reason };
    return child.stop();
  };
  const feeding = feed(child, source).catch(stop);
  const watch = setInterval(() => {
    try {
      source.throwIfAborted?.();
    } catch (error) {
      void stop(error);
    }
  }, WATCH_MILLISECONDS);
  try {
    for await (const piece of child.output) {
      yield piece;
      freeBytes(piece);
    }
    const end = await child.ended;
    if (stopped === undefined && end.exitCode !== 0) {
      await delay(GRACE_MILLISECONDS);
      source.throwIfAborted?.();
      throw failure(program, path, end, child.errorText);
    }
    if ((await feeding) === false && stopped === undefined) throw leftUnread(program, path);
    if (program.leavingOut?.test(await child.allErrorText()) && stopped === undefined) {
      throw leftOut(program, path, child.errorText);
    }
  } catch (error) {
    // What it is stopped for comes first; that its output ends is what follows.
    if (stopped === undefined) throw error;
  } finally {
    clearInterval(watch);
    await child.stop();
  }
  if (stopped !== undefined) throw stopped.reason;
}

/** @returns false when the program did not take all of it. */
async function feed(child: ChildProgram, source: CompressedSource): Promise<boolean> {
  for (let bytes = await source.next(); bytes.byteLength > 0; bytes = await source.next()) {
    if (!(await child.write(bytes))) return false;
    freeBytes(bytes);
  }
  child.endInput();
  return true;
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
    ? new InputError('ERR_INPUT_CORRUPT', `${path}: ${nameOf(program)} ended with exit code ${exitCode} ${words}`)
    : new InputError('ERR_INPUT_UNREADABLE', `${path}: ${nameOf(program)} was ended by ${signal} ${words}`);
}

function leftUnread(program: DecodingProgram, path: string): InputError {
  return new InputError(
    'ERR_INPUT_CORRUPT',
    `${path}: ${nameOf(program)} ended before it had read all of the input; expected a program that decodes all that it is given`,
  );
}

function leftOut(program: DecodingProgram, path: string, text: string): InputError {
  return new InputError(
    'ERR_INPUT_CORRUPT',
    `${path}: ${nameOf(program)} has left out a part of the input and said: ${printable(text)}`,
  );
}

function nameOf({ words }: DecodingProgram): string {
  return `\`${printable(words.map((word) => (/^\S+$/.test(word) ? word : `'${word}'`)).join(' '))}\``;
}

/** In one line that no terminal takes for a command; the end of what is long. */
function printable(text: string): string {
  const line = text
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .replaceAll('\ufffd', '?')
    .trim();
  return line.length > MOST_ERROR_CHARACTERS ? `...${line.slice(-MOST_ERROR_CHARACTERS)}` : line;
}
