/**
 * The value of `--decompress-program`: a program and its arguments in one string, taken apart without a shell.
 */
import { UsageError } from '../index.js';

/** In single quotes, in double quotes, bare, between words, or a quote without another. */
const PIECE = /'([^']*)'|"([^"]*)"|([^\s'"]+)|(\s+)|['"]/g;

/**
 * Words are divided by blanks. What stands in quotes, single or double, is taken as it is, and no other character
 * means anything. @throws UsageError
 */
export function parseDecompressProgram(text: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  for (const [piece, single, double, bare, blanks] of text.matchAll(PIECE)) {
    const part = single ?? double ?? bare;
    if (part !== undefined) word = (word ?? '') + part;
    else if (blanks === undefined)
      throw new UsageError(`--decompress-program ${text}: the quote ${piece} is not closed`);
    else if (word !== undefined) {
      words.push(word);
      word = undefined;
    }
  }
  if (word !== undefined) words.push(word);
  if (words[0] !== undefined && words[0] !== '') return words;
  throw new UsageError("--decompress-program: expected a program and its arguments, such as 'xz -dc'");
}
