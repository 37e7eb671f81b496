/** Adds up what the tasks of pass 1 found of each section, and finds where the sections lie in the order. */
import { InputError } from '../errors.js';
import {
  MOST_SECTIONS,
  rangesOf,
  type SectionRule,
  type SectionTally,
  sectionDirectory,
  tooManySectionsError,
} from '../keep/sections.js';
import { addRecordTotals, NO_TOTALS, type RecordTotals, totalsOfText } from '../piles/pile-totals.js';

export interface Section extends RecordTotals {
  /** The name of its directory. */
  readonly name: string;
}

export class GatheredSections {
  readonly #rule: SectionRule;
  readonly #byText = new Map<string, RecordTotals>();

  constructor(rule: SectionRule) {
    this.#rule = rule;
  }

  add(tallies: readonly SectionTally[]): void {
    for (const { text, ...totals } of tallies)
      this.#byText.set(text, addRecordTotals(this.#byText.get(text) ?? NO_TOTALS, totalsOfText(totals)));
    if (this.#byText.size > MOST_SECTIONS) throw tooManySectionsError(this.#rule, this.#byText.size);
  }

  /** Returns the sections in the order of their keys on piles. Weights may leave out all records of a value: then it has none. */
  sections(): readonly Section[] {
    const rangeOf = rangesOf(this.#rule);
    const [textOfKey, textOfName] = [new Map<bigint, string>(), new Map<string, string>()];
    return [...this.#byText]
      .filter(([, { records }]) => records > 0)
      .map(([text, totals]) => ({ text, firstKey: rangeOf(text).firstKey, totals }))
      .sort((a, b) => (a.firstKey < b.firstKey ? -1 : 1))
      .map(({ text, firstKey, totals }) => {
        const name = sectionDirectory(this.#rule, text);
        const other = textOfName.get(name);
        if (other !== undefined)
          throw new InputError(
            'ERR_VALUES_UNFIT',
            `the values ${shown(other)} and ${shown(text)} of \`each\`, a string and another value of JSON, would both have the directory ${name}; write them alike`,
          );
        const neighbour = textOfKey.get(firstKey);
        if (neighbour !== undefined)
          throw new InputError(
            'ERR_RECORDS_COLLIDE',
            `the values ${shown(neighbour)} and ${shown(text)} of \`each\` have one key; somebody has made them for that`,
          );
        textOfName.set(name, text);
        textOfKey.set(firstKey, text);
        return { name, ...totals };
      });
  }
}

/** Returns a value as JSON has it. @param text as `SectionTally` has it. */
function shown(text: string): string {
  const value = Buffer.from(text, 'latin1').toString();
  return value.startsWith('"') ? JSON.stringify(value.slice(1)) : value;
}
