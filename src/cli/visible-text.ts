/**
 * Text that a terminal and a log show as it is. File names may hold newlines, terminal escapes, and characters that are
 * invisible or turn the writing direction round: these must fool neither a program that counts lines nor a person.
 */

/** Control characters, line separators, and what shows nothing itself: format characters and fillers. */
const hiddenCharacter = /[\p{Cc}\p{Zl}\p{Zp}\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;

const escapes: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '\0': '\\0' };

/** `text` on one line, with hidden characters written as escapes. */
export function oneLine(text: string): string {
  return replaceHidden(text, (character) => {
    const code = character.codePointAt(0) ?? 0;
    const hex = code.toString(16);
    if (code > 0xffff) return `\\u{${hex}}`;
    return escapes[character] ?? (code < 0x100 ? `\\x${hex.padStart(2, '0')}` : `\\u${hex.padStart(4, '0')}`);
  });
}

/** `value` as JSON on one line. Hidden characters are escaped, which changes nothing for a program that reads it. */
export function jsonLine(value: unknown): string {
  const escapeUnit = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return replaceHidden(JSON.stringify(value), (character) => character.split('').map(escapeUnit).join(''));
}

export function replaceHidden(text: string, replace: (character: string) => string): string {
  return text.replace(hiddenCharacter, replace);
}
