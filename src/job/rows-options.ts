/** Refuses options that do not go with the rows of inputs, or with their absence. */
import { UsageError } from '../errors.js';
import { refuseOtherFormats, requireNameOfRows } from '../formats/recognition.js';
import { loadRowFormat } from '../formats/rows/registry.js';
import type { RowFormat } from '../formats/rows/row-format.js';
import { inputName } from '../places/inputs/input-source.js';
import { firstOfRows, refuseOptionsOfOthers } from '../sources/rows.js';
import { type Inputs, isReadOnce } from '../sources/source.js';
import type { ShuffleSpec } from '../spec.js';
import type { JobPlaces } from './job-places.js';

interface AskedOutput {
  readonly spec: ShuffleSpec;
  readonly output: string | undefined;
}

/** Checks before anything is written. @returns the format of the rows; undefined: the inputs hold none. */
export async function requireOutputOfRows(
  { spec, output }: AskedOutput,
  inputs: Inputs,
): Promise<RowFormat | undefined> {
  const first = firstOfRows(inputs);
  const { rowChoice, compression } = spec.write;
  if (output !== undefined && spec.cut.shards === undefined) {
    const stream = inputs.find(isReadOnce);
    if (first === undefined) refuseOtherFormats(output, undefined, false, stream && inputName(stream.path));
    else requireNameOfRows(output, first.rows.format);
  }
  refuseOptionsOfOthers(rowChoice, first);
  if (first === undefined) return undefined;
  const format = await loadRowFormat(first.rows);
  const holds = `${first.path} holds ${first.rows.format} data, and`;
  if (compression !== undefined)
    throw new UsageError(`${holds} \`compress\` is for other outputs; ${format.insteadOfCompress}`);
  if (spec.keep.repeat)
    throw new UsageError(`${holds} \`repeat\` does not draw rows; leave it out, or convert the inputs to JSON lines`);
  return format;
}

/** Refuses an output that is no file, where the beginning of one tells of its end. */
export function requireFileForRows(
  format: RowFormat | undefined,
  inputs: Inputs,
  { kind, output: { path } }: JobPlaces,
): void {
  const first = firstOfRows(inputs);
  if (kind === 'files' || first === undefined || format?.needsFile !== true) return;
  const name = path === '-' ? 'standard output' : path;
  throw new UsageError(
    `${first.path} holds ${first.rows.format} data, which cannot be written to ${name}; name a file with \`output\``,
  );
}
