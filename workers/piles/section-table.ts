/** The table of the sections that a scatter has found: the kernel looks for values in it, and asks here for new ones. */
import { InputError } from '../../src/errors.js';
import {
  MOST_SECTIONS,
  rangeOfUnseen,
  type SectionRange,
  type SectionRule,
  type SectionTally,
  sectionDirectory,
  tooManySectionsError,
} from '../../src/keep/sections.js';
import { checksumTextOf } from '../../src/piles/pile-totals.js';
import type { Kernel } from '../kernel/kernel.js';

/** How the kernel found a value: record-value.ts there has the forms. */
const FORMS = { bare: 1, codedField: 2, codedCell: 3, long: 4, other: 5 } as const;

export class SectionTable {
  readonly #kernel: Kernel;
  readonly #rule: SectionRule;
  readonly #ranges: ReadonlyMap<bigint, SectionRange>;
  /** The texts of the values, by the addresses of their slots. */
  readonly #texts = new Map<number, string>();

  /** The kernel must have its selectors. @param address of room for the table. */
  constructor(kernel: Kernel, address: number, rule: SectionRule) {
    this.#kernel = kernel;
    this.#rule = rule;
    this.#ranges = new Map(rule.ranges.map((range) => [range.hash, range]));
    kernel.openSection = (...found) => this.#open(...found);
    kernel.wasm.sectionByValue(address, kernel.selectors.get('section') ?? 0);
  }

  /** Returns what was found since the table was made. */
  tallies(): SectionTally[] {
    const { view } = this.#kernel;
    return Array.from(this.#texts, ([slot, text]) => ({
      text,
      firstKey: String(view.getBigUint64(slot + 16, true)),
      records: Number(view.getBigUint64(slot + 32, true)),
      bytes: Number(view.getBigUint64(slot + 40, true)),
      checksum: checksumTextOf(view.getBigUint64(slot + 48, true)),
    }));
  }

  #open(slot: number, hash: bigint, at: number, end: number, form: number): void {
    const text = textOf(Buffer.from(this.#kernel.bytes.slice(at, end)), form);
    if (form === FORMS.other) {
      throw new InputError(
        'ERR_RECORDS_COLLIDE',
        `the values ${JSON.stringify(this.#texts.get(slot))} and ${JSON.stringify(text)} of \`each\` have one hash; somebody has made them for that`,
      );
    }
    // Refuses it at once.
    sectionDirectory(this.#rule.name, form === FORMS.long ? '"'.padEnd(1024, '?') : text);
    if (this.#texts.size === MOST_SECTIONS) throw tooManySectionsError(this.#rule, MOST_SECTIONS + 1);
    this.#texts.set(slot, text);
    const { view } = this.#kernel;
    const { firstKey, width } = this.#ranges.get(hash) ?? rangeOfUnseen(hash, this.#rule.ranges);
    view.setBigUint64(slot + 16, firstKey, true);
    view.setBigUint64(slot + 24, width, true);
  }
}

/** Returns the text of a value, as `SectionTally` has it. */
function textOf(found: Buffer, form: number): string {
  const text = found.toString('latin1');
  if (form === FORMS.bare) return `"${text}`;
  if (form === FORMS.codedField) return `"${Buffer.from(JSON.parse(`${found.toString()}"`)).toString('latin1')}`;
  // The first quote stands before the characters.
  if (form === FORMS.codedCell) return `"${text.slice(1).replace(/"("?)|"/g, '$1')}`;
  return text;
}
