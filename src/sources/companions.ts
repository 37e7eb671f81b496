/**
 * Companions of inputs: files that hold a value for each record of an input. They are read with it, so they count as a part of
 * what a job reads: they are fingerprinted, plans list them, and they must not change.
 *
 *     input a/b.jsonl.gz     companion DIR/a/b.npy, DIR/a/b.txt or DIR/a/b.parquet
 */
import { extname, join } from 'node:path';
import { InputError, UsageError } from '../errors.js';
import { yieldAndCheckAbortAt } from '../floor/pause.js';
import { withoutCodecSuffix } from '../formats/codec-table.js';
import type { Framing } from '../formats/framing.js';
import { versionOf, withFile } from '../io/files.js';
import { statPath } from '../io/paths.js';
import { inputFactsOf, openInput } from '../places/inputs/input-kinds.js';
import { inputName } from '../places/inputs/input-source.js';
import { type FileInput, type Input, type Inputs, NO_HEADER } from './input.js';
import { PackedInputs } from './packed-inputs.js';

const NPY = '.npy';
const ENDINGS = [NPY, '.txt', '.parquet'];

/** Returns the companion of each input. Undefined: the inputs have none. */
export async function findCompanions(
  directory: string | undefined,
  inputs: Inputs,
  signal: AbortSignal | undefined,
): Promise<Inputs | undefined> {
  if (directory === undefined) return undefined;
  const companions = new PackedInputs();
  for (const [ordinal, input] of inputs.entries()) {
    await yieldAndCheckAbortAt(ordinal, signal);
    companions.push(companionAt(companionPath(input, directory), input));
  }
  return companions;
}

function companionPath({ kind, path }: Input, directory: string): string {
  const facts = inputFactsOf(path);
  if (kind !== 'file' || !(facts.isOnDisk || facts.isRemote))
    throw new UsageError(
      `\`weightsFrom\`: ${inputName(path)} has no path that names a file of weights; expected files as inputs`,
    );
  const place = facts.idOf(path).replace(/^\w+:\/\//, '');
  if (/^\.\.(\/|$)/.test(place))
    throw new UsageError(
      `\`weightsFrom\`: the path ${path} begins with .., so it has no place below ${directory}; give the absolute path`,
    );
  const name = withoutCodecSuffix(place);
  return join(directory, name.slice(0, name.length - extname(name).length));
}

function companionAt(name: string, { path: ofInput }: Input): FileInput {
  const found = ENDINGS.map((ending) => name + ending).filter((path) => statPath(path, 'input')?.isFile() === true);
  const [path, other] = found;
  if (path === undefined)
    throw new InputError(
      'ERR_INPUT_MISSING',
      `the weights of ${ofInput} are missing: expected them in ${name}.npy, .txt or .parquet`,
    );
  if (other !== undefined)
    throw new UsageError(`${path} and ${other} both hold the weights of ${ofInput}; remove one of them`);
  const version = withFile(openInput(path), versionOf);
  return { kind: 'file', path, version, codec: undefined, finding: undefined, header: NO_HEADER };
}

/** Returns all files that the job reads: the inputs, and their companions after them. */
export function withCompanions(inputs: Inputs, companions: Inputs | undefined): Inputs {
  if (companions === undefined) return inputs;
  const all = new PackedInputs();
  for (const list of [inputs, companions]) for (const input of list) all.push(input);
  return all;
}

/** Returns whether an input is cut beside its companion: the place of a cut tells the ordinal of the next record, and its value. */
export function isCutBeside(companion: Input, { rows, codec }: Input, framing: Framing | undefined): boolean {
  const isKnown = codec === undefined && (rows !== undefined || framing?.recordBytes !== undefined);
  return isKnown && companion.path.endsWith(NPY);
}
