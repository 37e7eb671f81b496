/**
 * What tasks asked of Slurm, so that a later submission asks for the same. No ids of jobs: these are lost or reused.
 */
import { join } from 'node:path';
import { list, object, optional, text, type ValueOf, wholeNumber } from '../io/json-shape.js';
import { replaceDurably } from '../io/small-file.js';
import { formatOfJob, SLURM_NAME } from './cluster-plan.js';

const shape = object({
  token: text,
  partition: optional(text),
  time: optional(text),
  account: optional(text),
  qos: optional(text),
  constraint: optional(text),
  jobName: text,
  sbatchArgs: list(text),
  cpusPerTask: wholeNumber(1),
  /** 0: all that the node has. */
  taskMemoryBytes: wholeNumber(),
  commitMemoryBytes: optional(wholeNumber()),
  commitTime: optional(text),
  maxParallel: optional(wholeNumber(1)),
  logDirectory: text,
  scratchDir: optional(text),
  envCommand: optional(text),
});

export type SlurmNote = ValueOf<typeof shape>;

const format = formatOfJob('cluster-slurm', 1, 2 ** 20, shape);

export async function writeSlurmNote(jobDirectory: string, note: SlurmNote): Promise<void> {
  await replaceDurably(jobDirectory, SLURM_NAME, format.seal(note));
}

export function readSlurmNote(jobDirectory: string): SlurmNote | undefined {
  return format.read(join(jobDirectory, SLURM_NAME));
}
