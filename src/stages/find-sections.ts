/** Adds up what the tasks of pass 1 found of each section, and finds where the sections lie in the order. */
import { InputError, VerificationError } from '../errors.js';
import {
  MOST_SECTIONS,
  type SectionRule,
  type SectionTally,
  sectionDirectory,
  tooManySectionsError,
} from '../keep/sections.js';
import { addRecordTotals, type RecordTotals, totalsOfText } from '../piles/pile-totals.js';

export interface Section extends RecordTotals {
  /** The name of its directory. */
  readonly name: string;
}

interface Gathered extends RecordTotals {
  readonly firstKey: string;
}

export class GatheredSections {
  readonly #rule: SectionRule;
  readonly #byText = new Map<string, Gathered>();
  readonly #textOfKey = new Map<string, string>();

  constructor(rule: SectionRule) {
    this.#rule = rule;
  }

  add(tallies: readonly SectionTally[]): void {
    for (const { text, firstKey, ...totals } of tallies) {
      const before = this.#byText.get(text);
      const other = this.#textOfKey.get(firstKey) ?? text;
      if (other !== text) throw this.#alike(other, text);
      if (before !== undefined && before.firstKey !== firstKey)
        throw new VerificationError(
          `two tasks gave the value ${JSON.stringify(text)} other keys; discard the job with \`force\``,
        );
      const more = totalsOfText(totals);
      this.#byText.set(text, { ...(before === undefined ? more : addRecordTotals(before, more)), firstKey });
      this.#textOfKey.set(firstKey, text);
    }
    if (this.#byText.size > MOST_SECTIONS) throw tooManySectionsError(this.#rule, this.#byText.size);
  }

  /** Returns the sections in the order of their keys on piles. Weights may leave out all records of a value: then it has none. */
  sections(): readonly Section[] {
    const textOf = new Map<string, string>();
    const inOrder = [...this.#byText]
      .filter(([, { records }]) => records > 0)
      .sort(([, a], [, b]) => (BigInt(a.firstKey) < BigInt(b.firstKey) ? -1 : 1));
    return inOrder.map(([text, { firstKey: _, ...totals }]) => {
      const name = sectionDirectory(this.#rule.name, text);
      const other = textOf.get(name);
      if (other !== undefined)
        throw new InputError(
          'ERR_VALUES_UNFIT',
          `the values ${other.replace(/^"/, '')} and ${text.replace(/^"/, '')} of \`each\`, a string and another value of JSON, would both have the directory ${name}; write them alike`,
        );
      textOf.set(name, text);
      return { name, ...totals };
    });
  }

  #alike(a: string, b: string): InputError {
    return new InputError(
      'ERR_RECORDS_COLLIDE',
      `the values ${JSON.stringify(a)} and ${JSON.stringify(b)} of \`each\` have one hash, or nearly; somebody has made them for that`,
    );
  }
}
