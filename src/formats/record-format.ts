/**
 * How inputs are made up: what stands before the first record, and how the records lie behind it.
 */
import { type FramingSpec, nameOfFraming } from './framing-table.js';
import type { HeaderSpec } from './header-table.js';

/** Plain data. */
export interface RecordFormat {
  /** Undefined: what stands in the header says it. */
  readonly framing: FramingSpec | undefined;
  /** Undefined: the first byte of an input is that of its first record. */
  readonly header: HeaderSpec | undefined;
}

/** In one line, unlike that of any other: `delimited 0a, header lines 1`. */
export function nameOfFormat({ framing, header }: RecordFormat): string {
  // It may be known by now what the headers of these inputs say; it is not what was asked for.
  const records = framing === undefined || header?.kind === 'npy' ? undefined : nameOfFraming(framing);
  return [records, nameOfHeader(header)].filter((name) => name !== undefined).join(', ');
}

function nameOfHeader(header: HeaderSpec | undefined): string | undefined {
  switch (header?.kind) {
    // How lines end is said by the framing.
    case 'lines':
      return `header lines ${header.value.count}`;
    case 'bytes':
      return `header bytes ${header.value}`;
    default:
      return header?.kind;
  }
}
