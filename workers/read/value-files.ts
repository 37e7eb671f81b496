/**
 * Files with a number for each record of an input, by its ordinal: `.npy`, `.txt`, `.parquet`. Each is read from front to back,
 * some hundred numbers at a time, as doubles. The kernel takes one for each record.
 */
import { extname } from 'node:path';
import { corruptInputError, counted, InputError } from '../../src/errors.js';
import { thenAlwaysAsync } from '../../src/floor/cleanup.js';
import { UNGATED } from '../../src/floor/job-control.js';
import { npyArrayOf, npyHeader } from '../../src/formats/headers/npy-header.js';
import type { RecordSource } from '../../src/formats/record-source.js';
import { finderOfRows, loadRowFormat } from '../../src/formats/rows/registry.js';
import type { RowValueFinder } from '../../src/formats/rows/row-format.js';
import type { NumberLimit } from '../../src/keep/content-rule.js';
import { factorOf, MOST_COPIES, ONCE } from '../../src/keep/weights.js';
import { inputName, RegularInput } from '../../src/places/inputs/input-source.js';
import type { InputPart } from '../../src/sources/input-part.js';
import type { Kernel } from '../kernel/kernel.js';
import type { ReadSettings, TaskSettings } from '../settings.js';
import { memoizedByJob } from '../thread-state.js';
import type { ReadContext } from './part-source.js';
import { shownText } from './unfit-record.js';

type PartValues = NonNullable<InputPart['values']>;
/** Numbers, at least one in each piece. NaN: a record has none. */
type Pieces = Iterator<Float64Array, void>;

/** They lie in the kernel where the selector of weights would be. */
export const NUMBERS_AT_A_TIME = 512;
const READ_BYTES = 16 * 1024;
const [NEWLINE, RETURN, POINT, ZERO, NINE] = [0x0a, 0x0d, 0x2e, 0x30, 0x39];

/** The numbers of a part, which the kernel takes one by one. */
export interface PartNumbers {
  /** Places the numbers of the next records, `NUMBERS_AT_A_TIME` or fewer. */
  place(count: number): void;
  /** Fails if the input has more or fewer records. Call it at the end of the input. */
  requireCount(inputPath: string, records: number): void;
}

function openNumbers(pieces: Pieces, { path, first }: PartValues, kernel: Kernel, accept: AcceptNumber): PartNumbers {
  let piece: Float64Array = new Float64Array();
  let [next, given] = [0, first];
  const hasMore = (): boolean => {
    if (next < piece.length) return true;
    const { value } = pieces.next();
    if (value === undefined) return false;
    piece = value.map((number, i) => accept(number, given + i));
    next = 0;
    given += piece.length;
    return true;
  };
  return {
    place: (count) => {
      const address = kernel.wasm.weightSelectorAddress() >>> 0;
      const room = new Float64Array(kernel.bytes.buffer, address, count);
      let placed = 0;
      while (placed < count && hasMore()) {
        const numbers = piece.subarray(next, next + count - placed);
        room.set(numbers, placed);
        placed += numbers.length;
        next += numbers.length;
      }
      // Records without a number have no copies, until the end of the input tells that they are too many.
      room.fill(0, placed);
      kernel.wasm.takeNumbersAt(address);
    },
    requireCount: (inputPath, records) => {
      while (hasMore()) next = piece.length;
      if (given === records) return;
      throw new InputError(
        'ERR_COUNTS_DIFFER',
        `${inputName(inputPath)} has ${counted(records, 'record')} and ${path} ${counted(given, 'value')}; expected one for each record`,
      );
    },
  };
}

/** Returns the number of a record, or that of records without one. Fails if it is out of range. */
type AcceptNumber = (number: number, ordinal: number) => number;

/** Rounds the most that an input with a factor allows. */
function acceptorOf({ most, isCap, missing }: NumberLimit, { weight = ONCE }: InputPart, path: string): AcceptNumber {
  const mostOfInput = MOST_COPIES / Math.max(1, factorOf(weight));
  const end = isCap && factorOf(most) <= mostOfInput ? Number.POSITIVE_INFINITY : mostOfInput;
  return (number, ordinal) => {
    if (number >= 0 && number <= end) return number;
    const isMissing = Number.isNaN(number);
    if (isMissing && missing !== undefined) return Number(missing);
    const remedy = isMissing
      ? 'give `missing` a value for such records'
      : number > end
        ? 'give `weightCap` to take larger ones for less'
        : 'mend it, or leave the record out';
    throw unfitError(path, ordinal, isMissing ? 'no number' : `${number}`, `from 0 to ${mostOfInput}: ${remedy}`);
  };
}

