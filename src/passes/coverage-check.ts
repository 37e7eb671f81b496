/**
 * The first link of the chain that ties what was read to what is written, checked from the tasks' reports: what the
 * tasks read tiles every input. Who took the records, piles or an index, must have got as many bytes.
 */

import { VerificationError } from '../errors.js';
import { requireRecordBytes } from '../formats/header.js';
import type { Coverage } from '../inputs/input-part.js';
import { type Input, type InputHeader, NO_HEADER } from '../inputs/list-inputs.js';
import { inputName } from '../io/input-source.js';

/** Collects what the tasks read, and says whether every byte was read once and taken. */
export class CoverageCheck {
  readonly #inputs: readonly Input[];
  /** Parts of the inputs that no single part covers: a hundred thousand small files have none. */
  readonly #partsOfInput = new Map<number, Coverage[]>();
  readonly #isCovered: Uint8Array;
  readonly #headersOfStreams = new Map<number, InputHeader>();
  #recordBytes = 0;

  constructor(inputs: readonly Input[]) {
    this.#inputs = inputs;
    this.#isCovered = new Uint8Array(inputs.length);
  }

  /** Sets the header of a stream. Comes before the parts of that stream. */
  setHeader(inputOrdinal: number, header: InputHeader): void {
    this.#headersOfStreams.set(inputOrdinal, header);
  }

  /**
   * @throws VerificationError when an input that was read whole is read again; InputError when an input does not hold
   *   what its header says.
   */
  add(part: Coverage): void {
    const { inputOrdinal, start, end, addedBytes } = part;
    this.#recordBytes += end - start + addedBytes;
    const input = this.#inputs[inputOrdinal];
    if (input === undefined) throw new RangeError(`there is no input ${inputOrdinal}`);
    if (this.#isCovered[inputOrdinal] === 1) {
      if (end === start) return;
      throw new VerificationError(`${inputName(input.path)} was read whole, and again from byte ${start} on`);
    }
    const header = this.#headerOf(input, inputOrdinal);
    if (part.inputBytes !== undefined) requireRecordBytes(header, part.inputBytes, inputName(input.path));
    if (start === header.byteLength && end === endOfRecords(input, [part]) && !this.#partsOfInput.has(inputOrdinal)) {
      this.#isCovered[inputOrdinal] = 1;
      return;
    }
    const parts = this.#partsOfInput.get(inputOrdinal);
    if (parts === undefined) this.#partsOfInput.set(inputOrdinal, [part]);
    else parts.push(part);
  }

  #headerOf(input: Input, inputOrdinal: number): InputHeader {
    if (input.kind === 'file') return input.header;
    return this.#headersOfStreams.get(inputOrdinal) ?? NO_HEADER;
  }

  /**
   * @param takenBytes bytes of all records that were taken.
   * @throws VerificationError when a byte of an input was read by no task or by two, or when fewer or more bytes were
   *   taken than read.
   */
  verify(takenBytes: number): void {
    for (const [ordinal, input] of this.#inputs.entries()) {
      if (this.#isCovered[ordinal] === 1) continue;
      requireTiled(input, this.#headerOf(input, ordinal), this.#partsOfInput.get(ordinal) ?? []);
    }
    if (takenBytes === this.#recordBytes) return;
    throw new VerificationError(
      `pass 1 put ${takenBytes} bytes on the piles, expected the ${this.#recordBytes} that it read; check the memory of this machine`,
    );
  }
}

/** Where the records of an input end: by its size, or by the part that met its end. */
function endOfRecords(input: Input, parts: readonly Coverage[]): number | undefined {
  const last = parts.find((part) => part.inputBytes !== undefined);
  const isPlain = input.kind === 'file' && input.codec === undefined;
  const inputBytes = isPlain ? input.version.byteLength : last?.inputBytes;
  return inputBytes === undefined ? undefined : inputBytes - (last?.trailerBytes ?? 0);
}

function requireTiled(input: Input, header: InputHeader, parts: readonly Coverage[]): void {
  const recordsEnd = endOfRecords(input, parts);
  if (recordsEnd === undefined) throw new VerificationError(`${inputName(input.path)} was not read to its end`);
  let end = header.byteLength;
  const inOrder = parts.filter((part) => part.end > part.start).sort((a, b) => a.start - b.start);
  for (const part of inOrder) {
    if (part.start !== end) {
      throw new VerificationError(
        `${inputName(input.path)} was read up to byte ${end} and from byte ${part.start} on, expected no gap and no overlap`,
      );
    }
    end = part.end;
  }
  if (end !== recordsEnd)
    throw new VerificationError(`${inputName(input.path)} was read up to byte ${end}, expected ${recordsEnd}`);
}
