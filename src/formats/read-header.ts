/**
 * Reads the header off the decoded bytes of an input, as little of them as it takes.
 */
import { InputError } from '../errors.js';
import { type Header, type HeaderRule, MOST_HEADER_BYTES } from './header.js';

/** Up to here every piece is looked at as it comes; from then on when there is twice as much as before. */
const OFTEN_LOOKED_AT_BYTES = 4096;

export interface ReadHeader {
  readonly header: Header;
  /** What was read behind it. */
  readonly rest: Uint8Array;
}

/**
 * @param pieces each is good until the next one is asked for; the caller goes on with them behind `rest`.
 * @param path for messages.
 * @throws InputError ERR_INPUT_CORRUPT when the input has no such header.
 */
export async function readHeader(
  pieces: AsyncIterator<Uint8Array>,
  rule: HeaderRule,
  path: string,
): Promise<ReadHeader> {
  let buffer = Buffer.alloc(0);
  let filled = 0;
  let lookAt = 0;
  for (;;) {
    const { done, value } = await pieces.next();
    const isWhole = done === true;
    if (!isWhole) {
      buffer = withRoom(buffer, filled, value.byteLength);
      buffer.set(value, filled);
      filled += value.byteLength;
      if (filled < lookAt) continue;
    }
    const header = rule.measure(buffer.subarray(0, filled), isWhole, path);
    if (header !== undefined) return { header, rest: buffer.subarray(header.byteLength, filled) };
    if (isWhole) throw new RangeError('a header rule must measure a whole input or refuse it');
    if (filled >= MOST_HEADER_BYTES) throw tooLong(path);
    lookAt = filled < OFTEN_LOOKED_AT_BYTES ? 0 : Math.min(2 * filled, MOST_HEADER_BYTES);
  }
}

function withRoom(buffer: Buffer<ArrayBuffer>, filled: number, wanted: number): Buffer<ArrayBuffer> {
  if (filled + wanted <= buffer.byteLength) return buffer;
  const larger = Buffer.alloc(Math.max(filled + wanted, 2 * buffer.byteLength));
  larger.set(buffer.subarray(0, filled));
  return larger;
}

function tooLong(path: string): InputError {
  return new InputError(
    'ERR_INPUT_CORRUPT',
    `${path}: byte ${MOST_HEADER_BYTES} is reached and its header does not end before it; check the format`,
  );
}
