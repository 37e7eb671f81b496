/**
 * Files with a number for each record of an input, by its ordinal: `.npy`, `.txt`, `.parquet`. Each is read from front to back,
 * some hundred numbers at a time, and becomes lines of text. The kernel takes a line for each record.
 */
import { extname } from 'node:path';
import { corruptInputError, counted, InputError } from '../../src/errors.js';
import { thenAlwaysAsync } from '../../src/floor/cleanup.js';
import { UNGATED } from '../../src/floor/job-control.js';
import { npyArrayOf, npyHeader } from '../../src/formats/headers/npy-header.js';
import type { RecordSource } from '../../src/formats/record-source.js';
import { finderOfRows, loadRowFormat } from '../../src/formats/rows/registry.js';
import type { RowValueFinder } from '../../src/formats/rows/row-format.js';
import { inputName, RegularInput } from '../../src/places/inputs/input-source.js';
import { VALUES_BYTES } from '../../src/plan/arena-sizes.js';
import type { InputPart } from '../../src/sources/input-part.js';
import type { Kernel } from '../kernel/kernel.js';
import type { TaskSettings } from '../settings.js';
import { memoizedByJob } from '../thread-state.js';
import { linesOfDoubles } from './decimal-lines.js';
import type { ReadContext } from './part-source.js';

type PartValues = NonNullable<InputPart['values']>;
/** Lines, each with its newline. A piece is valid until the next one. */
type Pieces = Iterator<Uint8Array, void>;

/** A number takes 24 characters at the most, and a newline. */
const NUMBERS_AT_A_TIME = Math.floor(VALUES_BYTES / 25);
const NEWLINE = 0x0a;
/** Records without a line have no copies, until the end of the input tells that they are too many. */
const NOTHING = Buffer.from('0\n'.repeat(NUMBERS_AT_A_TIME));

/** The lines of a part, which the kernel takes one by one. */
export interface ValueLines {
  /** Returns for how many records the kernel has a line: at least one. */
  ready(): number;
  taken(count: number): void;
  /** Returns the file and the place in it of the value of a record. */
  placeOf(ordinal: number): string;
  /** Fails if the input has more or fewer records. Call it at the end of the input. */
  requireCount(inputPath: string, records: number): void;
}

function openLines(pieces: Pieces, { path, first }: PartValues, { kernel, valuesAt: at = 0 }: ValueTaker): ValueLines {
  let [left, given] = [0, first];
  const place = (lines: Uint8Array): number => {
    const { bytes, wasm } = kernel;
    bytes.set(lines, at);
    wasm.takeLinesAt(at);
    return Number(wasm.countByte(at, at + lines.byteLength, NEWLINE));
  };
  /** Returns the number of lines that it places: 0 at the end. */
  const next = (): number => {
    const { value } = pieces.next();
    const count = value === undefined ? 0 : place(value);
    given += count;
    return count;
  };
  return {
    ready: () => {
      if (left === 0) left = next() || place(NOTHING);
      return left;
    },
    taken: (count) => {
      left -= count;
    },
    placeOf: (ordinal) => `${path.endsWith('.txt') ? `line ${ordinal + 1}` : `entry ${ordinal}`} of ${path}`,
    requireCount: (inputPath, records) => {
      while (next() > 0);
      if (given === records) return;
      throw new InputError(
        'ERR_COUNTS_DIFFER',
        `${inputName(inputPath)} has ${counted(records, 'record')} and ${path} ${counted(given, 'value')}; expected one for each record`,
      );
    },
  };
}

interface ValueTaker {
  readonly kernel: Kernel;
  /** The place of lines: `VALUES_BYTES`. Absent: the taker needs no values. */
  readonly valuesAt?: number | undefined;
}

/** @param use gets the values of the records of a part; undefined: they have none. */
export async function withValues<T>(
  values: InputPart['values'],
  taker: ValueTaker,
  job: TaskSettings,
  context: ReadContext,
  use: (lines: ValueLines | undefined) => Promise<T>,
): Promise<T> {
  if (values === undefined || taker.valuesAt === undefined) return use(undefined);
  const input = new RegularInput(values.path, values.version, context.control, UNGATED);
  const useLines = async (pieces: Pieces) => {
    const result = await use(openLines(pieces, values, taker));
    input.requireUnchanged();
    return result;
  };
  const read = () => {
    if (extname(values.path) === '.parquet') return withColumn(values, input, taker.kernel, job, context, useLines);
    return useLines(extname(values.path) === '.npy' ? piecesOfArray(input, values) : piecesOfText(input));
  };
  return thenAlwaysAsync(read, () => input.close());
}

