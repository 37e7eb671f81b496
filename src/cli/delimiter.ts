/**
 * The value of `--delimiter`: text, with the escapes that shells do not understand.
 */
import { UsageError } from '../index.js';

const SIMPLE_ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', '0': '\0', '\\': '\\' };

/** Bytes in UTF-8; `\xHH` is one byte. @throws UsageError */
export function parseDelimiter(text: string): Uint8Array {
  if (text === '') throw new UsageError('--delimiter: expected at least one byte, got an empty string');
  // What is no UTF-8 has become this by now, and no record would end in it.
  if (text.includes('\ufffd'))
    throw new UsageError('--delimiter: expected UTF-8; give other bytes as \\xHH, and U+FFFD as \\xEF\\xBF\\xBD');
  const pieces: Buffer[] = [];
  for (let rest = text; rest !== ''; ) {
    const plain = /^[^\\]+/.exec(rest)?.[0];
    const hex = /^\\x([0-9a-fA-F]{2})/.exec(rest);
    const simple = SIMPLE_ESCAPES[rest[1] ?? ''];
    if (plain !== undefined) {
      pieces.push(Buffer.from(plain));
      rest = rest.slice(plain.length);
    } else if (hex !== null) {
      pieces.push(Buffer.from(hex[1] ?? '', 'hex'));
      rest = rest.slice(4);
    } else if (simple !== undefined) {
      pieces.push(Buffer.from(simple));
      rest = rest.slice(2);
    } else {
      throw new UsageError(
        `--delimiter ${text}: ${rest.slice(0, 2)} is no escape; expected \\n, \\r, \\t, \\0, \\\\ or \\xHH with two hex digits`,
      );
    }
  }
  return Buffer.concat(pieces);
}
