/** Says what is wrong with a page. Whoever knows the file adds path, row group, column and the place of the page. */
import { counted } from '../../../../errors.js';

export class PageError extends Error {}

/** The budget, or what one memory can address, does not hold a page beside those of the other leaves. */
export class PageMemoryError extends Error {
  readonly neededBytes: number;
  /** The bytes that would be needed next. */
  readonly thenBytes: number;

  constructor(neededBytes: number, what: string, thenBytes = 0) {
    super(`no memory for ${counted(neededBytes, 'byte')} of ${what}`);
    this.neededBytes = neededBytes;
    this.thenBytes = thenBytes;
  }
}
