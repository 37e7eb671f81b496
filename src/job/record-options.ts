/** Turns the options `records`, `zeroTerminated`, `header` and `skipBlank` into the format of the records. */
import { requireWhole, UsageError } from '../errors.js';
import { lineEndOf } from '../formats/framing.js';
import { type FramingSpec, formatOfKind, framingOf, LINES, NUL_TERMINATED } from '../formats/framing-table.js';
import { MOST_LINES } from '../formats/framings/lines.js';
import { MOST_HEADER_BYTES } from '../formats/header.js';
import type { HeaderSpec, RecordFormat } from '../formats/record-format.js';
import { textBytes } from '../formats/record-kind.js';
import type { ShuffleOptions } from '../options/shuffle-options.js';

export function recordFormatOf({
  records,
  zeroTerminated = false,
  header,
  skipBlank = false,
}: Pick<ShuffleOptions, 'records' | 'zeroTerminated' | 'header' | 'skipBlank'>): RecordFormat {
  if (records === undefined) {
    const framing = zeroTerminated ? NUL_TERMINATED : LINES;
    return { framing, header: headerSpecOf(header, framing), linesAssumed: !zeroTerminated, skipsBlank: skipBlank };
  }
  if (zeroTerminated) throw new UsageError('`zeroTerminated` and `records` contradict each other; give one of them');
  const { framing, header: ownHeader } = formatOfKind(records);
  if (ownHeader !== undefined && header !== undefined)
    throw new UsageError(
      `records of ${records.by} have a header of their own; leave out \`header.${Object.keys(header)[0]}\``,
    );
  if (skipBlank && (framing === undefined || lineEndOf(framingOf(framing)) === undefined))
    throw new UsageError(`records of ${records.by} are not text, so none is blank; leave out \`skipBlank\``);
  return {
    framing,
    header: ownHeader ?? (framing && headerSpecOf(header, framing)),
    linesAssumed: false,
    skipsBlank: skipBlank,
  };
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
      value: { prefix: prefix.toString('hex'), lineEnd: lineEndIn(framing, '`header.prefix`') },
    };
  }
  requireWhole('`header.lines`', header.lines, 1, MOST_LINES);
  const lineEnd = lineEndIn(framing, '`header.lines`');
  return {
    kind: 'lines',
    value: { count: header.lines, lineEnd, isQuoted: framingOf(framing).hasQuotedFields === true },
  };
}

/** Returns the line end in hex: header lines end as text records do. */
function lineEndIn(framing: FramingSpec, option: string): string {
  const lineEnd = lineEndOf(framingOf(framing));
  if (lineEnd !== undefined) return Buffer.from(lineEnd).toString('hex');
  throw new UsageError(
    `${option} takes lines, and these records are not text; give \`header.bytes\`, or leave ${option} out`,
  );
}
