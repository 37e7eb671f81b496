/**
 * The simplest definition of the records of each framing: cuts a whole input into records. Shares no code with the
 * program.
 */
import type { FramingSpec } from '#src/formats/framing-table.js';
import { splitTar } from './plain-tar.js';

/** The records of a whole input without its header, with a missing end added. @throws if it is malformed. */
export function splitPlainly(spec: FramingSpec, input: Buffer): Buffer[] {
  switch (spec.kind) {
    case 'delimiter':
      return splitAt(input, Buffer.from(spec.value, 'hex'));
    case 'lines':
      return completed(groups(linesOf(input), spec.value));
    case 'fastq':
      return completed(groups(linesOf(input), 4).filter((read) => read[0] === 0x40));
    case 'fasta':
      return completed(splitBefore(linesOf(input), Buffer.from('>')));
    case 'begins-with':
      return completed(splitBefore(linesOf(input), Buffer.from(spec.value, 'hex')));
    case 'csv':
      return completed(splitCsv(input));
    case 'paragraphs':
      return splitParagraphs(input);
    case 'size':
      return Array.from({ length: input.byteLength / spec.value }, (_, i) =>
        input.subarray(i * spec.value, (i + 1) * spec.value),
      );
    case 'length-prefix':
      return splitPrefixed(input, (at) => bytesOfPrefixed(input, at, spec.value));
    case 'tfrecord':
      return splitPrefixed(input, (at) => 16 + Number(input.readBigUInt64LE(at)));
    case 'webdataset':
      return splitTar(input);
  }
}

/** The last one as it is. */
function linesOf(input: Buffer): Buffer[] {
  return (
    input
      .toString('latin1')
      .match(/[^\n]*\n|[^\n]+$/g)
      ?.map((line) => Buffer.from(line, 'latin1')) ?? []
  );
}

/** The last record with the line end of the one before it, or of the line before it in the only record. */
function completed(records: readonly Buffer[]): Buffer[] {
  const last = records.at(-1)?.toString('latin1') ?? '\n';
  if (last.endsWith('\n')) return [...records];
  const before = records.at(-2)?.toString('latin1') ?? last.slice(0, last.lastIndexOf('\n') + 1);
  const end = before.endsWith('\r\n') && !last.endsWith('\r') ? '\r\n' : '\n';
  return [...records.slice(0, -1), Buffer.from(last + end, 'latin1')];
}

/** Joins lines to records, each of which begins with the text. */
function splitBefore(lines: readonly Buffer[], text: Buffer): Buffer[] {
  const records: Buffer[] = [];
  for (const line of lines) {
    const record = records.at(-1);
    if (record === undefined || line.subarray(0, text.byteLength).equals(text)) records.push(line);
    else records[records.length - 1] = Buffer.concat([record, line]);
  }
  return records;
}

function splitAt(input: Buffer, delimiter: Buffer): Buffer[] {
  const records: Buffer[] = [];
  for (let start = 0; start < input.byteLength; ) {
    const found = input.indexOf(delimiter, start);
    if (found < 0) {
      records.push(Buffer.concat([input.subarray(start), delimiter]));
      break;
    }
    records.push(input.subarray(start, found + delimiter.byteLength));
    start = found + delimiter.byteLength;
  }
  return records;
}

function groups(lines: readonly Buffer[], size: number): Buffer[] {
  const records: Buffer[] = [];
  for (let i = 0; i < lines.length; i += size) records.push(Buffer.concat(lines.slice(i, i + size)));
  return records;
}

/** Byte by byte. */
function splitCsv(input: Buffer): Buffer[] {
  const records: Buffer[] = [];
  let isQuoted = false;
  let start = 0;
  for (const [i, byte] of input.entries()) {
    if (byte === 0x22) isQuoted = !isQuoted;
    if (byte !== 0x0a || isQuoted) continue;
    records.push(input.subarray(start, i + 1));
    start = i + 1;
  }
  if (start < input.byteLength) records.push(input.subarray(start));
  return records;
}

/** Line by line: a record continues until a line with text follows a blank line. */
function splitParagraphs(input: Buffer): Buffer[] {
  if (input.byteLength === 0) return [];
  const records: Buffer[][] = [[]];
  let hasText = false;
  let wasBlank = false;
  for (const line of linesOf(input)) {
    const isBlank = ['\n', '\r\n', '\r'].includes(line.toString('latin1'));
    if (!isBlank && hasText && wasBlank) records.push([]);
    records.at(-1)?.push(line);
    hasText ||= !isBlank;
    wasBlank = isBlank;
  }
  const whole = completed(records.map((lines) => Buffer.concat(lines)));
  const last = whole.at(-1)?.toString('latin1') ?? '';
  const blank = /(^|\n)\r?\n$/.test(last) ? '' : last.endsWith('\r\n') ? '\r\n' : '\n';
  return [...whole.slice(0, -1), Buffer.from(last + blank, 'latin1')];
}

function splitPrefixed(input: Buffer, byteLengthAt: (at: number) => number): Buffer[] {
  const records: Buffer[] = [];
  for (let at = 0; at < input.byteLength; ) {
    const end = at + byteLengthAt(at);
    records.push(input.subarray(at, end));
    at = end;
  }
  return records;
}

function bytesOfPrefixed(input: Buffer, at: number, prefix: 'u32le' | 'u32be' | 'u64le' | 'varint'): number {
  if (prefix === 'u32le') return 4 + input.readUInt32LE(at);
  if (prefix === 'u32be') return 4 + input.readUInt32BE(at);
  if (prefix === 'u64le') return 8 + Number(input.readBigUInt64LE(at));
  let length = 0;
  for (let i = 0; ; i++) {
    const byte = input[at + i] ?? 0;
    length += (byte & 0x7f) * 2 ** (7 * i);
    if (byte < 0x80) return i + 1 + length;
  }
}

/** One record of these bytes, as `--length-prefixed` has it. */
export function prefixed(data: Buffer, prefix: 'u32le' | 'u32be' | 'u64le' | 'varint'): Buffer {
  const head = Buffer.alloc(8);
  if (prefix === 'u32le') head.writeUInt32LE(data.byteLength);
  if (prefix === 'u32be') head.writeUInt32BE(data.byteLength);
  if (prefix === 'u64le') head.writeBigUInt64LE(BigInt(data.byteLength));
  if (prefix !== 'varint') return Buffer.concat([head.subarray(0, prefix === 'u64le' ? 8 : 4), data]);
  const digits: number[] = [];
  for (let rest = data.byteLength; ; rest = Math.floor(rest / 128)) {
    digits.push(rest >= 128 ? (rest % 128) | 0x80 : rest);
    if (rest < 128) return Buffer.concat([Buffer.from(digits), data]);
  }
}

/** One TFRecord of these bytes, by the published layout. */
export function tfrecordOf(data: Buffer): Buffer {
  return Buffer.concat([tfrecordHead(BigInt(data.byteLength)), data, maskedCrc(data)]);
}

/** The prefix of this many bytes of data. */
export function tfrecordHead(dataBytes: bigint): Buffer {
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(dataBytes);
  return Buffer.concat([length, maskedCrc(length)]);
}

function maskedCrc(bytes: Buffer): Buffer {
  const crc = crc32c(bytes);
  const masked = Buffer.alloc(4);
  masked.writeUInt32LE((((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0);
  return masked;
}

/** Bit by bit, with the reflected polynomial of Castagnoli. */
export function crc32c(bytes: Buffer): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0x82f63b78 : 0);
  }
  return ~crc >>> 0;
}