function* piecesOfText(input: RegularInput): Generator<Uint8Array, void> {
  const room = Buffer.allocUnsafeSlow(VALUES_BYTES);
  let held = 0;
  for (let position = 0; ; ) {
    const count = input.readAt(room, held, VALUES_BYTES - 1 - held, position);
    position += count;
    let end = held + count;
    if (end === held && held === VALUES_BYTES - 1)
      throw corruptInputError(input.path, `a line has ${held} bytes or more; expected a number in each line`);
    if (end === held && held > 0) room[end++] = NEWLINE;
    const linesEnd = room.subarray(0, end).lastIndexOf(NEWLINE) + 1;
    if (linesEnd > 0) yield room.subarray(0, linesEnd);
    if (count === 0) return;
    room.copyWithin(0, linesEnd, end);
    held = end - linesEnd;
  }
}

/** More than a header of NumPy has. */
const MOST_HEAD_BYTES = 10_240;

/** Returns the halves: with its exponent moved, one is a number of 32 bits. Infinity becomes NaN. */
function halvesIn(bytes: ArrayBuffer): Float32Array {
  const moved = Uint32Array.from(new Uint16Array(bytes), (bits) => ((bits & 0x8000) << 16) | ((bits & 0x7fff) << 13));
  return new Float32Array(moved.buffer).map((each) => (each * 2 ** 112 < 2 ** 16 ? each * 2 ** 112 : Number.NaN));
}

/** The arrays of whole numbers, by NumPy's name of their type without the order of bytes. */
// biome-ignore format: a table
const WHOLE: Readonly<Record<string, new (bytes: ArrayBuffer) => Pick<readonly unknown[], 'join'>>> = {
  b1: Uint8Array, u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, u8: BigUint64Array,
  i1: Int8Array, i2: Int16Array, i4: Int32Array, i8: BigInt64Array,
};
const FLOATS: Readonly<Record<string, (bytes: ArrayBuffer) => Float64Array>> = {
  f2: (bytes) => new Float64Array(halvesIn(bytes)),
  f4: (bytes) => new Float64Array(new Float32Array(bytes)),
  f8: (bytes) => new Float64Array(bytes),
};

function* piecesOfArray(input: RegularInput, { path, version, first }: PartValues): Generator<Uint8Array, void> {
  const head = Buffer.alloc(MOST_HEAD_BYTES);
  const header = npyHeader.measure(head.subarray(0, input.readAt(head, 0, MOST_HEAD_BYTES, 0)), true, path);
  if (header === undefined) throw new RangeError('the head of a file has its header');
  const { dtype, rowShape, rowBytes, rows } = npyArrayOf(header.bytes);
  const type = dtype.replace(/^[<>|=]/, '');
  const [WholeArray, floatsIn] = [WHOLE[type], FLOATS[type]];
  if ((WholeArray ?? floatsIn) === undefined || rowShape.length > 0)
    throw corruptInputError(
      path,
      `holds rows of dtype ${dtype} and shape (${rowShape.join(', ')}); expected one number in each, such as <f4 and shape ()`,
    );
  if (header.byteLength + rows * rowBytes !== version.byteLength)
    throw corruptInputError(
      path,
      `has ${version.byteLength} bytes, expected ${header.byteLength + rows * rowBytes} by its header; make it again`,
    );
  for (let done = first; done < rows; done += NUMBERS_AT_A_TIME) {
    const bytes = new Uint8Array(Math.min(NUMBERS_AT_A_TIME, rows - done) * rowBytes);
    input.readAt(bytes, 0, bytes.byteLength, header.byteLength + done * rowBytes);
    const end = dtype.startsWith('>') ? bytes.byteLength : 0;
    for (let at = 0; at < end; at += rowBytes) bytes.subarray(at, at + rowBytes).reverse();
    if (floatsIn !== undefined) yield linesOfDoubles(floatsIn(bytes.buffer));
    if (WholeArray !== undefined) yield Buffer.from(`${new WholeArray(bytes.buffer).join('\n')}\n`, 'latin1');
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
    use(piecesOfColumn(source, finderOfRows(value), kernel)),
  );
}

function* piecesOfColumn(source: RecordSource, find: RowValueFinder, { wasm }: Kernel): Generator<Uint8Array, void> {
  const rows = Buffer.allocUnsafeSlow(VALUES_BYTES);
  const marks = new DataView(new ArrayBuffer(8 * NUMBERS_AT_A_TIME));
  const scanner = source.framing.openScanner({ bytes: rows, view: marks, wasm }, VALUES_BYTES, 'beginning');
  for (let held = 0; ; ) {
    const count = source.read({ bytes: rows }, held, VALUES_BYTES - held);
    if (typeof count !== 'number') throw new RangeError('a column is read at once');
    if (count === 0) return;
    const end = held + count;
    let start = 0;
    for (let marked = NUMBERS_AT_A_TIME; marked === NUMBERS_AT_A_TIME; ) {
      marked = scanner.scan(start, end, start, 0, NUMBERS_AT_A_TIME);
      if (marked === 0) break;
      const texts = Array.from({ length: marked }, (_, i) => find(rows, marks.getUint32(8 * i, true))?.text ?? '');
      yield Buffer.from(`${texts.join('\n')}\n`, 'latin1');
      start = marks.getUint32(8 * marked - 4, true);
    }
    rows.copyWithin(0, start, end);
    held = end - start;
  }
}
