/**
 * The totals of the records of each pile: number, bytes and multiset checksum. The scatter pass takes them, the index of
 * a pile set stores them, and the job adds them up over pile sets and compares them with the records that the shuffle
 * pass gathers. Each is one column of plain data: they cross threads, and a job has up to 65,536 piles.
 */

import { counted, VerificationError } from '../errors.js';

/** A number of records, and their bytes in the output, terminators included. */
export interface Amount {
  readonly records: number;
  readonly bytes: number;
}

/** The totals of a set of records. */
export interface RecordTotals extends Amount {
  /** Sum modulo 2^64 of the records' hashes. */
  readonly checksum: bigint;
}

export const NO_TOTALS: RecordTotals = { records: 0, bytes: 0, checksum: 0n };

/** A limit in a pile: what lies before the first record, or bundle, that begins there or later. */
export interface MeasuredLimit extends RecordTotals {
  /** The byte at which the record or bundle across the limit begins. None lies across: `bytes`. */
  readonly start: number;
  readonly longestRecordBytes: number;
}

export const NOTHING_BEFORE: MeasuredLimit = { ...NO_TOTALS, start: 0, longestRecordBytes: 0 };

/** The totals as reports and files have them: the checksum in 16 hex digits. */
export interface RecordTotalsText extends Amount {
  readonly checksum: string;
}

/** The totals of each pile, by its number. */
export interface PileTotals {
  readonly records: Float64Array;
  readonly recordBytes: Float64Array;
  readonly checksums: BigUint64Array;
  /**
   * The sums modulo 2^64 of the keys of all records that pass 1 put on the piles. Absent: the segments have checksums, which
   * cover the keys.
   */
  readonly keySums?: BigUint64Array | undefined;
}

export function emptyTotals(pileCount: number, sumsKeys = false): PileTotals {
  return {
    records: new Float64Array(pileCount),
    recordBytes: new Float64Array(pileCount),
    checksums: new BigUint64Array(pileCount),
    keySums: sumsKeys ? new BigUint64Array(pileCount) : undefined,
  };
}

export function pileTotalsOf(ofPiles: readonly RecordTotals[]): PileTotals {
  return {
    records: Float64Array.from(ofPiles, ({ records }) => records),
    recordBytes: Float64Array.from(ofPiles, ({ bytes }) => bytes),
    checksums: BigUint64Array.from(ofPiles, ({ checksum }) => checksum),
  };
}

export function setTotalsOfPile(totals: PileTotals, pile: number, { records, bytes, checksum }: RecordTotals): void {
  totals.records[pile] = records;
  totals.recordBytes[pile] = bytes;
  totals.checksums[pile] = checksum;
}

export function copyOfTotals(totals: PileTotals): PileTotals {
  return totalsOfRange(totals, 0, totals.records.length);
}

/** Adds `more` to the piles from `firstPile` on. The column holds checksums modulo 2^64. */
export function addTotals(totals: PileTotals, more: PileTotals, firstPile = 0): void {
  for (let i = 0; i < more.records.length; i++) {
    const pile = firstPile + i;
    totals.records[pile] = (totals.records[pile] ?? 0) + (more.records[i] ?? 0);
    totals.recordBytes[pile] = (totals.recordBytes[pile] ?? 0) + (more.recordBytes[i] ?? 0);
    totals.checksums[pile] = (totals.checksums[pile] ?? 0n) + (more.checksums[i] ?? 0n);
    if (totals.keySums !== undefined) totals.keySums[pile] = (totals.keySums[pile] ?? 0n) + (more.keySums?.[i] ?? 0n);
  }
}

export function sumOverPiles({ records, recordBytes, checksums }: PileTotals): RecordTotals {
  const add = (sum: number, more: number) => sum + more;
  const checksum = checksums.reduce((sum, more) => sum + more, 0n);
  return { records: records.reduce(add, 0), bytes: recordBytes.reduce(add, 0), checksum: BigInt.asUintN(64, checksum) };
}

export function totalsOfPile({ records, recordBytes, checksums }: PileTotals, pile: number): RecordTotals {
  return { records: records[pile] ?? 0, bytes: recordBytes[pile] ?? 0, checksum: checksums[pile] ?? 0n };
}

export function addRecordTotals(a: RecordTotals, b: RecordTotals): RecordTotals {
  return {
    records: a.records + b.records,
    bytes: a.bytes + b.bytes,
    checksum: BigInt.asUintN(64, a.checksum + b.checksum),
  };
}

export function subtractRecordTotals(all: RecordTotals, part: RecordTotals): RecordTotals {
  return { ...subtractAmount(all, part), checksum: BigInt.asUintN(64, all.checksum - part.checksum) };
}

export function addAmounts(a: Amount, b: Amount): Amount {
  return { records: a.records + b.records, bytes: a.bytes + b.bytes };
}

export function subtractAmount(all: Amount, part: Amount): Amount {
  return { records: all.records - part.records, bytes: all.bytes - part.bytes };
}

export function areSameTotals(a: RecordTotals, b: RecordTotals): boolean {
  return a.records === b.records && a.bytes === b.bytes && a.checksum === b.checksum;
}

export function requireSameTotals(pile: number, found: RecordTotals, expected: RecordTotals): void {
  if (areSameTotals(found, expected)) return;
  throw new VerificationError(
    `pile ${pile} came out of pass 2 with ${counted(found.records, 'record')}, ${counted(found.bytes, 'byte')} and checksum ${found.checksum.toString(16)}, ` +
      `expected ${expected.records}, ${expected.bytes} and ${expected.checksum.toString(16)}; check the temp disk and the memory of this machine`,
  );
}

export function totalsOfRange(totals: PileTotals, first: number, end: number): PileTotals {
  const { records, recordBytes, checksums, keySums } = totals;
  return {
    records: records.slice(first, end),
    recordBytes: recordBytes.slice(first, end),
    checksums: checksums.slice(first, end),
    keySums: keySums?.slice(first, end),
  };
}

export function requireSameKeys(pile: number, foundSum: bigint, expectedSum: bigint): void {
  if (foundSum === expectedSum) return;
  throw new VerificationError(
    `pile ${pile} came out of pass 2 with other keys than pass 1 gave its records; check the memory of this machine`,
  );
}

/** Returns a checksum as 16 hex digits. */
export function checksumTextOf(checksum: bigint): string {
  return checksum.toString(16).padStart(16, '0');
}

export function textOfTotals({ records, bytes, checksum }: RecordTotals): RecordTotalsText {
  return { records, bytes, checksum: checksumTextOf(checksum) };
}

/** Describes totals for messages. */
export function describeTotals({ records, bytes, checksum }: RecordTotalsText): string {
  return `${counted(records, 'record')} of ${counted(bytes, 'byte')}, checksum ${checksum}`;
}

export function totalsOfText({ records, bytes, checksum }: RecordTotalsText): RecordTotals {
  return { records, bytes, checksum: BigInt(`0x${checksum}`) };
}
