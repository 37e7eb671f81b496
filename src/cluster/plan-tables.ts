/**
 * The long tables of a plan, which a task reads by pages: a million inputs need not be in its memory. A table is a file of
 * pages, each of which is sealed (../io/sealed-file.ts) and says to which plan it belongs, and which row is its first.
 */
import { join } from 'node:path';
import { PagedList } from '../floor/paged-list.js';
import { createDurablyFrom } from '../io/atomic-files.js';
import { openOwnForRead, readBytes, withFile } from '../io/files.js';
import { asSealed, list, object, readShape, text, wholeNumber } from '../io/json-shape.js';
import { damagedFileError, type Remedy, seal, unseal } from '../io/sealed-file.js';

const VERSION = 1;

export interface TableFormat {
  /** The name of the file, and the kind of its pages. */
  readonly name: string;
  readonly pageLength: number;
  readonly remedy: Remedy;
}

/** The facts of a written table. The plan has them. */
export interface TablePages {
  /** The number of rows. */
  readonly length: number;
  /** The end of each page, as a place in the file. */
  readonly ends: readonly number[];
}

const pageShape = object({ plan: text, first: wholeNumber(), rows: list(asSealed<object>()) });

/** @param plan names the plan: no other has the same. */
export async function writeTable(
  jobDirectory: string,
  { name, pageLength }: TableFormat,
  plan: string,
  rows: Iterable<object>,
): Promise<TablePages> {
  let length = 0;
  const ends: number[] = [];
  const pages = function* (): Generator<Uint8Array, void> {
    let page: object[] = [];
    const sealed = () => {
      const bytes = seal(name, VERSION, { plan, first: length - page.length, rows: page });
      ends.push((ends.at(-1) ?? 0) + bytes.byteLength);
      page = [];
      return bytes;
    };
    for (const row of rows) {
      page.push(row);
      length += 1;
      if (page.length === pageLength) yield sealed();
    }
    if (page.length > 0) yield sealed();
  };
  await createDurablyFrom(jobDirectory, name, pages());
  return { length, ends };
}

/** A table in its file. Its rows are what this version wrote, for a page that is damaged or of another plan is refused. */
export class StoredTable<Row extends object> extends PagedList<Row> {
  readonly #path: string;
  readonly #format: TableFormat;
  readonly #plan: string;
  readonly #pages: TablePages;

  constructor(jobDirectory: string, format: TableFormat, plan: string, pages: TablePages) {
    super(format.pageLength);
    this.#path = join(jobDirectory, format.name);
    this.#format = format;
    this.#plan = plan;
    this.#pages = pages;
  }

  get length(): number {
    return this.#pages.length;
  }

  protected readPage(number: number): readonly Row[] {
    const { name, pageLength, remedy } = this.#format;
    const [start, end] = [this.#pages.ends[number - 1] ?? 0, this.#pages.ends[number] ?? 0];
    const bytes = withFile(openOwnForRead(this.#path, 'temp'), (file) => readBytes(file, start, end - start));
    const { plan, first, rows } = readShape(
      pageShape,
      unseal(bytes, name, VERSION, this.#path, remedy),
      this.#path,
      remedy,
    );
    if (plan !== this.#plan || first !== number * pageLength)
      throw damagedFileError(
        this.#path,
        `expected row ${number * pageLength} of the plan ${this.#plan}, got row ${first} of ${plan}`,
        remedy,
      );
    return rows as readonly Row[];
  }
}
