/**
 * Finds what the first bytes of an input say where records must be text: that it is something else, and the job refuses
 * it; or that it may be, and the user should know. docs/FORMATS.md has the table.
 */
import { InputError } from '../errors.js';
import { inputName } from '../places/inputs/input-source.js';
import { withoutCodecSuffix } from './codec-table.js';
import { markBytesOf } from './header.js';
import { foreignFormatOf, isOfRows, namedFormatOf } from './recognition.js';
import { type HeaderSpec, headerRuleOf, type RecordFormat, requiresText } from './record-format.js';
import type { RefusedFormat } from './record-kind.js';
import { WIDE_HEAD_BYTES } from './wide-text.js';

/** An error: the input is refused. */
export type Finding = InputError | Doubt;

export interface Doubt {
  readonly kind: 'NUL' | 'CR' | 'array';
  /** The place in the input. */
  readonly position: number;
}

interface FirstBytes {
  readonly head: Uint8Array;
  readonly isWhole: boolean;
  readonly path: string;
}

export function headBytesOf(path: string, format: RecordFormat): number {
  if (!requiresText(format)) return 0;
  return format.linesAssumed && JSON_NAME.test(withoutCodecSuffix(path)) ? JSON_HEAD_BYTES : WIDE_HEAD_BYTES;
}

const INSIST = "give `records: { by: 'lines' }` to shuffle it as lines all the same";

export function examineFirstBytes(
  { head: bytes, isWhole, path }: FirstBytes,
  format: RecordFormat,
): Finding | undefined {
  if (!requiresText(format)) return undefined;
  const all = bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const skippedBytes = format.header?.kind === 'bytes' ? format.header.value : 0;
  const head = all.subarray(skippedBytes);
  const nul = head.indexOf(0);
  const foreign = foreignFormatOf(head, nul) ?? namedFormatOf(path, head.subarray(markBytesOf(head)), format);
  if (foreign !== undefined) return refusedFormatError(path, foreign, format);
  const json = headBytesOf(path, format) === JSON_HEAD_BYTES ? examineJson(all, isWhole, path, format) : undefined;
  if (json instanceof InputError) return json;
  if (nul >= 0) return { kind: 'NUL', position: skippedBytes + nul };
  const cr = head.includes(0x0a) ? -1 : head.indexOf(0x0d);
  return cr >= 0 ? { kind: 'CR', position: skippedBytes + cr } : json;
}

function refusedFormatError(
  path: string,
  { name, remedy, output }: RefusedFormat,
  { linesAssumed }: RecordFormat,
): InputError {
  // The lines of rows are worth nothing: nobody could put the file together again.
  const advice = linesAssumed && !isOfRows(output) ? `${remedy}, or ${INSIST}` : remedy;
  const what = linesAssumed ? 'lines' : 'text';
  return new InputError('ERR_INPUT_FORMAT', `${inputName(path)} holds ${name}, not ${what}; ${advice}`);
}

function examineJson(head: Buffer, isWhole: boolean, path: string, { header }: RecordFormat): Finding | undefined {
  const headerBytes = header === undefined ? markBytesOf(head) : headerBytesOf(head, header);
  if (headerBytes === undefined) return undefined;
  const records = headerBytes === 0 ? head : head.subarray(headerBytes);
  const found = findNoJsonValue(records, isWhole);
  if (found === undefined)
    return isArrayInOneLine(records, isWhole) ? { kind: 'array', position: headerBytes } : undefined;
  const filter = found.isOfArray
    ? "`jq -c '.[]'` makes a line of each element"
    : '`jq -c .` makes a line of each value';
  return new InputError(
    'ERR_INPUT_FORMAT',
    `${inputName(path)}: the line at byte ${headerBytes + found.position} is not a JSON value; expected one value a line, as its name says; ${filter}; or ${INSIST}`,
  );
}

/** Returns the length of the header. Undefined: the header does not end in these bytes. */
function headerBytesOf(head: Buffer, spec: HeaderSpec): number | undefined {
  return headerRuleOf(spec).measure(head, false, '')?.byteLength;
}

/** @param more tells how many other inputs raise the doubt. */
export function describeDoubt(path: string, { kind, position }: Doubt, more: string): string {
  const name = inputName(path);
  switch (kind) {
    case 'NUL':
      return `${name}: byte ${position} is NUL, which text does not have${more}; give \`zeroTerminated\` if records end in NUL`;
    case 'CR':
      return `the beginning of ${name} has CR and no newline, so the whole input may be one record${more}; give \`records.delimiter\` '\\r' if lines end in CR`;
    case 'array':
      return `${name} begins with a JSON array in one line, which is one record${more}; \`jq -c '.[]'\` makes a line of each element`;
  }
}

