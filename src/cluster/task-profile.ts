/**
 * The first attempt that has done a task leaves its profile for the commit; one that cannot has done its work anyway.
 */
import { join } from 'node:path';
import { linkToNewName } from '../io/durable.js';
import { removeFile } from '../io/files.js';
import { amount, object, oneOf, type Shape, text, wholeNumber } from '../io/json-shape.js';
import { SealedFormat } from '../io/sealed-format.js';
import { createWhole, nameOfAttempt } from '../io/small-file.js';
import { PHASES } from '../phase-clock.js';
import { ATTEMPTS_NAME, CLUSTER_REMEDY } from './cluster-plan.js';
import { TASK_KINDS, type TaskKind } from './task-arrays.js';
import type { TimedTask } from './task-times.js';

/** How one task spent its time, in the first attempt that did it. */
export interface ClusterTaskProfile extends TimedTask {
  readonly kind: TaskKind;
  readonly index: number;
}

const amounts = <Name extends string>(...names: readonly Name[]) =>
  object(Object.fromEntries(names.map((name) => [name, amount]))) as Shape<Readonly<Record<Name, number>>>;

const shape: Shape<ClusterTaskProfile> = object({
  kind: oneOf(...TASK_KINDS),
  index: wholeNumber(),
  host: text,
  threads: wholeNumber(1),
  beganMilliseconds: amount,
  bytes: amount,
  seconds: amounts('start', 'prepare', 'work', 'finish'),
  phases: amounts(...PHASES, 'idle'),
});

const format = new SealedFormat({
  kind: 'task-profile',
  version: 1,
  mostBytes: 2 ** 14,
  role: 'temp',
  shape,
  remedy: CLUSTER_REMEDY,
});

function placeIn(jobDirectory: string, kind: TaskKind, index: number): string {
  return join(jobDirectory, ATTEMPTS_NAME, `${kind}-${String(index).padStart(6, '0')}.profile`);
}

export function leaveProfile(jobDirectory: string, profile: ClusterTaskProfile): void {
  const place = placeIn(jobDirectory, profile.kind, profile.index);
  const whole = nameOfAttempt(place);
  try {
    createWhole(whole, format.seal(profile), 'temp');
    linkToNewName(whole, place);
  } catch {
    // Another attempt was first, or the disk is full: the commit says whose profile is missing.
    try {
      removeFile(whole, 'temp');
    } catch {
      // The commit removes it.
    }
  }
}

export function readProfile(jobDirectory: string, kind: TaskKind, index: number): ClusterTaskProfile | undefined {
  try {
    return format.read(placeIn(jobDirectory, kind, index));
  } catch {
    return undefined;
  }
}
