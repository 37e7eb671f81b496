/** Inputs that hold rows: all of them do, of one format, which is loaded only then. */
import { InputError, UsageError } from '../errors.js';
import { loadRowFormat, rowFormats } from '../formats/rows/registry.js';
import type { OpenedRows, RowChoice, RowFacts, RowFormat, RowsRequest } from '../formats/rows/row-format.js';
import { inputName } from '../places/inputs/input-source.js';
import type { ReadSpec } from '../spec.js';
import type { FileInput, Input, Inputs } from './input.js';

type RowsInput = FileInput & { readonly rows: RowFacts };

/** Returns the first of the inputs that hold rows. */
export function firstRowsInput(inputs: Inputs): RowsInput | undefined {
  return inputs.find((input): input is RowsInput => input.rows !== undefined);
}

/** How these inputs are read: as rows, if one of them holds some. @throws if others do not, or options do not go with rows. */
export function asRows(read: ReadSpec, inputs: Inputs): ReadSpec {
  const first = firstRowsInput(inputs);
  refuseOptionsOfOthers(read.rowChoice, first);
  if (first === undefined) return read;
  const { format } = first.rows;
  const other = inputs.find((input) => input.rows?.format !== format);
  if (other !== undefined)
    throw new InputError(
      'ERR_INPUT_FORMAT',
      `${first.path} holds ${format} data, and ${inputName(other.path)} does not; give them to different jobs, or convert one of them`,
    );
  const { header, skipsBlank } = read;
  const option = header === undefined ? (skipsBlank === true ? 'skipBlank' : undefined) : `header.${header.kind}`;
  if (option !== undefined)
    throw new UsageError(`${first.path} holds ${format} data, whose rows are not lines; leave out \`${option}\``);
  return { ...read, framing: undefined, linesAssumed: false };
}

/** Refuses the options of a format that is not that of the inputs. */
export function refuseOptionsOfOthers(choice: RowChoice = {}, first: RowsInput | undefined): void {
  for (const [format, { options }] of Object.entries(rowFormats))
    for (const [option, what] of Object.entries(options)) {
      const given = choice[option];
      if (given === undefined || given === false || format === first?.rows.format) continue;
      throw new UsageError(`\`${option}\` ${what} of ${format} files, and no input is one; leave it out`);
    }
}

export interface RowsOfInputs extends Omit<OpenedRows, 'facts'> {
  readonly inputs: readonly Input[];
  readonly format: RowFormat;
}

interface OpenRowsRequest extends Omit<RowsRequest, 'choice'> {
  readonly read: Pick<ReadSpec, 'rowChoice'>;
}

/** Opens the rows of the inputs. Undefined: the inputs hold no rows. */
export async function openRows(
  inputs: Inputs,
  { read, ...request }: OpenRowsRequest,
): Promise<RowsOfInputs | undefined> {
  const first = firstRowsInput(inputs);
  if (first === undefined) return undefined;
  const format = await loadRowFormat(first.rows);
  const files = inputs.filter((input): input is RowsInput => input.rows !== undefined);
  const { facts, ...opened } = await format.open(files, { ...request, choice: read.rowChoice ?? {} });
  return { ...opened, format, inputs: files.map((input, i) => ({ ...input, rows: facts[i] })) };
}
