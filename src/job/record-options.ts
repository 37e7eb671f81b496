/** Turns the options `records`, `zeroTerminated`, `header` and `skipBlank` into the format of the records. */
import { requireWhole, UsageError } from '../errors.js';
import { delimiterOf, type FramingSpec, isOfLines, LINES, NUL_TERMINATED } from '../formats/framing-table.js';
import { MOST_HEADER_BYTES } from '../formats/header.js';
import type { HeaderSpec, RecordFormat } from '../formats/record-format.js';
import { formatOfKind, MOST_LINES, textBytes } from '../formats/record-kinds.js';
import type { ShuffleOptions } from '../options/shuffle-options.js';

export function recordFormatOf({
  records,
  zeroTerminated = false,
  header,
  skipBlank = false,
}: Pick<ShuffleOptions, 'records' | 'zeroTerminated' | 'header' | 'skipBlank'>): RecordFormat {
  if (records !== undefined && zeroTerminated)
    throw new UsageError('`zeroTerminated` and `records` contradict each other; give one of them');
  const kind = records === undefined ? undefined : formatOfKind(records);
  const framing = kind === undefined ? (zeroTerminated ? NUL_TERMINATED : LINES) : kind.framing;
  if (kind?.header !== undefined) refuseHeader(header, records?.by);
  const isOfText = framing !== undefined && isText(framing);
  if (skipBlank && !isOfText && (framing === undefined || delimiterOf(framing) === undefined))
    throw new UsageError(`records of ${records?.by} are not text, so none is blank; leave out \`skipBlank\``);
  return {
    framing,
    header: kind?.header ?? headerSpecOf(header, framing ?? LINES),
    linesAssumed: records === undefined && !zeroTerminated,
    isText: isOfText,
    skipsBlank: skipBlank,
  };
}

/** `zeroTerminated` takes all bytes as they are, and so does a newline that is given as a delimiter, for shuf. */
function isText(framing: FramingSpec): boolean {
  if (framing.kind === 'delimited') return framing.value !== NUL_TERMINATED.value;
  return isOfLines(framing);
}

function refuseHeader(header: ShuffleOptions['header'], by: string | undefined): void {
  if (header === undefined) return;
  const option = `\`header.${Object.keys(header)[0]}\``;
  throw new UsageError(`records of ${by} have a header of their own; leave out ${option}`);
}

function headerSpecOf(header: ShuffleOptions['header'], framing: FramingSpec): HeaderSpec | undefined {
  if (header === undefined) return undefined;
  if ('bytes' in header) {
    requireWhole('`header.bytes`', header.bytes, 1, MOST_HEADER_BYTES);
    return { kind: 'bytes', value: header.bytes };
  }
  if ('prefix' in header) {
    const prefix = textBytes('`header.prefix`', header.prefix);
    return {
      kind: 'prefix',
      value: { prefix: prefix.toString('hex'), lineEnd: lineEndOf(framing, '`header.prefix`') },
    };
  }
  requireWhole('`header.lines`', header.lines, 1, MOST_LINES);
  const lineEnd = lineEndOf(framing, '`header.lines`');
  return { kind: 'lines', value: { count: header.lines, lineEnd, isQuoted: framing.kind === 'csv' } };
}

/** In hex: header lines end as text records do. */
function lineEndOf(framing: FramingSpec, option: string): string {
  const lineEnd = isOfLines(framing) ? LINES.value : delimiterOf(framing);
  if (lineEnd !== undefined) return lineEnd;
  throw new UsageError(
    `${option} takes lines, and these records are not text; give \`header.bytes\`, or leave ${option} out`,
  );
}
