/** A part of a staged file as the records of a job tell it: a later attempt verifies it before it relies on it. */
import { checksumText, object, wholeNumber } from '../io/json-shape.js';

/** Where it lies, how many bytes it decodes to, and the checksum of what was written. */
export const writtenRegion = object({
  shard: wholeNumber(),
  start: wholeNumber(),
  end: wholeNumber(),
  recordBytes: wholeNumber(),
  checksum: checksumText,
});
