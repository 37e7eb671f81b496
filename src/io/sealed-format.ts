/** A kind of sealed file (sealed-file.ts): a name, a version and a shape, against which a read file is checked. */

import type { FileRole } from './io-error.js';
import { readShape, type Shape } from './json-shape.js';
import { type Remedy, seal, unseal } from './sealed-file.js';
import { readSmallFile } from './small-file.js';

interface FormatParts<T> {
  readonly kind: string;
  readonly version: number;
  /** A larger file is refused unread. */
  readonly mostBytes: number;
  readonly role: FileRole;
  readonly shape: Shape<T>;
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

  /** Undefined when there is no file. Throws for a damaged file, or one of another version: see `unseal`. */
  read(path: string): T | undefined {
    const { kind, version, mostBytes, role, shape, remedy } = this.#parts;
    const bytes = readSmallFile(path, role, mostBytes);
    if (bytes === undefined) return undefined;
    return readShape(shape, unseal(bytes, kind, version, path, remedy), path, remedy);
  }
}
