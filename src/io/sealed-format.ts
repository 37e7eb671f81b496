/**
 * One kind of sealed file (sealed-file.ts): what it is called, which version this program writes, and which shape its
 * value has. A file that is read is checked against all of that.
 */

import type { FileRole } from './io-error.js';
import { readShape, type Shape } from './json-shape.js';
import { type Remedy, seal, unseal } from './sealed-file.js';
import { readSmallFile } from './small-file.js';

interface FormatParts<T> {
  /** Lower-case letters and hyphens. */
  readonly kind: string;
  readonly version: number;
  /** A larger file is refused unread. */
  readonly mostBytes: number;
  readonly role: FileRole;
  readonly shape: Shape<T>;
  /** Undefined: that of the files of a job. */
  readonly remedy?: Remedy;
}

export class SealedFormat<T extends object> {
  readonly #parts: FormatParts<T>;

  constructor(parts: FormatParts<T>) {
    this.#parts = parts;
  }

  seal(value: T): Uint8Array {
    return seal(this.#parts.kind, this.#parts.version, value);
  }

  /**
   * @returns undefined when there is no file.
   * @throws VerificationError when the file is damaged; UsageError with the code of the remedy (else ERR_JOB_VERSION)
   *   when another version of pileshuf wrote it.
   */
  read(path: string): T | undefined {
    const { kind, version, mostBytes, role, shape, remedy } = this.#parts;
    const bytes = readSmallFile(path, role, mostBytes);
    if (bytes === undefined) return undefined;
    return readShape(shape, unseal(bytes, kind, version, path, remedy), path, remedy);
  }
}
