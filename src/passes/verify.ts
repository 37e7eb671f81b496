/**
 * The links of the chain that ties what was read to what is written, checked by the coordinator from
 * the tasks' reports: what the slices read tiles every input, as many bytes were put on the piles, and
 * each pile came out of pass 2 with the records, bytes and checksum that it got in pass 1. (The third
 * link, that what was written tiles the output, is checked where the output is staged.)
 */

import type { Coverage } from '../../workers/read/input-part.js';
import type { ShuffleResult } from '../../workers/tasks/shuffle.js';
import { VerificationError } from '../errors.js';
import { requireRecordBytes } from '../formats/header.js';
import { type InputHeader, type JobInput, NO_HEADER } from '../inputs/list-inputs.js';
import { inputName } from '../io/input-source.js';
import type { PileRange, PileTotals } from '../plan/pile-ranges.js';

/** Collects what the slices read, and says whether every byte was read once and put on a pile. */
export class CoverageCheck {
  readonly #inputs: readonly JobInput[];
  /** Parts of the inputs that no part covers alone: of a hundred thousand small files there are none. */
  readonly #partsOfInput = new Map<number, Coverage[]>();
  readonly #isCovered: Uint8Array;
  readonly #headersOfStreams = new Map<number, InputHeader>();
  #recordBytes = 0;

  constructor(inputs: readonly JobInput[]) {
    this.#inputs = inputs;
    this.#isCovered = new Uint8Array(inputs.length);
  }

  /** The header of a stream, which comes before what was read of it. */
  setHeader(inputOrdinal: number, header: InputHeader): void {
    this.#headersOfStreams.set(inputOrdinal, header);
  }

  /**
   * @throws VerificationError when an input that was read whole was read again; InputError when it does not hold what
   *   its header says.
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

  #headerOf(input: JobInput, inputOrdinal: number): InputHeader {
    if (input.kind === 'file') return input.header;
    return this.#headersOfStreams.get(inputOrdinal) ?? NO_HEADER;
  }

  /**
   * @param scatteredBytes that all piles got.
   * @throws VerificationError when a byte of an input was read by no slice or by two, or when the piles
   *   did not get as many bytes as the slices read.
   */
  verify(scatteredBytes: number): void {
    for (const [ordinal, input] of this.#inputs.entries()) {
      if (this.#isCovered[ordinal] === 1) continue;
      requireTiled(input, this.#headerOf(input, ordinal), this.#partsOfInput.get(ordinal) ?? []);
    }
    if (scatteredBytes === this.#recordBytes) return;
    throw new VerificationError(
      `pass 1 put ${scatteredBytes} bytes on the piles, expected the ${this.#recordBytes} that it read; check the memory of this machine`,
    );
  }
}

/** Where the records of an input end: by its size, or by the part that came to its end. */
function endOfRecords(input: JobInput, parts: readonly Coverage[]): number | undefined {
  const last = parts.find((part) => part.inputBytes !== undefined);
  const isPlain = input.kind === 'file' && input.codec === undefined;
  const inputBytes = isPlain ? input.version.byteLength : last?.inputBytes;
  return inputBytes === undefined ? undefined : inputBytes - (last?.trailerBytes ?? 0);
}

function requireTiled(input: JobInput, header: InputHeader, parts: readonly Coverage[]): void {
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

/** @throws VerificationError when a pile of the run is not what pass 1 put there. */
export function verifyRange(totals: PileTotals, range: PileRange, result: ShuffleResult): void {
  for (let pile = range.first; pile < range.end; pile++) {
    const i = pile - range.first;
    const same =
      result.records[i] === totals.records[pile] &&
      result.recordBytes[i] === totals.recordBytes[pile] &&
      result.checksums[i] === totals.checksums[pile];
    if (same) continue;
    throw new VerificationError(
      `pile ${pile} came out of pass 2 with ${result.records[i]} records, ${result.recordBytes[i]} bytes and checksum ${result.checksums[i]?.toString(16)}, ` +
        `expected ${totals.records[pile]}, ${totals.recordBytes[pile]} and ${totals.checksums[pile]?.toString(16)}; check the temp disk and the memory of this machine`,
    );
  }
}
