/**
 * The totals of the records of each pile: number, bytes and multiset checksum. The scatter pass takes them, the index of
 * a pile set keeps them, and the job adds them up over pile sets and compares them with the records that the shuffle
 * pass gathers. Each is one column of plain data: they cross threads, and a job has up to 65,536 piles.
 */

import { counted, VerificationError } from '../errors.js';

export interface PileTally {
  readonly records: number;
  /** Bytes of the records in the output, terminators included. */
  readonly recordBytes: number;
  /** Sum modulo 2^64 of the records' hashes. */
  readonly checksum: bigint;
}

export const NOTHING: PileTally = { records: 0, recordBytes: 0, checksum: 0n };

export interface PileTotals {
  readonly records: Float64Array;
  readonly recordBytes: Float64Array;
  readonly checksums: BigUint64Array;
}

/** A number of records, and their bytes. */
export interface Amount {
  readonly records: number;
  readonly bytes: number;
}

export interface TotalsSum extends Amount {
  readonly checksum: bigint;
}

export function emptyTotals(pileCount: number): PileTotals {
  return {
    records: new Float64Array(pileCount),
    recordBytes: new Float64Array(pileCount),
    checksums: new BigUint64Array(pileCount),
  };
}

export function totalsOf(tallies: readonly PileTally[]): PileTotals {
  return {
    records: Float64Array.from(tallies, ({ records }) => records),
    recordBytes: Float64Array.from(tallies, ({ recordBytes }) => recordBytes),
    checksums: BigUint64Array.from(tallies, ({ checksum }) => checksum),
  };
}

export function setTally(totals: PileTotals, pile: number, { records, recordBytes, checksum }: PileTally): void {
  totals.records[pile] = records;
  totals.recordBytes[pile] = recordBytes;
  totals.checksums[pile] = checksum;
}

export function copyOfTotals({ records, recordBytes, checksums }: PileTotals): PileTotals {
  return { records: records.slice(), recordBytes: recordBytes.slice(), checksums: checksums.slice() };
}

/** Adds `more` to the piles from `firstPile` on. The column keeps checksums modulo 2^64. */
export function addTotals(totals: PileTotals, more: PileTotals, firstPile = 0): void {
  for (let i = 0; i < more.records.length; i++) {
    const pile = firstPile + i;
    totals.records[pile] = (totals.records[pile] ?? 0) + (more.records[i] ?? 0);
    totals.recordBytes[pile] = (totals.recordBytes[pile] ?? 0) + (more.recordBytes[i] ?? 0);
    totals.checksums[pile] = (totals.checksums[pile] ?? 0n) + (more.checksums[i] ?? 0n);
  }
}

export function sumTotals({ records, recordBytes, checksums }: PileTotals): TotalsSum {
  const add = (sum: number, more: number) => sum + more;
  const checksum = checksums.reduce((sum, more) => sum + more, 0n);
  return { records: records.reduce(add, 0), bytes: recordBytes.reduce(add, 0), checksum: BigInt.asUintN(64, checksum) };
}

export function tallyOf({ records, recordBytes, checksums }: PileTotals, pile: number): PileTally {
  return { records: records[pile] ?? 0, recordBytes: recordBytes[pile] ?? 0, checksum: checksums[pile] ?? 0n };
}

export function sumOf(a: PileTally, b: PileTally): PileTally {
  return {
    records: a.records + b.records,
    recordBytes: a.recordBytes + b.recordBytes,
    checksum: BigInt.asUintN(64, a.checksum + b.checksum),
  };
}

export function differenceOf(all: PileTally, part: PileTally): PileTally {
  return {
    records: all.records - part.records,
    recordBytes: all.recordBytes - part.recordBytes,
    checksum: BigInt.asUintN(64, all.checksum - part.checksum),
  };
}

export function isSameTally(a: PileTally, b: PileTally): boolean {
  return a.records === b.records && a.recordBytes === b.recordBytes && a.checksum === b.checksum;
}

export function requireSameTally(pile: number, found: PileTally, expected: PileTally): void {
  if (isSameTally(found, expected)) return;
  throw new VerificationError(
    `pile ${pile} came out of pass 2 with ${counted(found.records, 'record')}, ${counted(found.recordBytes, 'byte')} and checksum ${found.checksum.toString(16)}, ` +
      `expected ${expected.records}, ${expected.recordBytes} and ${expected.checksum.toString(16)}; check the temp disk and the memory of this machine`,
  );
}

export function totalsOfRange({ records, recordBytes, checksums }: PileTotals, first: number, end: number): PileTotals {
  return {
    records: records.slice(first, end),
    recordBytes: recordBytes.slice(first, end),
    checksums: checksums.slice(first, end),
  };
}

/** A checksum in the form of reports and files: 16 hex digits. */
export function checksumTextOf(checksum: bigint): string {
  return checksum.toString(16).padStart(16, '0');
}
