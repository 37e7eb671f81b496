/**
 * bzip2, xz and lz4, decoded by the tools of their authors.
 */
import { InputError } from '../../errors.js';
import type { Codec } from '../codec.js';
import { codecByProgram } from './by-program.js';

/** 'BZh', the size of blocks, and what the first block begins with, or the end where there is none: 'BZh' may be text. */
export const bzip2 = known(
  'bzip2',
  ['.bz2'],
  5,
  /^425a683[1-9](314159265359|177245385090)/,
  // It ignores them all, be it another file behind some padding, and ends well.
  /trailing garbage/,
);

export const xz = known('xz', ['.xz'], 5, /^fd377a585a00/);

/** Frames, and the format before them. */
export const lz4 = known('lz4', ['.lz4'], 2, /^(04224d18|02214c18)/);

/**
 * @param magicHex what a file begins with, in hex.
 * @param leavingOut what the tool says of bytes that it ignores.
 */
function known(
  name: string,
  suffixes: readonly string[],
  usualExpansion: number,
  magicHex: RegExp,
  leavingOut?: RegExp,
): Codec {
  const matches = (head: Uint8Array) => magicHex.test(Buffer.from(head).toString('hex'));
  const missing = (path: string) =>
    new InputError(
      'ERR_INPUT_UNREADABLE',
      `${path} is compressed with ${name}, and there is no program ${name} on PATH; install it, or name another with \`decompressProgram\``,
    );
  const program = { words: [name, '-dc'], missing, ...(leavingOut && { leavingOut }) };
  return codecByProgram({ name, suffixes, usualExpansion, matches }, program);
}