function unfitError(path: string, ordinal: number, has: string, expected: string): InputError {
  const place = path.endsWith('.txt') ? `line ${ordinal + 1}` : `entry ${ordinal}`;
  return new InputError('ERR_FIELD_MISSING', `${path}: ${place} has ${has} as a weight; expected a number ${expected}`);
}

/** @param use gets the numbers that lie beside the records of a part; undefined: they have none. */
export async function withNumbers<T>(
  part: InputPart,
  kernel: Kernel,
  job: ReadSettings,
  context: ReadContext,
  use: (numbers: PartNumbers | undefined) => Promise<T>,
): Promise<T> {
  const { values } = part;
  const limit = job.content?.limit;
  if (values === undefined || limit === undefined) return use(undefined);
  const input = new RegularInput(values.path, values.version, context.control, UNGATED);
  const useNumbers = async (pieces: Pieces) => {
    const result = await use(openNumbers(pieces, values, kernel, acceptorOf(limit, part, values.path)));
    input.requireUnchanged();
    return result;
  };
  const read = () => {
    if (extname(values.path) === '.parquet') return withColumn(values, input, kernel, job, context, useNumbers);
    return useNumbers(extname(values.path) === '.npy' ? numbersOfArray(input, values) : numbersOfText(input));
  };
  return thenAlwaysAsync(read, () => input.close());
}

function* numbersOfText(input: RegularInput): Generator<Float64Array, void> {
  const room = Buffer.allocUnsafeSlow(READ_BYTES + 1);
  let [held, done] = [0, 0];
  for (let position = 0; ; ) {
    const count = input.readAt(room, held, READ_BYTES - held, position);
    position += count;
    let end = held + count;
    if (end === 0) return;
    if (count === 0) room[end++] = NEWLINE;
    const numbers: number[] = [];
    let start = 0;
    for (let at = 0; at < end; at++) {
      if (room[at] !== NEWLINE) continue;
      const plain = plainNumberIn(room, start, at);
      const text = () => room.toString('latin1', start, room[at - 1] === RETURN ? at - 1 : at);
      numbers.push(Number.isNaN(plain) ? numberOf(text(), input.path, done + numbers.length) : plain);
      start = at + 1;
    }
    if (start === 0 && end === READ_BYTES)
      throw corruptInputError(input.path, `a line has ${end} bytes or more; expected a number in each line`);
    if (start > 0) yield Float64Array.from(numbers);
    done += numbers.length;
    room.copyWithin(0, start, end);
    held = end - start;
  }
}

/** A number as JSON has it. */
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]?\d+)?$/i;

function numberOf(text: string, path: string, ordinal: number): number {
  if (text === '') return Number.NaN;
  if (NUMBER.test(text)) return Number(text);
  throw unfitError(path, ordinal, shownText(Buffer.from(text, 'latin1')), 'in decimal, such as 0.5');
}

/** Fewer than 2^53 units, so one division by an exact power of ten rounds them as `Number` does. */
const MOST_PLAIN_DIGITS = 15;
const POWERS_OF_TEN = Float64Array.from({ length: MOST_PLAIN_DIGITS }, (_, places) => Number(`1e${places}`));

/** Reads digits, with or without a point among them, five times as fast as `Number`. NaN: there is something else. */
function plainNumberIn(bytes: Uint8Array, start: number, end: number): number {
  const second = bytes[start + 1] ?? 0;
  const beginsWithZero = bytes[start] === ZERO && second >= ZERO && second <= NINE;
  if (end === start || end > start + MOST_PLAIN_DIGITS || beginsWithZero) return Number.NaN;
  let digits = 0;
  let places = -1;
  for (let at = start; at < end; at++) {
    const byte = bytes[at] ?? 0;
    if (byte >= ZERO && byte <= NINE) digits = digits * 10 + byte - ZERO;
    else if (byte === POINT && places < 0 && at > start && at + 1 < end) places = end - at - 1;
    else return Number.NaN;
  }
  return places < 0 ? digits : digits / (POWERS_OF_TEN[places] ?? 1);
}

/** More than a header of NumPy has. */
const MOST_HEAD_BYTES = 10_240;

function halfOf(bits: number): number {
  const [exponent, fraction] = [(bits >> 10) & 31, bits & 1023];
  if (exponent === 31 && fraction !== 0) return Number.NaN;
  const size = exponent === 0 ? fraction * 2 ** -24 : (1024 + fraction) * 2 ** (exponent - 25);
  return (bits < 0x8000 ? 1 : -1) * (exponent === 31 ? Number.POSITIVE_INFINITY : size);
}

