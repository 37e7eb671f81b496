/**
 * Recognises UTF-16 and UTF-32 text without a mark. Lines of such a text cannot be cut at the byte 0x0a: a newline has
 * other bytes around it, and other characters have that byte.
 */

export const WIDE_HEAD_BYTES = 8192;

type WideEncoding = 'UTF-16LE' | 'UTF-16BE' | 'UTF-32LE' | 'UTF-32BE';

/**
 * The least share of control characters in every other byte. UTF-8 text has fewer, even where NULs have got into it.
 */
const LEAST_CONTROL_SHARE = 0.75;
/** Characters that are in no text; damaged or cut text has a few. */
const MOST_STRANGE_SHARE = 0.01;
/** The largest share of pairs of two printable ASCII characters. Text of one byte a character has more. */
const MOST_ASCII_PAIRS = 0.5;

/** A shorter text must have a blank or newline, and few bytes that look like newlines. */
const FEW_CHARACTERS = 256;

/**
 * The encoding in which the bytes are text. The digits, blanks and newlines of any language have a NUL in it. But NULs
 * get into other text, too, and Chinese in UTF-16 has few of them, so all bytes are looked at.
 */
export function wideEncodingOf(head: Buffer): WideEncoding | undefined {
  const bytes = head.subarray(0, WIDE_HEAD_BYTES);
  return (
    likelier(readAs('UTF-32LE', bytes), readAs('UTF-32BE', bytes)) ??
    (isNarrow(bytes) ? undefined : likelier(readAs('UTF-16LE', bytes), readAs('UTF-16BE', bytes)))
  );
}

interface Reading {
  readonly encoding: WideEncoding;
  /** Blanks and newlines: with its bytes in the wrong order, a text has hardly any. */
  readonly blanks: number;
}

function likelier(a: Reading | undefined, b: Reading | undefined): WideEncoding | undefined {
  return (b === undefined || (a !== undefined && a.blanks >= b.blanks) ? a : b)?.encoding;
}

function readAs(encoding: WideEncoding, bytes: Buffer): Reading | undefined {
  const unitBytes = encoding.startsWith('UTF-16') ? 2 : 4;
  const unitAt = (at: number) =>
    encoding.endsWith('LE') ? bytes.readUIntLE(at, unitBytes) : bytes.readUIntBE(at, unitBytes);
  const count = Math.floor(bytes.byteLength / unitBytes);
  const most = MOST_STRANGE_SHARE * count;
  let [strange, blanks, isInPair] = [0, 0, false];
  for (let i = 0; i < count && strange <= most; i++) {
    const unit = unitAt(i * unitBytes);
    if (unit === 0x20 || unit === 0x0a || unit === 0x0d) blanks += 1;
    const isLow = unit >= 0xdc00 && unit <= 0xdfff;
    const isOfNewlines = count < FEW_CHARACTERS && (unit >> 8 === 0x0a || unit >> 8 === 0x0d);
    if (isInPair !== isLow || !isOfText(unit) || isOfNewlines) strange += 1;
    isInPair = unitBytes === 2 && unit >= 0xd800 && unit <= 0xdbff;
  }
  const isEnough = count >= FEW_CHARACTERS || (blanks > 0 && blanks < count);
  return strange <= most && isEnough ? { encoding, blanks } : undefined;
}

/** No text has control characters, characters for private use, or codes that are not characters. */
function isOfText(unit: number): boolean {
  if (unit < 0x20) return unit >= 0x09 && unit <= 0x0d;
  if (unit > 0xffff) return unit < 0xf0000;
  return !(unit >= 0x7f && unit <= 0x9f) && !(unit >= 0xe000 && unit <= 0xf8ff) && unit < 0xfffe;
}

/** Returns whether the bytes are better read one by one: as UTF-8, or as an older code with ASCII in it. */
function isNarrow(bytes: Buffer): boolean {
  const isAscii = (byte: number) => byte >= 0x20 && byte < 0x7f;
  // Lines may be short.
  const isControl = (byte: number) => byte < 0x20 && byte !== 0x0a;
  const pairs = Math.floor(bytes.byteLength / 2);
  let [first, second, ascii] = [0, 0, 0];
  for (let at = 0; at < 2 * pairs; at += 2) {
    const [a = 0, b = 0] = [bytes[at], bytes[at + 1]];
    if (isControl(a)) first += 1;
    if (isControl(b)) second += 1;
    if (isAscii(a) && isAscii(b)) ascii += 1;
  }
  if (ascii > MOST_ASCII_PAIRS * pairs) return true;
  return Math.max(first, second) < LEAST_CONTROL_SHARE * pairs && isUtf8(bytes);
}

/** The last character may be cut off. */
function isUtf8(bytes: Buffer): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    return false;
  }
}
