/**
 * The links of the chain that ties what was read to what is written, checked by the coordinator from
 * the tasks' reports: what the splits read tiles every input, as many bytes were put on the piles, and
 * each pile came out of pass 2 with the records, bytes and checksum that it got in pass 1. (The third link, that what was written tiles
 * the output, is checked where the output is staged.)
 */

import type { Coverage } from '../../workers/input-part.js';
import type { ShuffleResult } from '../../workers/shuffle.js';
import { VerificationError } from '../errors.js';
import type { PileRun, PileTotals } from '../plan/pile-runs.js';
import type { JobInput } from './job-inputs.js';

/** @throws VerificationError when a byte of an input was read by no split or by two. */
export function verifyCoverage(inputs: readonly JobInput[], coverage: readonly Coverage[]): void {
  const partsOfInput: Coverage[][] = inputs.map(() => []);
  for (const part of coverage) partsOfInput[part.inputOrdinal]?.push(part);
  for (const [ordinal, input] of inputs.entries()) {
    const parts = partsOfInput[ordinal] ?? [];
    const inputBytes =
      input.kind === 'file' && input.codec === undefined
        ? input.version.byteLength
        : parts.find((part) => part.inputBytes !== undefined)?.inputBytes;
    if (inputBytes === undefined) throw new VerificationError(`${input.path} was not read to its end`);
    let end = 0;
    const inOrder = parts.filter((part) => part.end > part.start).sort((a, b) => a.start - b.start);
    for (const part of inOrder) {
      if (part.start !== end) {
        throw new VerificationError(
          `${input.path} was read up to byte ${end} and from byte ${part.start} on, expected no gap and no overlap`,
        );
      }
      end = part.end;
    }
    if (end !== inputBytes)
      throw new VerificationError(`${input.path} was read up to byte ${end}, expected ${inputBytes}`);
  }
}

/** @throws VerificationError when the piles did not get as many bytes as the splits read. */
export function verifyScattered(coverage: readonly Coverage[], scatteredBytes: number): void {
  const readBytes = coverage.reduce((sum, { start, end, addedBytes }) => sum + (end - start) + addedBytes, 0);
  if (scatteredBytes === readBytes) return;
  throw new VerificationError(
    `pass 1 put ${scatteredBytes} bytes on the piles, expected the ${readBytes} that it read; check the memory of this machine`,
  );
}

/** @throws VerificationError when a pile of the run is not what pass 1 put there. */
export function verifyRun(totals: PileTotals, run: PileRun, result: ShuffleResult): void {
  for (let pile = run.first; pile < run.end; pile++) {
    const i = pile - run.first;
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
