/**
 * Keeps a message on one line. File names may hold newlines and terminal escapes; a log reader that
 * counts lines, and the person's terminal, must not be fooled by them.
 */

const escapes: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '\0': '\\0' };

/** `text` with control characters and line separators written as escapes. */
export function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, (character) => {
    const code = character.charCodeAt(0);
    const digits = code < 0x100 ? `x${code.toString(16).padStart(2, '0')}` : `u${code.toString(16).padStart(4, '0')}`;
    return escapes[character] ?? `\\${digits}`;
  });
}