/** The methods that read an element, by NumPy's name of its type without the order of bytes. */
// biome-ignore format: a table
const GETTERS: Readonly<Record<string, Extract<keyof DataView, `get${string}`>>> = {
  b1: 'getUint8', u1: 'getUint8', u2: 'getUint16', u4: 'getUint32', u8: 'getBigUint64', f2: 'getUint16', f4: 'getFloat32',
  i1: 'getInt8', i2: 'getInt16', i4: 'getInt32', i8: 'getBigInt64', f8: 'getFloat64',
};

function* numbersOfArray(input: RegularInput, { path, version, first }: PartValues): Generator<Float64Array, void> {
  const head = Buffer.alloc(MOST_HEAD_BYTES);
  const header = npyHeader.measure(head.subarray(0, input.readAt(head, 0, MOST_HEAD_BYTES, 0)), true, path);
  if (header === undefined) throw new RangeError('the head of a file has its header');
  const { dtype, rowShape, rowBytes, rows } = npyArrayOf(header.bytes);
  const type = dtype.replace(/^[<>|=]/, '');
  const getter = GETTERS[type];
  if (getter === undefined || rowShape.length > 0)
    throw corruptInputError(
      path,
      `holds rows of dtype ${dtype} and shape (${rowShape.join(', ')}); expected one number in each, such as <f4 and shape ()`,
    );
  if (header.byteLength + rows * rowBytes !== version.byteLength)
    throw corruptInputError(
      path,
      `has ${version.byteLength} bytes, expected ${header.byteLength + rows * rowBytes} by its header; make it again`,
    );
  const view = new DataView(new ArrayBuffer(READ_BYTES));
  const isLittle = !dtype.startsWith('>');
  const most = READ_BYTES / rowBytes;
  for (let done = first; done < rows; done += most) {
    const numbers = new Float64Array(Math.min(most, rows - done));
    input.readAt(new Uint8Array(view.buffer), 0, numbers.length * rowBytes, header.byteLength + done * rowBytes);
    for (let i = 0; i < numbers.length; i++) numbers[i] = Number(view[getter](i * rowBytes, isLittle));
    yield type === 'f2' ? numbers.map(halfOf) : numbers;
  }
}

/** The rows of an input may have another format. */
const columnThreadOf = memoizedByJob(async (_: TaskSettings, { control }) =>
  (await loadRowFormat({ format: 'Parquet' })).openThread(control),
);

async function withColumn<T>(
  file: PartValues,
  input: RegularInput,
  kernel: Kernel,
  job: TaskSettings,
  context: ReadContext,
  use: (pieces: Pieces) => Promise<T>,
): Promise<T> {
  const format = await loadRowFormat({ format: 'Parquet' });
  const request = { choice: {}, signal: undefined, onWarning: () => {}, writes: false };
  const { rows, facts } = await format.open([file], request);
  const value = format.seek(rows, file.path, { text: 'a file of weights', keys: [], as: 'number' });
  const part = { ...file, start: 0, end: facts[0]?.rows ?? 0 };
  const thread = await columnThreadOf(job);
  return thread.openPart(part, rows, { ...context, input }, (source) =>
    use(numbersOfColumn(source, finderOfRows(value), kernel)),
  );
}

function* numbersOfColumn(source: RecordSource, find: RowValueFinder, { wasm }: Kernel): Generator<Float64Array, void> {
  const rows = Buffer.allocUnsafeSlow(READ_BYTES);
  // A row has a byte or more.
  const marks = new DataView(new ArrayBuffer(8 * READ_BYTES));
  const scanner = source.framing.openScanner({ bytes: rows, view: marks, wasm }, READ_BYTES, 'beginning');
  for (let held = 0; ; ) {
    const count = source.read({ bytes: rows }, held, READ_BYTES - held);
    if (typeof count !== 'number') throw new RangeError('a column is read at once');
    if (count === 0) return;
    const marked = scanner.scan(0, held + count, 0, 0, READ_BYTES);
    const end = marked === 0 ? 0 : marks.getUint32(8 * marked - 4, true);
    const numberAt = (_: unknown, i: number) => Number(find(rows, marks.getUint32(8 * i, true))?.text);
    if (marked > 0) yield Float64Array.from({ length: marked }, numberAt);
    rows.copyWithin(0, end, held + count);
    held += count - end;
  }
}
