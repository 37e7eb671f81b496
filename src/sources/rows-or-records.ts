/** Whether the inputs of a job hold rows. What reads rows is loaded only then. */
import { InputError, UsageError } from '../errors.js';
import { inputName } from '../io/input-source.js';
import type { ReadSpec } from '../spec.js';
import { holdsRows, type Input } from './source.js';

/** How these inputs are read: as rows, if one of them holds some. @throws if others do not, or options do not go with rows. */
export function asRows(read: ReadSpec, inputs: readonly Input[]): ReadSpec {
  const first = inputs.find(holdsRows);
  if (first === undefined) {
    requireNone(read.columns, '`columns` chooses columns of Parquet files');
    requireNone(read.hive, '`hive` adds columns to rows of Parquet files');
    requireNone(read.datasets, '`hdf5` names datasets of HDF5 files');
    return read;
  }
  const { format } = first.table;
  if (format === 'HDF5') {
    requireNone(read.columns, '`columns` chooses columns of Parquet files');
    requireNone(read.hive, '`hive` adds columns to rows of Parquet files');
  } else requireNone(read.datasets, '`hdf5` names datasets of HDF5 files');
  const other = inputs.find((input) => !holdsRows(input) || input.table.format !== format);
  if (other !== undefined)
    throw new InputError(
      'ERR_INPUT_FORMAT',
      `${first.path} holds ${format} data, and ${inputName(other.path)} does not; give them to different jobs, or convert one of them`,
    );
  const { header, skipsBlank } = read;
  const option = header === undefined ? (skipsBlank === true ? 'skipBlank' : undefined) : `header.${header.kind}`;
  if (option !== undefined)
    throw new UsageError(`${first.path} holds ${format} data, whose rows are no lines; leave out \`${option}\``);
  return { ...read, framing: undefined, linesAssumed: false };
}

function requireNone(asked: readonly string[] | boolean | undefined, what: string): void {
  if (asked !== undefined && asked !== false) throw new UsageError(`${what}, and no input is one; leave it out`);
}
