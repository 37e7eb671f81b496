/** Says why a record cannot be taken: it is too long, or lacks its value. */
import { counted, InputError, RECORD_LIMIT_ADVICE, RecordOverMemoryError } from '../../src/errors.js';
import { describeLack } from '../../src/formats/selector.js';
import type { ValueUse } from '../../src/keep/content-rule.js';
import { factorOf, MOST_COPIES, ONCE, type Weight } from '../../src/keep/weights.js';
import { inputName } from '../../src/places/inputs/input-source.js';
import { mayHaveRoomFor, memoryFor } from '../../src/plan/pass2-memory.js';
import type { Kernel } from '../kernel/kernel.js';
import type { PileSettings, ReadSettings } from '../settings.js';
import { readStateOf } from '../thread-state.js';

/** A value that is not a number is shown up to here. */
const MOST_SHOWN_BYTES = 40;

export interface PlaceOfLongRecord {
  readonly path: string;
  /** `row 7`, or `the record at byte 120`. */
  readonly place: string;
}

export function recordOverLimitError({ path, place }: PlaceOfLongRecord, longestBytes: number): InputError {
  return new InputError(
    'ERR_RECORD_TOO_LONG',
    `${inputName(path)}: ${place} is longer than the ${counted(longestBytes, 'byte')} that ${RECORD_LIMIT_ADVICE}, or check that the records end as expected`,
  );
}

/**
 * @param byteLength of the record, as far as it is known.
 * @param neededBytes of the record; a guess if its end is unknown.
 */
export function recordOverMemoryError(
  { path, place }: PlaceOfLongRecord,
  job: ReadSettings & Pick<PileSettings, 'ramPool'>,
  byteLength: string,
  neededBytes: number,
  knownBytes = neededBytes,
): InputError {
  const long = { recordBytes: neededBytes, decoderBytes: readStateOf(job).decoderMemory.reservedBytes };
  const message = `${inputName(path)}: ${place} has ${byteLength} bytes and does not fit the memory budget; expected \`memoryBytes\` of at least ${memoryFor(job.memoryNeed, long)}`;
  // Where threads share a linear memory, arenas of their own, or the only one, may have more room than the plan promises.
  const sharesMemory = job.ramPool?.linear !== undefined;
  return sharesMemory || mayHaveRoomFor(job.memoryNeed, { ...long, recordBytes: knownBytes })
    ? new RecordOverMemoryError(message)
    : new InputError('ERR_RECORD_TOO_LONG', message);
}

/** The records that the kernel took last. */
interface MarkedRecords {
  readonly kernel: Kernel;
  readonly table: number;
  /** The last bytes of a record, which only end it. */
  readonly delimiterBytes: number;
}

/** Says where the record at an address is, as the subject of a sentence. */
type PlaceOf = (address: number) => string;

/** Refuses the first record in which the kernel has found no value for a purpose, and that must have one. */
export function requireValue(marked: MarkedRecords, { purpose, rule }: ValueUse, placeOf: PlaceOf): void {
  const { selector, isUnit } = rule;
  const { wasm, selectors } = marked.kernel;
  const address = wasm.firstRecordWithoutValue(selectors.get(purpose) ?? 0) >>> 0;
  if (address === 0) return;
  const why = selector.kind === 'row' ? undefined : whyUnfit(marked, address, selector.kind === 'field');
  const advice = isUnit === true ? '' : ', or give `missing` a value for such records';
  const lack = `has ${describeLack(selector)}${advice}`;
  throw new InputError('ERR_FIELD_MISSING', `${placeOf(address)} ${why ?? lack}`);
}

/** Names of `unfitReason` of the kernel. */
const UNFIT_REASONS = ['weight', 'product', 'sum'] as const;

/** Refuses the first record whose number is not one, or too large. @param weight of its input. */
export function requireNumber(
  { wasm, bytes }: Kernel,
  values: readonly ValueUse[],
  placeOf: PlaceOf,
  weight: Weight = ONCE,
): void {
  const address = wasm.unfitRecord.value >>> 0;
  if (address === 0) return;
  const reason = UNFIT_REASONS[wasm.unfitReason.value];
  const purpose = reason === 'sum' ? 'sum' : 'weight';
  const rule = values.find((use) => use.purpose === purpose)?.rule;
  const name = rule?.selector.text;
  const use = rule?.isUnit === true ? '`mix` counts' : '`sum` adds up';
  const value = shownText(bytes.subarray(wasm.unfitAt.value >>> 0, wasm.unfitEnd.value >>> 0));
  const has = `${placeOf(address)} has ${value === '' ? 'nothing' : value}`;
  const factor = reason === 'product' ? `, times the factor ${factorOf(weight)} of its input` : '';
  const isTooLarge = reason === 'product' || (reason === 'weight' && Number(value) > MOST_COPIES);
  const remedy = isTooLarge ? 'give `weightCap` to take larger ones for less' : 'mend it, or leave the record out';
  throw new InputError(
    'ERR_FIELD_MISSING',
    purpose === 'sum'
      ? `${has} in ${name}, which ${use}; expected a number from 0 to less than 10^15: ${remedy}`
      : `${has} as its weight, ${name}${factor}; expected a number from 0 to ${MOST_COPIES}: ${remedy}`,
  );
}

/** Returns the value as one line, whatever its bytes are; in quotes if it begins or ends with white space. */
export function shownText(value: Uint8Array): string {
  const text = Buffer.from(value.subarray(0, MOST_SHOWN_BYTES)).toString().replace(/\p{C}/gu, '\ufffd');
  const shown = text === text.trim() ? text : JSON.stringify(text);
  return value.byteLength > MOST_SHOWN_BYTES ? `${shown}...` : shown;
}

/** Completes "the record at byte N"; undefined: the record only lacks the value. @param isOfJson it should be an object. */
export function whyUnfit(
  { kernel: { wasm, view }, table, delimiterBytes }: MarkedRecords,
  address: number,
  isOfJson: boolean,
): string | undefined {
  let mark = table;
  while (view.getUint32(mark, true) !== address) mark += 8;
  const end = view.getUint32(mark + 4, true);
  if (wasm.isBlank(address, end, delimiterBytes)) return 'is blank; give `skipBlank` to leave such records out';
  if (isOfJson && wasm.isBrokenObject(address, end))
    return 'begins as a JSON object and does not end as one; mend it, or leave it out';
  return undefined;
}
