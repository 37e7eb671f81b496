/** Pages of a column that has one value in all rows: a dictionary, and runs of its only entry. */
import type { StoredPage } from './chunk-pages.js';
import { type Encoding, type PageHeader, USUAL_HEADER } from './page-header.js';

const MOST_ROWS = 8192;

export class ConstantPages {
  /** Position of a page that lies in no file. */
  readonly position = 0;
  readonly #value: Uint8Array | null;
  #isDictionaryNext: boolean;
  #rowsLeft: number;

  /** @param value as PLAIN stores it, of an optional column; `null`: there is none. */
  constructor(value: Uint8Array | null, rows: number) {
    this.#value = value;
    this.#isDictionaryNext = value !== null;
    this.#rowsLeft = rows;
  }

  get isAtEnd(): boolean {
    return this.#rowsLeft === 0;
  }

  next(): StoredPage | undefined {
    if (this.isAtEnd) return undefined;
    if (this.#isDictionaryNext && this.#value !== null) {
      this.#isDictionaryNext = false;
      return pageOf('dictionary', 'PLAIN', 1, this.#value);
    }
    const count = Math.min(this.#rowsLeft, MOST_ROWS);
    this.#rowsLeft -= count;
    const levels = runOf(count, this.#value === null ? 0 : 1);
    const indexes = this.#value === null ? [] : [1, ...runOf(count, 0)];
    return pageOf('data', 'RLE_DICTIONARY', count, Uint8Array.of(levels.length, 0, 0, 0, ...levels, ...indexes));
  }
}

/** A run as RLE stores it: the count doubled, as a varint, and the value in a byte. */
function runOf(count: number, value: number): readonly number[] {
  const bytes: number[] = [];
  let rest = 2 * count;
  for (; rest >= 0x80; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
  return [...bytes, rest, value];
}

function pageOf(kind: PageHeader['kind'], encoding: Encoding, valueCount: number, body: Uint8Array): StoredPage {
  const { byteLength } = body;
  const header = {
    ...USUAL_HEADER,
    kind,
    valueCount,
    encoding,
    compressedBytes: byteLength,
    uncompressedBytes: byteLength,
  };
  return { header, body };
}
