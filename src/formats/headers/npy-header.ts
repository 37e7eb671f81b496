/**
 * The header of a `.npy` file (NumPy's format.py, versions 1.0 to 3.0): magic bytes, version, length, and a Python
 * dictionary of three entries, filled up with blanks and ended by a newline. The rows follow. Headers of outputs have
 * the same length for any number of rows.
 *
 *     byte 0   \x93NUMPY          6   major and minor version
 *          8   u16, in versions 2 and 3 u32: bytes of the dictionary, including the newline
 */
import { corruptInputError } from '../../errors.js';
import { NO_BYTES } from '../framing.js';
import { MOST_FIXED_BYTES } from '../framings/lengths.js';
import type { HeaderRule } from '../header.js';

interface NpyArray {
  /** NumPy's type of an element, such as `<f4`. */
  readonly dtype: string;
  readonly rows: number;
  readonly rowShape: readonly number[];
  readonly rowBytes: number;
}

const MAGIC = Buffer.from('\x93NUMPY', 'latin1');
/** The alignment for programs that map the rows into memory. */
const ALIGNMENT = 64;
/** NumPy itself refuses more. */
const MOST_TEXT_BYTES = 10_000;
/** The start of the dictionary in version 1, and in later ones. */
const TEXT_START = 10;
const LONG_TEXT_START = 12;
/** An entry of the dictionary. Only these values describe a plain array. */
const ENTRY = /\s*(['"])(descr|fortran_order|shape)\1\s*:\s*('[^']*'|"[^"]*"|True|False|\([^()]*\))\s*(?:,|$)/y;
/** Byte order, kind and bytes of an element (characters for `U`), then the unit of a time. */
const DTYPE =
  /^[<>|=]?(?=b1$|[iu][1248]$|f(?:2|4|8|12|16)$|c(?:8|16|24|32)$|[mM]8(?:\[\w+\])?$|[SUV]\d{1,9}$)([a-zA-Z])(\d+)/;
const BYTES_OF_A_CHARACTER = 4;

export const npyHeader: HeaderRule = {
  measure: (head, isWhole, path) => {
    const fail = (position: number, problem: string) => corruptInputError(path, `byte ${position} ${problem}`);
    const incomplete = () => {
      if (isWhole) throw fail(head.byteLength, 'is the end of the input, inside its .npy header: it is truncated');
      return undefined;
    };
    if (!startsLike(head, MAGIC)) throw fail(0, 'begins an input without the magic bytes of .npy');
    if (head.byteLength < 12) return incomplete();
    const [version = 0, minor = 0] = head.subarray(6, 8);
    if (version < 1 || version > 3 || minor !== 0)
      throw fail(6, `says that the .npy format is version ${version}.${minor}; expected 1.0, 2.0 or 3.0`);
    const textStart = textStartOf(head);
    const textBytes = version === 1 ? head.readUInt16LE(8) : head.readUInt32LE(8);
    if (textBytes > MOST_TEXT_BYTES) throw fail(8, `claims a .npy header of ${textBytes} bytes; expected some hundred`);
    const byteLength = textStart + textBytes;
    if (head.byteLength < byteLength) return incomplete();
    const array = parseDictionary(head.toString('latin1', textStart, byteLength));
    if (typeof array === 'string') throw fail(textStart, `begins a .npy header ${array}`);
    return {
      byteLength,
      bytes: new Uint8Array(head.subarray(0, byteLength)),
      recordBytes: array.rows * array.rowBytes,
      framing: { kind: 'size', value: array.rowBytes },
    };
  },
  difference: (expected, got) => {
    const [one, other] = [npyArrayOf(expected.bytes), npyArrayOf(got.bytes)].map(describeRows);
    if (one === undefined || other === undefined || one === other) return undefined;
    return { position: textStartOf(got.bytes), expected: one, got: other };
  },
  headerOf: ({ bytes }, recordBytes) => {
    const array = npyArrayOf(bytes);
    return formatNpyHeader(array, recordBytes / array.rowBytes);
  },
  trailer: NO_BYTES,
};

export function formatNpyHeader({ dtype, rowShape }: Pick<NpyArray, 'dtype' | 'rowShape'>, rows: number): Buffer {
  const describe = (count: number) =>
    `{'descr': '${dtype}', 'fortran_order': False, 'shape': (${count},${rowShape.map((length) => ` ${length}`).join(',')}), }`;
  const longest = describe(Number.MAX_SAFE_INTEGER).length;
  const byteLength = Math.ceil((TEXT_START + longest + 1) / ALIGNMENT) * ALIGNMENT;
  const header = Buffer.alloc(byteLength, ' ');
  MAGIC.copy(header);
  header[6] = 1;
  header[7] = 0;
  header.writeUInt16LE(byteLength - TEXT_START, 8);
  header.write(describe(rows), TEXT_START, 'latin1');
  header[byteLength - 1] = 0x0a;
  return header;
}

function textStartOf(header: Uint8Array): number {
  return header[6] === 1 ? TEXT_START : LONG_TEXT_START;
}

function startsLike(head: Buffer, magic: Buffer): boolean {
  const bytes = Math.min(head.byteLength, magic.byteLength);
  return head.subarray(0, bytes).equals(magic.subarray(0, bytes));
}

/** A string says what is wrong, to complete "begins a .npy header ...". */
function parseDictionary(text: string): NpyArray | string {
  const { descr, fortran_order: fortran, shape: tuple } = entriesOf(text) ?? {};
  const isPlain = /^['"]/.test(descr ?? '') && fortran?.endsWith('e') && tuple?.startsWith('(');
  if (descr === undefined || tuple === undefined || !isPlain) {
    return 'that does not describe an array of numbers, strings or times; structured and object arrays cannot be shuffled';
  }
  const dtype = descr.slice(1, -1);
  const [, kind, lengthText] = DTYPE.exec(dtype) ?? [];
  if (kind === undefined) {
    return `of dtype ${JSON.stringify(dtype)}; expected numbers, strings or times, such as <f4`;
  }
  const shape = shapeOf(tuple);
  if (shape === undefined) return `of shape ${tuple}, which is not valid`;
  const [rows, ...rowShape] = shape;
  if (rows === undefined) return 'of a single number; expected rows to shuffle';
  if (fortran === 'True' && rowShape.length > 0) {
    return 'of an array in Fortran order, where a row does not lie in one piece; save it in C order';
  }
  const elementBytes = Number(lengthText) * (kind === 'U' ? BYTES_OF_A_CHARACTER : 1);
  const rowBytes = rowShape.reduce((product, length) => product * length, elementBytes);
  if (rowBytes === 0) return 'of rows of no bytes, which cannot be told apart';
  if (rowBytes > MOST_FIXED_BYTES) {
    // From the digits, because large numbers are rounded.
    const lengths = (tuple.match(/\d+/g) ?? []).slice(1).map(BigInt);
    const exactBytes = lengths.reduce((product, length) => product * length, BigInt(elementBytes));
    return `of rows of ${exactBytes} bytes; expected ${MOST_FIXED_BYTES} at most`;
  }
  if (!Number.isSafeInteger(rowBytes * rows)) return `of shape ${tuple}, more than a file can hold`;
  return { dtype, rows, rowShape, rowBytes };
}

function entriesOf(text: string): Readonly<Record<string, string>> | undefined {
  const inside = /^\s*\{(.*)\}\s*$/s.exec(text)?.[1]?.trimEnd();
  if (inside === undefined) return undefined;
  const entries: Record<string, string> = {};
  for (ENTRY.lastIndex = 0; ENTRY.lastIndex < inside.length; ) {
    const [, , key, value] = ENTRY.exec(inside) ?? [];
    if (key === undefined || value === undefined) return undefined;
    entries[key] = value;
  }
  return entries;
}

/** @param tuple with its parentheses; one number has a comma after it. */
function shapeOf(tuple: string): number[] | undefined {
  const parts = tuple
    .slice(1, -1)
    .split(',')
    .map((part) => part.trim().replace(/L$/, ''));
  const last = parts.pop() ?? '';
  if (last !== '') {
    if (parts.length === 0) return undefined;
    parts.push(last);
  }
  return parts.every((part) => /^(?:0|[1-9]\d{0,15})$/.test(part)) ? parts.map(Number) : undefined;
}

/** Returns what a header describes that was measured. */
export function npyArrayOf(bytes: Uint8Array): NpyArray {
  const array = parseDictionary(Buffer.from(bytes).toString('latin1', textStartOf(bytes)));
  if (typeof array === 'string') throw new RangeError(`a .npy header ${array}`);
  return array;
}

function describeRows({ dtype, rowShape }: NpyArray): string {
  return `rows of dtype ${dtype} and shape (${rowShape.join(', ')})`;
}
