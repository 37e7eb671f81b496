/**
 * The words of a call, byte for byte. Node decodes them as UTF-8 and puts U+FFFD in place of other bytes; Linux still has
 * them as they were. A byte that is not UTF-8 becomes half a surrogate pair here, U+DC00 + byte, which no UTF-8 decodes
 * to. So words stay strings, and none of their bytes is lost.
 */
import { readFileSync } from 'node:fs';

const REPLACEMENT = '\ufffd';
const FIRST_RAW = 0xdc80;
const LAST_RAW = 0xdcff;

/** @param words the last words of this process as Node has them. @returns the same, with all their bytes. */
export function rawWords(words: readonly string[]): readonly string[] {
  if (!words.some((word) => word.includes(REPLACEMENT))) return words;
  let line: Buffer;
  try {
    line = readFileSync('/proc/self/cmdline');
  } catch {
    return words;
  }
  const raw = wordsOfLine(line).slice(-words.length);
  // Not those words: some other system has another /proc, or a program changed its own command line.
  const areSame = raw.length === words.length && raw.every((bytes, i) => bytes.toString() === words[i]);
  return areSame ? raw.map(wordOfBytes) : words;
}

/** Each word ends in NUL. */
function wordsOfLine(line: Buffer): Buffer[] {
  const words: Buffer[] = [];
  for (let start = 0; start < line.byteLength; ) {
    const end = line.indexOf(0, start);
    words.push(line.subarray(start, end));
    start = end + 1;
  }
  return words;
}

export function wordOfBytes(bytes: Uint8Array): string {
  const text = Buffer.from(bytes).toString();
  if (!text.includes(REPLACEMENT)) return text;
  let word = '';
  for (let at = 0; at < bytes.byteLength; ) {
    const letter = letterAt(bytes, at);
    word += letter ?? String.fromCharCode(0xdc00 + (bytes[at] ?? 0));
    at += letter === undefined ? 1 : Buffer.byteLength(letter);
  }
  return word;
}

/** The UTF-8 character that begins at a byte; undefined if none does. */
function letterAt(bytes: Uint8Array, at: number): string | undefined {
  for (let byteLength = 1; byteLength <= 4 && at + byteLength <= bytes.byteLength; byteLength++) {
    const letter = Buffer.from(bytes.subarray(at, at + byteLength));
    if (Buffer.from(letter.toString()).equals(letter)) return letter.toString();
  }
  return undefined;
}

export function bytesOfWord(word: string): Buffer {
  if (!hasRawBytes(word)) return Buffer.from(word);
  return Buffer.concat(
    [...word].map((letter) => (hasRawBytes(letter) ? Buffer.of(letter.charCodeAt(0) & 0xff) : Buffer.from(letter))),
  );
}

/** Whether a word has bytes that are not UTF-8. */
export function hasRawBytes(word: string): boolean {
  return [...word].some(
    (letter) => letter.length === 1 && letter.charCodeAt(0) >= FIRST_RAW && letter.charCodeAt(0) <= LAST_RAW,
  );
}
