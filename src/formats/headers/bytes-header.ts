/**
 * A header of so many bytes.
 */
import { InputError } from '../../errors.js';
import { NOTHING } from '../framing.js';
import type { HeaderRule } from '../header.js';
import { differenceOfBytes } from './differences.js';

export function bytesHeader(byteLength: number): HeaderRule {
  return {
    measure: (head, isWhole, path) => {
      if (head.byteLength >= byteLength) {
        const bytes = new Uint8Array(head.subarray(0, byteLength));
        return { byteLength, bytes, recordBytes: undefined, framing: undefined };
      }
      if (!isWhole) return undefined;
      throw new InputError(
        'ERR_INPUT_CORRUPT',
        `${path}: byte ${head.byteLength} is the end of the input; expected a header of ${byteLength} bytes`,
      );
    },
    difference: (expected, got) => differenceOfBytes(expected.bytes, got.bytes),
    headerOf: ({ bytes }) => bytes,
    trailer: NOTHING,
  };
}
