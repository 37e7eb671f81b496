/**
 * Checks from the reports of the tasks that they read every byte of every input once, and that the piles, or the index, got
 * as many bytes. This is the first of the checks that tie the output to the inputs.
 */
import { counted, VerificationError } from '../errors.js';
import { requireRecordBytes } from '../formats/header.js';
import { isNothing, type Weight } from '../keep/weights.js';
import { inputName } from '../places/inputs/input-source.js';
import {
  endOfInput,
  type Input,
  type InputHeader,
  type Inputs,
  isFileInput,
  NO_HEADER,
  unitOf,
} from '../sources/input.js';
import { type Coverage, madeOf } from '../sources/input-part.js';

/** The counts of each input, where the keys come from ordinals, or it holds rows; else 0. */
export interface InputCounts {
  readonly records: Float64Array;
  /** Modulo 2^64; 0 where records have no names. */
  readonly nameSums: BigUint64Array;
}

export class CoverageCheck {
  readonly #inputs: Inputs;
  /** The parts of inputs that were read in several ones: a hundred thousand small files have no entry. */
  readonly #partsOfInput = new Map<number, Coverage[]>();
  readonly #isCovered: Uint8Array;
  readonly #headersOfStreams = new Map<number, InputHeader>();
  readonly #weights: readonly Weight[] | undefined;
  /** The bytes with all copies. */
  #recordBytes = 0;
  readonly counts: InputCounts;

  /** @param weights of each input; absent: each record comes once. */
  constructor(inputs: Inputs, weights?: readonly Weight[]) {
    this.#inputs = inputs;
    this.#weights = weights;
    this.#isCovered = new Uint8Array(inputs.length);
    this.counts = { records: new Float64Array(inputs.length), nameSums: new BigUint64Array(inputs.length) };
  }

  /** Call it before `add` with a part of that stream. */
  setHeader(inputOrdinal: number, header: InputHeader): void {
    this.#headersOfStreams.set(inputOrdinal, header);
  }

  add(part: Coverage): void {
    const { inputOrdinal, start, end, markBytes = 0 } = part;
    this.#recordBytes += madeOf(part).bytes;
    const input = this.#inputs.at(inputOrdinal);
    if (input === undefined) throw new RangeError(`there is no input ${inputOrdinal}`);
    if (this.#isCovered[inputOrdinal] === 1) {
      if (end === start) return;
      throw new VerificationError(
        `${inputName(input.path)} was read whole, and again from ${unitOf(input)} ${start} on`,
      );
    }
    this.#count(part);
    const header = this.headerOf(input, inputOrdinal);
    if (part.inputBytes !== undefined) requireRecordBytes(header, part.inputBytes, inputName(input.path));
    const isFromFirst = (part.ordinals?.start ?? 0) === 0;
    if (
      isFromFirst &&
      start === header.byteLength + markBytes &&
      end === endOfRecords(input, [part]) &&
      !this.#partsOfInput.has(inputOrdinal)
    ) {
      this.#isCovered[inputOrdinal] = 1;
      return;
    }
    const parts = this.#partsOfInput.get(inputOrdinal);
    if (parts === undefined) this.#partsOfInput.set(inputOrdinal, [part]);
    else parts.push(part);
  }

  #count({ inputOrdinal, start, end, rowBytes, ordinals }: Coverage): void {
    const counted = rowBytes === undefined ? ordinals : { start, end };
    if (counted === undefined) return;
    const { records, nameSums } = this.counts;
    records[inputOrdinal] = (records[inputOrdinal] ?? 0) + counted.end - counted.start;
    nameSums[inputOrdinal] = (nameSums[inputOrdinal] ?? 0n) + BigInt(`0x${ordinals?.names ?? '0'}`);
  }

  headerOf(input: Input, inputOrdinal: number): InputHeader {
    if (isFileInput(input)) return input.header;
    return this.#headersOfStreams.get(inputOrdinal) ?? NO_HEADER;
  }

  /** @param takenBytes bytes of all records that the piles or the index got, or that were left out. */
  verify(takenBytes: number): void {
    for (const [ordinal, input] of this.#inputs.entries()) {
      if (this.#isCovered[ordinal] === 1) continue;
      const weight = this.#weights?.[ordinal];
      if (weight !== undefined && isNothing(weight)) continue;
      requireTiled(input, this.headerOf(input, ordinal), this.#partsOfInput.get(ordinal) ?? []);
    }
    if (takenBytes === this.#recordBytes) return;
    throw missingBytesError(takenBytes, this.#recordBytes);
  }
}

export function missingBytesError(takenBytes: number, readBytes: number): VerificationError {
  return new VerificationError(
    `pass 1 put ${counted(takenBytes, 'byte')} on the piles, expected the ${readBytes} that it read; check the memory of this machine`,
  );
}

/** Returns where the records of an input end: known from its size, or from the part that reached its end. */
function endOfRecords(input: Input, parts: readonly Coverage[]): number | undefined {
  const last = parts.find((part) => part.inputBytes !== undefined);
  const inputBytes = endOfInput(input) ?? last?.inputBytes;
  // Several parts may lie in the trailer.
  const trailerBytes = parts.reduce((most, part) => Math.max(most, part.trailerBytes), 0);
  return inputBytes === undefined ? undefined : inputBytes - trailerBytes;
}

function requireTiled(input: Input, header: InputHeader, parts: readonly Coverage[]): void {
  const recordsEnd = endOfRecords(input, parts);
  if (recordsEnd === undefined) throw new VerificationError(`${inputName(input.path)} was not read to its end`);
  let end = header.byteLength + (parts.find(({ markBytes }) => markBytes !== undefined)?.markBytes ?? 0);
  let ordinal = 0;
  const inOrder = parts.filter((part) => part.end > part.start).sort((a, b) => a.start - b.start);
  for (const part of inOrder) {
    if (part.start !== end) {
      throw new VerificationError(
        `${inputName(input.path)} was read up to ${unitOf(input)} ${end} and from ${unitOf(input)} ${part.start} on, expected no gap and no overlap`,
      );
    }
    end = part.end;
    if (part.ordinals === undefined) continue;
    if (part.ordinals.start !== ordinal) {
      throw new VerificationError(
        `${inputName(input.path)}: the records from byte ${part.start} on were counted from ${part.ordinals.start} on, expected ${ordinal}`,
      );
    }
    ordinal = part.ordinals.end;
  }
  if (end !== recordsEnd)
    throw new VerificationError(
      `${inputName(input.path)} was read up to ${unitOf(input)} ${end}, expected ${recordsEnd}`,
    );
}
