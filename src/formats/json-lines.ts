/**
 * Looks whether lines hold a JSON value each, as JSON lines do. An array over several lines, an object over several lines
 * and values without a newline between them are JSON, too, but their lines are no values.
 */

/** Of inputs, after the endings of codecs. */
const JSON_NAME = /\.(?:json|jsonl|ndjson)$/i;
/** So many bytes at the beginning of an input are looked at. */
export const JSON_HEAD_BYTES = 64 * 1024;
/** Of these, so many are parsed; of the lines behind them only the ends are looked at, and whether values meet in them. */
const PARSED_BYTES = 256;

/** Where two arrays or objects meet in one line. */
const MEETINGS = ['}{', '} {', '][', '] ['];
/** A string, which may be cut off, or a bracket. */
const STRING_OR_BRACKET = /"[^"\\]*(?:\\[\s\S][^"\\]*)*"?|[[\]{}]/g;
/** What Python writes and JSON does not have, and strings, in which it may stand. */
const NUMBER_OF_PYTHON = /"[^"\\]*(?:\\[\s\S][^"\\]*)*"|-?\b(?:NaN|Infinity)\b/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON has them in no string, and some programs write them.
const CONTROL = /[\0-\x1f]/g;

export function isNameOfJsonLines(name: string): boolean {
  return JSON_NAME.test(name);
}

/** A line that is no JSON value. */
export interface NoJsonValue {
  /** Of the line, in the bytes that were looked at. */
  readonly position: number;
  /** Whether the bytes begin with an array over several lines. */
  readonly isOfArray: boolean;
}

/**
 * @param head the first bytes of the records of an input.
 * @param isWhole whether the input ends there. Else the last line may be cut off.
 */
export function findNoJsonValue(head: Buffer, isWhole: boolean): NoJsonValue | undefined {
  // As bytes: strings need not be UTF-8, and no other part of JSON is more than ASCII.
  const text = head.toString('latin1');
  const mayMeet = MEETINGS.some((meeting) => text.includes(meeting));
  for (let start = 0; start < text.length; ) {
    const newline = text.indexOf('\n', start);
    const end = newline < 0 ? text.length : newline;
    const isCut = newline < 0 && !isWhole;
    const isLikely = isCut || (start >= PARSED_BYTES && hasEndsOfObject(text, start, end));
    if (!isLikely || mayMeet) {
      const line = text.slice(start, end).trim();
      const isValue = isLikely ? !hasSeveral(line) : isJson(line);
      if (line !== '' && !isValue) return { position: start, isOfArray: start === 0 && line.startsWith('[') };
    }
    start = end + 1;
  }
  return undefined;
}

/** Whether the first line is an array of objects, and no other line is there. */
export function isArrayInOneLine(head: Buffer, isWhole: boolean): boolean {
  const newline = head.indexOf(0x0a);
  const isAlone = newline < 0 || (isWhole && newline === head.byteLength - 1);
  return isAlone && /^\s*\[\s*\{/.test(head.toString('latin1', 0, 64));
}

/** Whether the text is one JSON value, or what Python takes for one. */
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

function hasEndsOfObject(text: string, start: number, end: number): boolean {
  return text[start] === '{' && text[end - 1] === '}';
}

/** Whether something stands behind the first array or object of a line, of which the end may be cut off. */
function hasSeveral(line: string): boolean {
  let depth = 0;
  for (const { 0: token, index } of line.matchAll(STRING_OR_BRACKET)) {
    if (token === '[' || token === '{') depth += 1;
    else if (token === ']' || token === '}') depth -= 1;
    if (depth === 0 && token[0] !== '"') return index + 1 < line.length;
  }
  return false;
}
