/** What stays of a job when its outputs have their names: a marker that says so. All else goes. */
import { join } from 'node:path';
import { removeDirectory } from '../io/directories.js';
import { removeFile } from '../io/files.js';
import { checksumText, object, oneOf, optional, text, type ValueOf, wholeNumber } from '../io/json-shape.js';
import { listNames, statPath } from '../io/paths.js';
import { isNameOfAttempt } from '../io/small-file.js';
import { MARK_OF_TASKS } from '../job-directory/job-paths.js';
import { NoteKind } from '../job-directory/notes.js';
import { ATTEMPTS_NAME, CLUSTER_REMEDY, COMMITTED_NAME, DATA_NAME, PLAN_NAME } from './cluster-plan.js';

const shape = object({
  stagingDirectory: text,
  records: wholeNumber(),
  bytes: wholeNumber(),
  seed: text,
  checksum: checksumText,
  /** Absent: no record could be dropped as equal to another, or nobody knows any more. */
  duplicates: optional(object({ records: wholeNumber(), bytes: wholeNumber() })),
  readBackBy: oneOf('verify', 'commit', 'nobody'),
});

export type CommittedNote = ValueOf<typeof shape>;

const COMMITTED = new NoteKind({
  kind: MARK_OF_TASKS.kind,
  version: 2,
  mostBytes: 2 ** 20,
  shape,
  remedy: CLUSTER_REMEDY,
  // An attempt that found the outputs moving does not know the duplicates.
  agreed: ({ records, bytes, checksum }) => [records, bytes, checksum],
});

export async function writeCommitted(jobDirectory: string, note: CommittedNote): Promise<void> {
  await COMMITTED.write(jobDirectory, COMMITTED_NAME, note, 'the commit');
}

export function readCommittedNote(jobDirectory: string): CommittedNote | undefined {
  return COMMITTED.read(jobDirectory, COMMITTED_NAME);
}

/** Whether a committed job has removed all that it needs no more, as far as this machine sees. */
export function isCleanedUp(jobDirectory: string): boolean {
  return statPath(join(jobDirectory, PLAN_NAME), 'temp') === undefined;
}

const RECORD_NAME =
  /^(cuts|head|splits|slurm|commit|committing|(measure|shuffle|verify|damaged)-\d{6,}(-\d+)?|[a-z0-9-]+\.index)$/;

/**
 * Removes the staged outputs, then everything in the job directory but the marker and what is not of a job. A task that
 * still runs somewhere finds its files gone, and fails. The plan goes last: beside the marker it tells that something
 * may be left.
 */
export function removeRest(jobDirectory: string, warn: (error: unknown) => void): void {
  let hasFailed = false;
  const attempt = (remove: () => void) => {
    try {
      remove();
    } catch (error) {
      hasFailed = true;
      warn(error);
    }
  };
  attempt(() => {
    const stagingDirectory = readCommittedNote(jobDirectory)?.stagingDirectory;
    if (stagingDirectory !== undefined) removeDirectory(stagingDirectory);
  });
  attempt(() => removeDirectory(join(jobDirectory, DATA_NAME)));
  attempt(() => removeDirectory(join(jobDirectory, ATTEMPTS_NAME)));
  attempt(() => {
    for (const name of listNames(jobDirectory, 'temp'))
      if (RECORD_NAME.test(name) || isNameOfAttempt(name)) removeFile(join(jobDirectory, name), 'temp');
  });
  if (!hasFailed) attempt(() => removeFile(join(jobDirectory, PLAN_NAME), 'temp'));
}
