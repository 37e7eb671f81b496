/** The results of the tasks of pass 1, added up. They must cover every byte of every input once. */
import type { ReadSettings } from '../../workers/settings.js';
import type { ScatterResult } from '../../workers/tasks/scatter-slice.js';
import { type FoundHeader, type Header, type HeaderRule, requireSameHeader } from '../formats/header.js';
import { headerRuleOf } from '../formats/record-format.js';
import type { GroupAmount, Weighing } from '../keep/mix.js';
import { NO_SUMS } from '../keep/sum.js';
import { type Amount, addAmounts, addTotals, emptyTotals, NO_TOTALS, type PileTotals } from '../piles/pile-totals.js';
import { inputName } from '../places/inputs/input-source.js';
import { isFileInput } from '../sources/input.js';
import { type Coverage, madeOf, type ReadableInputs, readBytesOf } from '../sources/input-part.js';
import { StartFindings } from '../sources/start-findings.js';
import { CoverageCheck, type InputCounts } from './coverage-check.js';
import { GatheredSections } from './find-sections.js';
import { type ScatteredPileSet, type ScatteredPiles, scatteredPiles } from './shuffle-work.js';

/** The results of pass 1 beside the piles. */
export type Pass1Facts = Pick<
  Pass1Results,
  'header' | 'recordEnds' | 'counts' | 'decoders' | 'leftOut' | 'blank' | 'startFindings' | 'groups'
>;

interface Pass1Work extends Omit<ReadableInputs, 'gates'> {
  readonly settings: Pick<ReadSettings, 'read' | 'content'>;
}

export class Pass1Results {
  /** The decoders of the parts of inputs that this attempt read, and how many parts each decoded. */
  readonly decoders: Record<string, number> = {};
  readonly #pileSets: ScatteredPileSet[] = [];
  readonly #totals: PileTotals;
  readonly #coverage: CoverageCheck;
  readonly #inputs: ReadableInputs['inputs'];
  readonly #headerRule: HeaderRule | undefined;
  readonly #groups: GroupAmounts | undefined;
  readonly #sections: GatheredSections | undefined;
  readonly startFindings = new StartFindings();
  blank: Amount = { records: 0, bytes: 0 };
  /** The end of the records of each input, in decoded bytes. */
  readonly recordEnds: Float64Array;
  #firstHeader: FoundHeader | undefined;
  /** The input with the first header. Streams end in any order, and headers may differ in parts that no rule compares. */
  #firstHeaderOrdinal: number;
  #longestRecordBytes = 0;
  /** The records that were read and put on no pile. */
  leftOut: Amount = { records: 0, bytes: 0 };

  constructor({ inputs, firstHeader, weighing, settings }: Pass1Work, pileCount: number, sumsKeys = false) {
    this.#inputs = inputs;
    const { header } = settings.read;
    const sections = settings.content?.sections;
    this.#sections = sections && new GatheredSections(sections);
    this.#headerRule = header && headerRuleOf(header);
    this.#firstHeader = firstHeader;
    if (inputs.length === 0 && firstHeader?.header.isMarked === true) this.startFindings.addUnread();
    this.#firstHeaderOrdinal = inputs.findIndex(isFileInput);
    this.#totals = emptyTotals(pileCount, sumsKeys);
    this.#coverage = new CoverageCheck(inputs, weighing?.weights);
    this.#groups = weighing === undefined ? undefined : new GroupAmounts(weighing);
    this.recordEnds = new Float64Array(inputs.length);
  }

  /** The amounts of groups. Undefined: the inputs have no weights. */
  get groups(): readonly GroupAmount[] | undefined {
    return this.#groups?.amounts;
  }

  get counts(): InputCounts {
    return this.#coverage.counts;
  }

  get header(): Header | undefined {
    return this.#firstHeader?.header;
  }

  has(slice: number): boolean {
    return this.#pileSets[slice] !== undefined;
  }

  add(slice: number, result: ScatterResult): void {
    const { name, index, diskBytes } = result.pileSet;
    const { coverage, totals, longestRecordBytes, leftOut, streamHeader, decoders = {}, doubts = [] } = result;
    for (const [name, count] of Object.entries(decoders)) {
      this.decoders[name] = (this.decoders[name] ?? 0) + count;
    }
    for (const raised of doubts) this.startFindings.doubts.add(raised);
    if (streamHeader !== undefined) this.#addHeader(coverage[0]?.inputOrdinal ?? 0, streamHeader);
    this.#pileSets[slice] = { name, index, diskBytes };
    for (const part of coverage) {
      this.#coverage.add(part);
      this.#groups?.add(part);
      this.blank = addAmounts(this.blank, part.blank ?? NO_TOTALS);
      const input = this.#inputs.at(part.inputOrdinal);
      if (input !== undefined) this.startFindings.add(part, this.#coverage.headerOf(input, part.inputOrdinal));
      this.recordEnds[part.inputOrdinal] = Math.max(this.recordEnds[part.inputOrdinal] ?? 0, part.end);
    }
    this.#longestRecordBytes = Math.max(this.#longestRecordBytes, longestRecordBytes);
    this.#sections?.add(result.sections ?? []);
    addTotals(this.#totals, totals);
    this.leftOut = addAmounts(this.leftOut, leftOut ?? NO_TOTALS);
  }

  #addHeader(inputOrdinal: number, header: Header): void {
    const found = { path: inputName(this.#inputs.at(inputOrdinal)?.path ?? ''), header };
    if (this.#headerRule === undefined) throw new RangeError('a task read a header that no option asks for');
    if (this.#firstHeader !== undefined) requireSameHeader(this.#headerRule, this.#firstHeader, found);
    if (this.#firstHeader === undefined || inputOrdinal < this.#firstHeaderOrdinal) {
      this.#firstHeader = found;
      this.#firstHeaderOrdinal = inputOrdinal;
    }
    this.#coverage.setHeader(inputOrdinal, header);
  }

  /** Verifies that the piles hold all of the inputs. */
  piles(): ScatteredPiles {
    const piles = scatteredPiles(this.#pileSets, this.#totals, this.#longestRecordBytes);
    this.#coverage.verify(piles.bytes + this.leftOut.bytes);
    return { ...piles, sections: this.#sections?.sections() };
  }
}

export class GroupAmounts {
  readonly #weighing: Weighing;
  readonly amounts: GroupAmount[];

  constructor(weighing: Weighing) {
    this.#weighing = weighing;
    const nothing = { records: 0, bytes: 0 };
    this.amounts = weighing.groups.map(() => ({ read: nothing, weighed: nothing }));
  }

  add(part: Coverage): void {
    const group = this.#weighing.groupOf[part.inputOrdinal] ?? -1;
    const before = this.amounts[group];
    if (before === undefined) throw new RangeError(`input ${part.inputOrdinal} has no group`);
    const { read, weighed, expected = { records: 0n, bytes: 0n }, sums = NO_SUMS } = before;
    const { records = 0, expected: more, sums: moreSums } = part.weighed ?? {};
    this.amounts[group] = {
      read: addAmounts(read, { records, bytes: readBytesOf(part) }),
      weighed: addAmounts(weighed, madeOf(part)),
      expected: more && {
        records: expected.records + BigInt(more.records),
        bytes: expected.bytes + BigInt(more.bytes),
      },
      sums: moreSums && { read: sums.read + BigInt(moreSums.read), made: sums.made + BigInt(moreSums.made) },
    };
  }
}
