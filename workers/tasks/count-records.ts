/**
 * A task before the scatter pass: counts the records of parts, or adds up a field of theirs. The weights of groups of inputs
 * may depend on that; and where keys come from ordinals, those of a part depend on how many records are before it.
 */
import { InputError } from '../../src/errors.js';
import { UncountedControl } from '../../src/floor/job-control.js';
import { isJson } from '../../src/formats/first-bytes.js';
import { framingOf } from '../../src/formats/framing-table.js';
import type { RowValueSpec } from '../../src/formats/rows/row-format.js';
import type { NumberField } from '../../src/formats/selector.js';
import { inputName } from '../../src/places/inputs/input-source.js';
import type { Coverage, InputPart } from '../../src/sources/input-part.js';
import type { Arena } from '../arena.js';
import { prepareKeys } from '../piles/record-values.js';
import { recordWithoutNumber, sumOfField, sumOfRows, sumOfWeighed } from '../read/field-sum.js';
import { ReadArena, readPart } from '../read/read-part.js';
import { whyUnfit } from '../read/unfit-record.js';
import type { ReadSettings } from '../settings.js';
import { readStateOf } from '../thread-state.js';

interface CountRecordsTask {
  readonly job: ReadSettings;
  readonly parts: readonly InputPart[];
  /** The field to add up. */
  readonly field?: NumberField | undefined;
  /** True if the bytes count as done only when they are scattered. */
  readonly isPreparation: boolean;
}

export interface CountedRecords {
  readonly records: number;
  readonly coverage: readonly Coverage[];
  /** The sum of the field in each part, in parts of 10^-15; 0 without a field. */
  readonly sums: readonly bigint[];
  /** The same, times the weights that numbers give to the records, in parts of 2^64. */
  readonly weighedSums: readonly bigint[];
}

export async function countRecords({ job, parts, field, isPreparation }: CountRecordsTask): Promise<CountedRecords> {
  const state = readStateOf(job);
  const thread = isPreparation ? { ...state, control: new UncountedControl(job.control) } : state;
  const coverage: Coverage[] = [];
  const sums: bigint[] = [];
  const weighedSums: bigint[] = [];
  let records = 0;
  for (const part of parts) {
    const counter = new RecordCounter(state.arena, job, part.path, field);
    coverage.push((await readPart(part, counter, thread, job)).coverage);
    sums.push(counter.sum);
    weighedSums.push(counter.weighedSum);
    records += counter.records;
  }
  return { records, coverage, sums, weighedSums };
}

class RecordCounter extends ReadArena {
  records = 0;
  sum = 0n;
  weighedSum = 0n;
  readonly #isByNumber: boolean;
  readonly #inputPath: string;
  readonly #delimiterBytes: number;
  readonly #field: NumberField | undefined;

  constructor(arena: Arena, job: ReadSettings, inputPath: string, field: NumberField | undefined) {
    super(arena, job, field?.path.byteLength);
    if (job.content !== undefined) prepareKeys(this.kernel, job.content, false);
    this.#isByNumber = job.content?.limit !== undefined;
    this.#inputPath = inputPath;
    this.#delimiterBytes = (job.read.framing && framingOf(job.read.framing).delimiter?.byteLength) ?? 0;
    this.#field = field;
  }

  /** Pass 1 refuses records that are too long. */
  take(count: number, base: number, basePosition: number, _inputKey: bigint, firstRow = 0): number {
    this.records += count;
    if (this.#field?.value !== undefined) this.#addUpRows(this.#field.name, this.#field.value, count, firstRow);
    else if (this.#field !== undefined) this.#addUp(this.#field, count, basePosition - base);
    if (this.#isByNumber) this.#weigh(count);
    return 0;
  }

  #addUpRows(name: string, value: RowValueSpec, count: number, firstRow: number): void {
    const { sum, without } = sumOfRows(this.kernel, value, this.table, count);
    this.sum += sum;
    if (without === undefined) return;
    const { index, value: found = 'no value' } = without;
    throw new InputError(
      'ERR_FIELD_MISSING',
      `${this.#inputPath}: row ${firstRow + index} has ${found} in the column ${name}; expected a whole number there, from 0 to less than 10^15`,
    );
  }

  #weigh(count: number): void {
    const { kernel, table } = this;
    const weigh = (block: number, records: number) => kernel.wasm.weighBlock(block, records);
    const marks = { table, count };
    const { copies, chances } = sumOfWeighed(kernel, this.#field, this.#delimiterBytes, marks, weigh);
    this.weighedSum += (copies << 64n) + chances;
  }

  /** @param offset decoded position minus address. */
  #addUp({ name, path }: NumberField, count: number, offset: number): void {
    const { kernel } = this;
    kernel.bytes.set(path, this.own);
    this.sum += sumOfField(kernel, this.own, this.#delimiterBytes, this.table, count);
    const without = recordWithoutNumber(kernel);
    if (without === undefined) return;
    const { address, value } = without;
    const has = value === undefined ? `no field ${name}` : `${value} in the field ${name}`;
    const lack = `has ${has}; expected a JSON object with a number there, from 0 to less than 10^15, without quotes`;
    const isNumber = value !== undefined && isJson(value);
    const marked = { kernel, table: this.table, delimiterBytes: this.#delimiterBytes };
    throw new InputError(
      'ERR_FIELD_MISSING',
      `${inputName(this.#inputPath)}: the record at byte ${address + offset} ${whyUnfit(marked, address, isNumber) ?? lack}`,
    );
  }
}
