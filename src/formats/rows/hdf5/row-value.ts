/** Finds the value of a dataset of one dimension in a row: a whole number, a float as IEEE 754 has it, or a string of fixed length. */
import { InputError, UsageError } from '../../../errors.js';
import type { RowValueFinder, RowValueSpec, SoughtColumn } from '../row-format.js';
import { FLOAT, INTEGER, STRING } from './datatype.js';
import type { Hdf5Rows, RowsDataset } from './rows-spec.js';

type Kind = 'signed' | 'unsigned' | 'float' | 'text' | 'padded text';

/** The place and form of a value in a row. Plain data. */
export interface SoughtDataset extends RowValueSpec {
  readonly offset: number;
  readonly byteLength: number;
  readonly kind: Kind;
  readonly isBigEndian: boolean;
}

/** @param path of the file whose datasets are named in messages. */
export function seekDataset({ datasets }: Hdf5Rows, path: string, { text, keys, as }: SoughtColumn): SoughtDataset {
  if (keys === undefined)
    throw new UsageError(
      `${text} selects no value in the rows of ${path}; expected a dataset, as in .score or .group.score`,
    );
  const name = `/${keys.join('/')}`;
  const index = datasets.findIndex((each) => each.path === name);
  const dataset = datasets[index];
  const refused = (problem: string) => new InputError('ERR_FIELD_MISSING', `${path}: ${problem}`);
  if (dataset === undefined) throw refused(`${text} names no dataset of its rows; expected the path of one`);
  const form = dataset.rowShape.length > 0 ? undefined : formOf(dataset);
  const expected = { value: 'strings or whole numbers', number: 'numbers' }[as];
  if (form === undefined || (as === 'value' && form.kind === 'float'))
    throw refused(`${name} has other values; expected a dataset of one dimension, of ${expected}`);
  const offset = datasets.slice(0, index).reduce((sum, { rowBytes }) => sum + rowBytes, 0);
  return { format: 'HDF5', offset, byteLength: dataset.rowBytes, ...form };
}

/** The properties of floats, as messages of types have them. */
const FLOATS: Readonly<Record<string, number>> = {
  '00002000170800177f000000': 0x1f20,
  '00004000340b0034ff030000': 0x3f20,
};

function formOf({ type, elementBytes }: RowsDataset): Pick<SoughtDataset, 'kind' | 'isBigEndian'> | undefined {
  const [, kind = '', hex = '', properties = ''] = /^(\d+)\.([\da-f]+)\.\d+\(([\da-f]*)\)$/.exec(type) ?? [];
  const bits = Number.parseInt(hex, 16);
  const isBigEndian = (bits & 1) === 1;
  if (Number(kind) === STRING) return { kind: (bits & 15) === 0 ? 'text' : 'padded text', isBigEndian: false };
  if (Number(kind) === FLOAT) return FLOATS[properties] === (bits & ~1) ? { kind: 'float', isBigEndian } : undefined;
  const isWhole = Number(kind) === INTEGER && [1, 2, 4, 8].includes(elementBytes);
  // All bits count: an offset of 0, and a precision of all of them.
  if (!isWhole || properties !== `0000${(8 * elementBytes).toString(16).padStart(2, '0')}00`) return undefined;
  return { kind: (bits & 8) === 0 ? 'unsigned' : 'signed', isBigEndian };
}

export function finderOfDataset({ offset, byteLength, kind, isBigEndian }: SoughtDataset): RowValueFinder {
  const isNumber = !kind.endsWith('text');
  return (memory, start) => {
    const bytes = memory.subarray(start + offset, start + offset + byteLength);
    const text = isNumber ? numberIn(isBigEndian ? Buffer.from(bytes).reverse() : bytes, kind) : stringIn(bytes, kind);
    return { text, encoding: 'latin1', isNumber };
  };
}

function numberIn(bytes: Buffer, kind: Kind): string {
  const { byteLength } = bytes;
  if (kind === 'float') return String(byteLength === 8 ? bytes.readDoubleLE() : bytes.readFloatLE());
  if (byteLength === 8) return String(kind === 'signed' ? bytes.readBigInt64LE() : bytes.readBigUInt64LE());
  return String(kind === 'signed' ? bytes.readIntLE(0, byteLength) : bytes.readUIntLE(0, byteLength));
}

/** The string ends with its first NUL, or with what it is filled up with. */
function stringIn(bytes: Buffer, kind: Kind): string {
  const text = bytes.toString('latin1');
  return kind === 'text' ? text.replace(/\0.*$/s, '') : text.replace(/[\0 ]+$/, '');
}
