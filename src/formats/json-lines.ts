/**
 * Looks whether each line holds a JSON value. An array or object over several lines, and values without a newline
 * between them, are JSON, too, but their lines are no values.
 */

/** Without endings of codecs. */
const JSON_NAME = /\.(?:json|jsonl|ndjson)$/i;
export const JSON_HEAD_BYTES = 64 * 1024;
/** Lines after these bytes are not parsed: only their ends are looked at, and whether values meet in them. */
const PARSED_BYTES = 256;

/** Where two arrays or objects meet in one line. */
const MEETINGS = ['}{', '} {', '][', '] ['];
/** The string may be cut off. */
const STRING_OR_BRACKET = /"[^"\\]*(?:\\[\s\S][^"\\]*)*"?|[[\]{}]/g;
/** Numbers that Python writes and JSON lacks, and strings, in which they may stand. */
const NUMBER_OF_PYTHON = /"[^"\\]*(?:\\[\s\S][^"\\]*)*"|-?\b(?:NaN|Infinity)\b/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON has them in no string, and some programs write them.
const CONTROL = /[\0-\x1f]/g;

export function isNameOfJsonLines(name: string): boolean {
  return JSON_NAME.test(name);
}

export interface NoJsonValue {
  readonly position: number;
  /** Whether the bytes begin with an array over several lines. */
  readonly isOfArray: boolean;
}

/** @param isWhole whether the input ends with `head`. Otherwise the last line may be cut off. */
export function findNoJsonValue(head: Buffer, isWhole: boolean): NoJsonValue | undefined {
  // Strings need not be UTF-8, and the rest of JSON is ASCII.
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

/** Whether the first line, if it is the only one, is an array of objects. */
export function isArrayInOneLine(head: Buffer, isWhole: boolean): boolean {
  const newline = head.indexOf(0x0a);
  const isAlone = newline < 0 || (isWhole && newline === head.byteLength - 1);
  return isAlone && /^\s*\[\s*\{/.test(head.toString('latin1', 0, 64));
}

/** Also takes what Python takes for JSON. */
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

/** Whether something follows the first array or object of a line, whose end may be cut off. */
function hasSeveral(line: string): boolean {
  let depth = 0;
  for (const { 0: token, index } of line.matchAll(STRING_OR_BRACKET)) {
    if (token === '[' || token === '{') depth += 1;
    else if (token === ']' || token === '}') depth -= 1;
    if (depth === 0 && token[0] !== '"') return index + 1 < line.length;
  }
  return false;
}
