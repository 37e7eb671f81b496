/**
 * Where two headers part that should be the same, shown in a line: all of them when they are short, else what
 * stands around the place.
 */
import type { HeaderDifference } from '../header.js';

const TEXT_BYTES = 60;
const BINARY_BYTES = 16;

export function differenceOfText(expected: Uint8Array, got: Uint8Array): HeaderDifference | undefined {
  return differenceOf(expected, got, TEXT_BYTES, (bytes, dots) =>
    JSON.stringify(`${dots.before}${bytes}${dots.behind}`),
  );
}

export function differenceOfBytes(expected: Uint8Array, got: Uint8Array): HeaderDifference | undefined {
  return differenceOf(
    expected,
    got,
    BINARY_BYTES,
    (bytes, dots) => `${dots.before}${bytes.toString('hex')}${dots.behind} (hex)`,
  );
}

/** What was left out. */
interface Dots {
  readonly before: string;
  readonly behind: string;
}

function differenceOf(
  expected: Uint8Array,
  got: Uint8Array,
  shownBytes: number,
  show: (bytes: Buffer, dots: Dots) => string,
): HeaderDifference | undefined {
  const both = Math.min(expected.byteLength, got.byteLength);
  let position = 0;
  while (position < both && expected[position] === got[position]) position += 1;
  if (position === expected.byteLength && position === got.byteLength) return undefined;
  // A third of what is shown is what they have in common.
  const from = position < shownBytes ? 0 : position - Math.floor(shownBytes / 3);
  const excerpt = (whole: Uint8Array) => {
    const bytes = Buffer.from(whole.subarray(from, from + shownBytes));
    return show(bytes, { before: from > 0 ? '…' : '', behind: from + shownBytes < whole.byteLength ? '…' : '' });
  };
  return { position, expected: excerpt(expected), got: excerpt(got) };
}
