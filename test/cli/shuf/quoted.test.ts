/** Words in messages, between the quotes of GNU's programs. */
import { describe, expect, it } from 'vitest';
import { quote, quoteName } from '#src/cli/shuf/quoted.js';
import { bytesOfWord, hasRawBytes, wordOfBytes } from '#src/cli/shuf/raw-words.js';

const raw = wordOfBytes(Uint8Array.of(0x61, 0xff, 0x62));

describe('quote', () => {
  it.each([
    ['', "''"],
    ['a b', "'a b'"],
    ["it's", "'it\\'s'"],
    ['a\\b"', "'a\\\\b\"'"],
    ['\x07\b\t\n\v\f\r', "'\\a\\b\\t\\n\\v\\f\\r'"],
    ['\x01\x1b\x7f', "'\\001\\033\\177'"],
    ['\x85', "'\\302\\205'"],
    ['é漢😀', "'é漢😀'"],
    [raw, "'a\\377b'"],
  ])('of %j', (word, quoted) => {
    expect(quote(word)).toBe(quoted);
  });
});

describe('quoteName', () => {
  it.each<readonly [string, string]>([
    ['', "''"],
    ['a-Z0_9/.,+%@]', 'a-Z0_9/.,+%@]'],
    ['é', 'é'],
    ...[...' !"$&()*:;<=>?[\\^`|'].map((letter) => [`a${letter}`, `'a${letter}'`] as const),
    ['#a', "'#a'"],
    ['~a', "'~a'"],
    ['a#~', 'a#~'],
    ['{', "'{'"],
    ['}', "'}'"],
    ['a{}', 'a{}'],
    ["it's", '"it\'s"'],
    ["it's a: b", '"it\'s a: b"'],
    ["it's $", "'it'\\''s $'"],
    ["it's #", "'it'\\''s #'"],
    ['a\nb', "'a'$'\\n''b'"],
    ['a\n\tb', "'a'$'\\n\\t''b'"],
    ['a\n', "'a'$'\\n'"],
    ['\n', "''$'\\n'"],
    ["'\n", "''\\'''$'\\n'"],
    [raw, "'a'$'\\377''b'"],
  ])('of %j', (name, quoted) => {
    expect(quoteName(name)).toBe(quoted);
  });
});

describe('words of bytes', () => {
  it.each([
    [[0x61]],
    [[0xff]],
    [[0xc3, 0xa9, 0xc3]],
    [[0xed, 0xb2, 0x80]],
    [[0xf0, 0x9f, 0x98, 0x80, 0x80]],
    [[0xef, 0xbf, 0xbd, 0xfe]],
    [[0xc0, 0x80]],
  ])('keep the bytes %j', (bytes) => {
    expect([...bytesOfWord(wordOfBytes(Uint8Array.from(bytes)))]).toEqual(bytes);
  });

  it('are plain text where they are UTF-8', () => {
    const text = 'a é 漢 😀 \ufffd';
    expect(wordOfBytes(Buffer.from(text))).toBe(text);
    expect([hasRawBytes(text), hasRawBytes(raw)]).toEqual([false, true]);
  });
});
