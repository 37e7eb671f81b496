// The loops over every byte or every record. Memory comes from the host; the kernel never allocates. Addresses are u32, so
// one memory holds at most 4 GiB.

export { blankBytes, dropBlank, isBlank } from './boundary-table';
export { droppedBytes, droppedChecksum, droppedRecords } from './duplicates';
export { compareByValue } from './equal-records';
export { beginRange, rangeEnd, compactRange, rangeRecords, mixKeys, recordsBefore, recordsSeen } from './epoch-keys';
export { beginSpan, spanKey, spanSecond, spanShift, spanStored, useWindow } from './key-window';
export {
  keepAll,
  keepUpTo,
  keyByContent,
  keyByOrdinal,
  keyByPlace,
  keyOfRecord,
  leftOutBytes,
  leftOutRecords,
  longestLeftOut,
  takeKeptCount,
} from './keying';
export { fieldHash, hasField, isBrokenObject, setFieldPath } from './json-field';
export {
  compareValues,
  findCharactersOf,
  firstRecordWithoutValue,
  foundAt,
  foundEnd,
  isCoded,
  setSelectorColumn,
  useSelector,
  valueHash,
} from './record-value';
export { sectionByNone, sectionByValue } from './section-keys';
export { splitByFirstCopy, splitByNone, splitByValue, splitsAddress } from './split-keys';
export {
  gather,
  gatheredByteLength,
  hashInPlace,
  markOrdered,
  measuredByteLength,
  measureUnits,
  compactStored,
  lastUnitBytes,
  longestUnitBytes,
  orderChecksum,
  orderDistinct,
  orderWalked,
  prepareOrder,
  recordAddress,
  recordByteLength,
  walkedCount,
  walkedEnd,
  walkedKeySum,
  walkStored,
} from './order';
export { numbersChecksum, prepareNumbers, writeNumbers } from './write-numbers';
export { drawRanks, findPosition, philoxBlock, philoxKeys4 } from './philox';
export {
  countByte,
  linesPending,
  paragraphLineStart,
  paragraphSeen,
  scanDelimiter,
  scanFixed,
  scanLineGroups,
  scanParagraphs,
  scanSequence,
  sequenceAddress,
} from './scan';
export { quotesPending, scanQuoted, strayQuote } from './scan-csv';
export { isBadRead, readLineEnd1, readLineEnd2, readLineEnd3, readLines, scanReads, sumOfNames } from './scan-fastq';
export { framingProblem, framingProblemValue, scanLengthPrefixed, scanTfrecords } from './scan-lengths';
export {
  dropRecent,
  fillSecondKeys,
  longestRecord,
  prepareScatter,
  rescatterStored,
  resumeScatter,
  scatterRecords,
  useBuffer,
} from './scatter-records';
export { useScratch } from './scratch';
export { useSecondKeys } from './stored-record';
export { clearSums, sumByValue, sumGathered, sumsAddress, weighRecords } from './sum-values';
export { resetTally, longestTallied, selectRecords, talliedBytes, talliedChecksum, tallyRecords } from './tally-sets';
export { addToHash, beginHash, hashOfPieces, recordHash } from './record-hash';
export {
  expectedByteParts,
  expectedBytes,
  expectedRecordParts,
  expectedRecords,
  longestWeighed,
  madeBytes,
  madeRecords,
  setCopies,
  takeNumbersAt,
  unfitAt,
  unfitEnd,
  unfitReason,
  unfitRecord,
  weighBlock,
  weighByNone,
  weighByValue,
  weighedBytes,
  weighEach,
  weightSelectorAddress,
} from './weigh';
