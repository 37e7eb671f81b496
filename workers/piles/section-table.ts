/** The table of the sections that a scatter has found: the kernel looks for values in it, and asks here for new ones. */
import { InputError } from '../../src/errors.js';
import {
  type RangeOfSection,
  rangesOf,
  type SectionRule,
  type SectionTally,
  sectionDirectory,
  tooManySectionsError,
} from '../../src/keep/sections.js';
import { checksumTextOf } from '../../src/piles/pile-totals.js';
import { SECTION_TABLE_BYTES } from '../../src/plan/arena-sizes.js';
import type { Kernel } from '../kernel/kernel.js';

/** section-keys.ts in the kernel has the layout. */
const ADDRESSES_BYTES = 32_768 * 4;
const HEAD_BYTES = 48;
/** Two escapes may be the halves of one character. */
const ESCAPES = /(?:\\u[\da-fA-F]{4})+|\\["\\/bfnrt]/g;

export class SectionTable {
  readonly #kernel: Kernel;
  readonly #rule: SectionRule;
  readonly #rangeOf: RangeOfSection;
  readonly #end: number;
  #next: number;
  /** The texts of the values, by the addresses of their entries. */
  readonly #texts = new Map<number, string>();

  /** The kernel must have its selectors. @param address of room for the table. */
  constructor(kernel: Kernel, address: number, rule: SectionRule) {
    this.#kernel = kernel;
    this.#rule = rule;
    this.#rangeOf = rangesOf(rule);
    this.#next = address + ADDRESSES_BYTES;
    this.#end = address + SECTION_TABLE_BYTES;
    kernel.openSection = (at, end, isCoded) => this.#open(at, end, isCoded);
    kernel.wasm.sectionByValue(address, kernel.selectors.get('section') ?? 0);
  }

  /** Returns what was found since the table was made. A value may have several tallies. */
  tallies(): SectionTally[] {
    const { view } = this.#kernel;
    return Array.from(this.#texts, ([entry, text]) => ({
      text,
      records: Number(view.getBigUint64(entry + 16, true)),
      bytes: Number(view.getBigUint64(entry + 24, true)),
      checksum: checksumTextOf(view.getBigUint64(entry + 32, true)),
    }));
  }

  #open(at: number, end: number, isCoded: boolean): number {
    const { bytes, view } = this.#kernel;
    const entry = this.#next;
    const text = textOfFound(this.#kernel, this.#rule);
    // Refuses it at once.
    sectionDirectory(this.#rule, text);
    this.#next += HEAD_BYTES + 8 * Math.ceil((end - at) / 8);
    if (this.#next > this.#end) throw tooManySectionsError(this.#rule, this.#texts.size + 1);
    this.#texts.set(entry, text);
    const { firstKey, width } = this.#rangeOf(text);
    bytes.fill(0, entry, this.#next);
    view.setBigUint64(entry, firstKey, true);
    view.setBigUint64(entry + 8, width, true);
    view.setUint32(entry + 40, end - at, true);
    view.setUint32(entry + 44, isCoded ? 1 : 0, true);
    bytes.copyWithin(entry + HEAD_BYTES, at, end);
    return entry;
  }
}

/** Returns the text, as `SectionTally` has it, of the value that the kernel has just found. */
export function textOfFound({ wasm, bytes }: Kernel, { value: { selector } }: Pick<SectionRule, 'value'>): string {
  const [at, end] = [wasm.foundAt.value >>> 0, wasm.foundEnd.value >>> 0];
  const text = Buffer.from(bytes.slice(at, end)).toString('latin1');
  // The kernel has no room for a value of such a length.
  if (at === end && selector.kind !== 'column') return '"'.padEnd(1024, '?');
  if (selector.kind !== 'column') return wasm.isCoded.value ? text.replace(ESCAPES, decoded) : text;
  // The first quote stands before the characters.
  return `"${wasm.isCoded.value ? text.slice(1).replace(/"("?)|"/g, '$1') : text}`;
}

/** Returns the bytes of escapes, a character for each. */
function decoded(escapes: string): string {
  const characters: unknown = JSON.parse(`"${escapes}"`);
  const bytes = Buffer.from(String(characters));
  if (bytes.toString() === characters) return bytes.toString('latin1');
  throw new InputError(
    'ERR_VALUES_UNFIT',
    `a value of \`each\` has ${escapes}, which is half of a character; expected characters of Unicode`,
  );
}
