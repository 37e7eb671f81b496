/**
 * The ids of the inputs. The keys of the records of an input are derived from its id: its ordinal, or a name that stays
 * the same when the list of inputs changes.
 */
import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { UsageError } from '../errors.js';
import { deriveInputKey } from '../floor/keys.js';
import type { JobManifest } from '../job-directory/job-manifest.js';
import { bundleKeyOf } from '../keep/bundles.js';
import { contentKeyOf } from '../keep/distinct.js';
import { inputFactsOf, STANDARD_INPUT } from '../places/inputs/input-kinds.js';
import { inputName } from '../places/inputs/input-source.js';
import type { ShuffleSpec } from '../spec.js';
import type { Input, Inputs } from './input.js';

/**
 * `ordinal`: the place in the list. `path`: the path as given or found. `name`: the last part of the path. An array:
 * one id for each input, in their order.
 */
export type InputIdRule = 'ordinal' | 'path' | 'name' | readonly string[];

/** The ids of the inputs. Undefined: the ordinals are the ids. */
export type InputIds = readonly string[] | undefined;

/** Returns the key from which the keys of the records of an input are derived. */
export function inputKeyOf(seed: string, ids: InputIds, inputOrdinal: number): bigint {
  const id = ids === undefined ? String(inputOrdinal) : ids[inputOrdinal];
  if (id === undefined) throw new RangeError(`input ${inputOrdinal} has no id`);
  return deriveInputKey(seed, id);
}

/** Returns the function that gives an input its key: one for all where the order follows from the content of records. */
export function inputKeysOf(
  { key: { seed }, keep }: ShuffleSpec,
  inputIds: InputIds,
): (inputOrdinal: number) => bigint {
  const ofContent = contentKeyOf(keep, seed) ?? bundleKeyOf(keep, seed);
  return (inputOrdinal) => ofContent ?? inputKeyOf(seed, inputIds, inputOrdinal);
}

export function chooseInputIds(rule: InputIdRule, inputs: Inputs): InputIds {
  if (rule === 'ordinal') return undefined;
  const ids = typeof rule === 'string' ? inputs.map((input) => idOfPath(input, rule)) : rule;
  if (ids.length !== inputs.length) {
    throw new UsageError(
      `${ids.length} input ids are given for ${inputs.length} inputs; expected one for each input, in order`,
    );
  }
  const ordinalOfId = new Map<string, number>();
  for (const [ordinal, id] of ids.entries()) {
    const earlier = ordinalOfId.get(id);
    if (earlier !== undefined) {
      const names = [earlier, ordinal].map((either) => inputName(inputs.at(either)?.path ?? ''));
      throw new UsageError(
        `${names.join(' and ')} have the same input id ${JSON.stringify(id)}; expected an id that no other input has`,
      );
    }
    ordinalOfId.set(id, ordinal);
  }
  return ids;
}

function idOfPath({ list, path }: Input, rule: 'path' | 'name'): string {
  const isNameless = list !== undefined || path === STANDARD_INPUT;
  if (isNameless) {
    const what = list === undefined ? 'standard input (-) has no name for an' : `${path} have no names for an`;
    throw new UsageError(
      `${what} input id: name files as inputs, or give a list of ids (\`pileshuf pile\` gives one to standard input)`,
    );
  }
  return rule === 'path' ? inputFactsOf(path).idOf(path) : basename(path);
}

export function describeInputIds(ids: InputIds): JobManifest['inputIds'] {
  return ids === undefined ? null : createHash('sha256').update(JSON.stringify(ids)).digest('hex');
}
