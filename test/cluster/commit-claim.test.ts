/** Two processes that commit one job: what the second one finds when the first is done meanwhile. */
import { existsSync, unlinkSync, writeFileSync } from 'node:fs';
import { afterEach, expect, it } from 'vitest';
import { COMMITTED_NAME, COMMITTING_NAME } from '#src/cluster/cluster-plan.js';
import { claimCommit } from '#src/cluster/commit-claim.js';
import { replaceFileCalls, systemFileCalls } from '#src/io/file-calls.js';
import { Patience } from '#src/io/until-visible.js';
import { JobControl } from '#src/job-control.js';
import { JobStop } from '#src/stages/threads.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

const directory = useTestDirectory();
const patience = new Patience(0, undefined);
const stop = new JobStop(JobControl.create([], 0), undefined);

afterEach(() => {
  replaceFileCalls(systemFileCalls);
});

/** Another process ends its commit while this one gives its claim a name. */
function letAnotherEndFirst(isCommitted: boolean): void {
  replaceFileCalls({
    ...systemFileCalls,
    link: (from, to) => {
      if (to.endsWith(COMMITTING_NAME)) {
        if (isCommitted) writeFileSync(directory.path(COMMITTED_NAME), '');
        unlinkSync(from);
      }
      systemFileCalls.link(from, to);
    },
  });
}

it('a claim that the commit of another process removes says that the job is committed', async () => {
  letAnotherEndFirst(true);
  expect(await claimCommit(directory.path(), patience, stop)).toBe(undefined);
  expect(existsSync(directory.path(COMMITTING_NAME))).toBe(false);
});

it('a claim that is removed without a commit is an error', async () => {
  letAnotherEndFirst(false);
  await expect(claimCommit(directory.path(), patience, stop)).rejects.toMatchObject({ code: 'ERR_IO' });
  expect(existsSync(directory.path(COMMITTING_NAME))).toBe(false);
});