/**
 * The same pieces. An input whose first bytes show that it is not text is refused before the first piece, if it must
 * be.
 */
export async function* examinedPieces(
  pieces: AsyncIterable<Uint8Array>,
  path: string,
  format: RecordFormat,
  onDoubt: (doubt: Doubt) => void,
): AsyncGenerator<Uint8Array, void> {
  const headBytes = headBytesOf(path, format);
  const held: Uint8Array[] = [];
  let heldBytes = 0;
  const examine = (head: Uint8Array, isWhole: boolean) => {
    const finding = examineFirstBytes({ head: head.subarray(0, headBytes), isWhole, path }, format);
    if (finding instanceof InputError) throw finding;
    if (finding !== undefined) onDoubt(finding);
  };
  let isExamined = false;
  for await (const piece of pieces) {
    if (isExamined) {
      yield piece;
      continue;
    }
    heldBytes += piece.byteLength;
    isExamined = heldBytes >= headBytes;
    // The next piece may take the place of this one.
    held.push(isExamined ? piece : new Uint8Array(piece));
    if (!isExamined) continue;
    const [first = piece] = held;
    const head = held.length === 1 ? first : Buffer.concat(held);
    examine(head, false);
    yield head;
  }
  if (isExamined || heldBytes === 0) return;
  const whole = Buffer.concat(held);
  examine(whole, true);
  yield whole;
}

/** Matches names of JSON, without endings of codecs. */
const JSON_NAME = /\.(?:json|jsonl|ndjson)$/i;
export const JSON_HEAD_BYTES = 64 * 1024;
/** Lines after these bytes are not parsed: only their ends are looked at, and whether values meet in them. */
const PARSED_BYTES = 256;

/** The pairs at which two arrays or objects meet in one line. */
const MEETINGS = ['}{', '} {', '][', '] ['];
/** The string may be cut off. */
const STRING_OR_BRACKET = /"[^"\\]*(?:\\[\s\S][^"\\]*)*"?|[[\]{}]/g;
/** Numbers that Python writes and JSON lacks, and strings, in which they may stand. */
const NUMBER_OF_PYTHON = /"[^"\\]*(?:\\[\s\S][^"\\]*)*"|-?\b(?:NaN|Infinity)\b/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON has them in no string, and some programs write them.
const CONTROL = /[\0-\x1f]/g;

interface NoJsonValue {
  readonly position: number;
  /** True if the bytes begin with an array over several lines. */
  readonly isOfArray: boolean;
}

/**
 * Looks whether each line holds a JSON value. An array or object over several lines, and values without a newline
 * between them, are JSON, too, but their lines are not values.
 * @param isWhole whether the input ends with `head`. Otherwise the last line may be cut off.
 */
function findNoJsonValue(head: Buffer, isWhole: boolean): NoJsonValue | undefined {
  // Strings need not be UTF-8, and the rest of JSON is ASCII.
  const text = head.toString('latin1');
  const mayMeet = MEETINGS.some((meeting) => text.includes(meeting));
  for (let start = 0; start < text.length; ) {
    const newline = text.indexOf('\n', start);
    const end = newline < 0 ? text.length : newline;
    const isCut = newline < 0 && !isWhole;
    const isLikely = isCut || (start >= PARSED_BYTES && text[start] === '{' && text[end - 1] === '}');
    if (!isLikely || mayMeet) {
      const line = text.slice(start, end).trim();
      const isValue = isLikely ? !hasSeveral(line) : isJson(line);
      if (line !== '' && !isValue) return { position: start, isOfArray: start === 0 && line.startsWith('[') };
    }
    start = end + 1;
  }
  return undefined;
}

/** Returns whether the first line, if it is the only one, is an array of objects. */
function isArrayInOneLine(head: Buffer, isWhole: boolean): boolean {
  const newline = head.indexOf(0x0a);
  const isAlone = newline < 0 || (isWhole && newline === head.byteLength - 1);
  return isAlone && /^\s*\[\s*\{/.test(head.toString('latin1', 0, 64));
}

/** Tells whether a text is JSON, or what Python takes for JSON. */
export function isJson(text: string): boolean {
  return (
    parses(text) ||
    parses(text.replace(CONTROL, ' ').replace(NUMBER_OF_PYTHON, (token) => (token[0] === '"' ? token : '0')))
  );
}

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Returns whether something follows the first array or object of a line, whose end may be cut off. */
function hasSeveral(line: string): boolean {
  let depth = 0;
  for (const { 0: token, index } of line.matchAll(STRING_OR_BRACKET)) {
    if (token === '[' || token === '{') depth += 1;
    else if (token === ']' || token === '}') depth -= 1;
    if (depth === 0 && token[0] !== '"') return index + 1 < line.length;
  }
  return false;
}
