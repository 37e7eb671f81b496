/** A kind of sealed file (sealed-file.ts): a name, a version and a shape, against which a read file is checked. */

import { readSmallFile } from './atomic-files.js';
import type { FileRole } from './io-error.js';
import { readShape, type Shape } from './json-shape.js';
import { type Remedy, seal, splitSealed, unseal } from './sealed-file.js';

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
    const bytes = readSmallFile(path, this.#parts.role, this.#parts.mostBytes);
    return bytes && this.#unseal(bytes, path);
  }

  /** Reads as `read` does a file that has other bytes after the sealed ones. Nobody has checked these. */
  readWithRest(path: string): { readonly value: T; readonly rest: Uint8Array } | undefined {
    const bytes = readSmallFile(path, this.#parts.role, this.#parts.mostBytes);
    if (bytes === undefined) return undefined;
    const { sealed, rest } = splitSealed(bytes);
    return { value: this.#unseal(sealed, path), rest };
  }

  #unseal(bytes: Uint8Array, path: string): T {
    const { kind, version, shape, remedy } = this.#parts;
    return readShape(shape, unseal(bytes, kind, version, path, remedy), path, remedy);
  }
}
