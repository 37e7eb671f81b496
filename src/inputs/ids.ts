/**
 * The ids of the inputs, which the keys of their records are derived from: their ordinals, or what does not change when
 * other inputs come to the list.
 */
import { createHash } from 'node:crypto';
import { basename, normalize } from 'node:path';
import { UsageError } from '../errors.js';
import { inputName, STANDARD_INPUT } from '../io/input-source.js';
import type { JobManifest } from '../job-directory/job-manifest.js';
import type { ShuffleOptions } from '../jobs/options.js';
import type { JobInput } from './list-inputs.js';

export type InputIdRule = NonNullable<ShuffleOptions['inputIds']>;

/** Of each input; undefined: they are its ordinals. */
export type InputIds = readonly string[] | undefined;

export function inputIdOf(ids: InputIds, inputOrdinal: number): string {
  if (ids === undefined) return String(inputOrdinal);
  const id = ids[inputOrdinal];
  if (id === undefined) throw new RangeError(`input ${inputOrdinal} has no id`);
  return id;
}

/** @throws UsageError when an input gets none, or two get the same. */
export function chooseInputIds(rule: InputIdRule, inputs: readonly JobInput[]): InputIds {
  if (rule === 'ordinal') return undefined;
  const ids = typeof rule === 'string' ? inputs.map(({ path }) => idOfPath(path, rule)) : rule;
  if (ids.length !== inputs.length) {
    throw new UsageError(
      `${ids.length} input ids are given for ${inputs.length} inputs; expected one for each, in their order`,
    );
  }
  const ordinalOfId = new Map<string, number>();
  for (const [ordinal, id] of ids.entries()) {
    const earlier = ordinalOfId.get(id);
    if (earlier !== undefined) {
      const names = [earlier, ordinal].map((either) => inputName(inputs[either]?.path ?? ''));
      throw new UsageError(
        `${names.join(' and ')} have the same input id ${JSON.stringify(id)}; expected one that no other input has`,
      );
    }
    ordinalOfId.set(id, ordinal);
  }
  return ids;
}

function idOfPath(path: string, rule: 'path' | 'name'): string {
  if (path === STANDARD_INPUT) {
    throw new UsageError('standard input (-) has no name to be its input id: name a file, or give the ids in a list');
  }
  // However the same path is written, it is the same input.
  return rule === 'path' ? normalize(path) : basename(path);
}

/** What the manifest of a job says of them. */
export function describeInputIds(ids: InputIds): JobManifest['inputIds'] {
  return ids === undefined ? null : createHash('sha256').update(JSON.stringify(ids)).digest('hex');
}
