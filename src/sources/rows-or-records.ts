/** Whether the inputs of a job hold rows. What reads rows is loaded only then. */
import { InputError, UsageError } from '../errors.js';
import { inputName } from '../io/input-source.js';
import type { ReadSpec } from '../spec.js';
import { holdsRows, type Input } from './source.js';

/** How these inputs are read: as rows, if one of them holds some. @throws if others do not, or options do not go with rows. */
export function asRows(read: ReadSpec, inputs: readonly Input[]): ReadSpec {
  const first = inputs.find(holdsRows);
  if (first === undefined) {
    if (read.columns === undefined) return read;
    throw new UsageError('`columns` chooses columns of Parquet files, and no input is one; leave it out');
  }
  const other = inputs.find((input) => !holdsRows(input));
  if (other !== undefined)
    throw new InputError(
      'ERR_INPUT_FORMAT',
      `${first.path} holds Parquet data, and ${inputName(other.path)} does not; give them to different jobs, or convert one of them`,
    );
  const { header, skipsBlank } = read;
  const option = header === undefined ? (skipsBlank === true ? 'skipBlank' : undefined) : `header.${header.kind}`;
  if (option !== undefined)
    throw new UsageError(`${first.path} holds Parquet data, whose rows are no lines; leave out \`${option}\``);
  return { ...read, framing: undefined, linesAssumed: false };
}
