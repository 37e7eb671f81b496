/**
 * The last task of an append: verifies what the scatter tasks made, and makes it part of the store with one commit, as the
 * local append does. Until then the pile sets lie in the job directory alone, where no reader and no collector of the store
 * looks. Their files get names in the store, then a manifest names them.
 *
 * Killed anywhere, it is run again: the pile sets and the commit have the same names each time, so they are not added twice.
 * Before its first try it notes the state of the store. So a later one finds the commit of an earlier one also where
 * somebody has removed it from the store since.
 */
import { SystemError } from '../errors.js';
import { addNameInStore } from '../io/durable.js';
import { UNGATED } from '../job-control.js';
import { committedIndexPath } from '../job-directory/pile-set-commits.js';
import type { JobScope } from '../jobs/job.js';
import type { ScatteredPiles } from '../passes/scattered-piles.js';
import { hearSignalsAt } from '../pause.js';
import { dataFilePath, indexFilePath } from '../pile-sets/pile-layout.js';
import { checksumTextOf } from '../pile-sets/pile-totals.js';
import { discardPileSets } from '../store/collect-garbage.js';
import { commitToStore, type NewCommit, requireIdsFree } from '../store/commit-to-store.js';
import { StoreAttempt } from '../store/store-attempt.js';
import { storeError } from '../store/store-files.js';
import { listManifests, readStoreManifest, type StoreCommit } from '../store/store-manifest.js';
import { layoutOf, openSnapshot, type StoreSnapshot } from '../store/store-snapshot.js';
import { readAppendingNote, removeAppendingNote, writeAppendingNote } from './appending-note.js';
import type { AttemptLog } from './attempt-log.js';
import { writeClusterProfile } from './cluster-profile.js';
import { CommitClaim } from './commit-claim.js';
import type { ClusterOutput } from './commit-job.js';
import { removeRest, writeCommitted } from './committed-job.js';
import type { AppendJob } from './open-job.js';
import { gatherScattered } from './scattered.js';

/**
 * @returns undefined if another process has committed the job meanwhile.
 * @throws SystemError ERR_NOT_READY that names the tasks that are not done; VerificationError if they did not read every
 *   byte once; UsageError as `commitToStore`.
 */
export async function commitAppend(
  job: AppendJob,
  log: AttemptLog,
  scope: JobScope,
): Promise<ClusterOutput | undefined> {
  const { directory, plan, patience, stop } = job;
  const claim = await CommitClaim.take(directory, patience, stop);
  if (claim === undefined) return undefined;
  scope.releases.push(() => claim.release());
  const { piles, found } = await gatherScattered(job);
  found.beginnings.tell(job.inputs, 'store', job.onWarning);
  const { records, bytes } = piles;
  const blank = plan.request.skipsBlank === true ? found.blank : undefined;
  const checksum = checksumTextOf(piles.checksum);
  const state = await addToStore(job, piles, checksum, scope);
  const { seed } = plan.request;
  await writeCommitted(directory, {
    stagingDirectory: undefined,
    records,
    bytes,
    seed,
    checksum,
    duplicates: undefined,
    readBackBy: undefined,
    store: plan.append.store.directory,
  });
  writeClusterProfile(job, { records, bytes }, scope);
  log.stop();
  // Its last change must not come after the removal.
  await claim.release().catch(scope.warn);
  removeRest(directory, scope.warn);
  return { records, bytes, seed, checksum, shards: [], splits: undefined, duplicates: undefined, blank, state };
}

/** @returns the number of the first state with these piles. */
async function addToStore(job: AppendJob, piles: ScatteredPiles, checksum: string, scope: JobScope): Promise<number> {
  const { plan, directory, control } = job;
  const { store, replace, commit } = plan.append;
  const snapshot = openSnapshot(store.directory);
  if (snapshot.settings.id !== store.settings.id)
    throw storeError(`the pile store ${store.directory} was replaced by another one since the plan; plan again`);
  const { records, bytes, longestRecordBytes } = piles;
  const pileSets = piles.pileSets.map(({ name, diskBytes }) => ({ name, diskBytes }));
  const added: NewCommit = { ...commit, records, bytes, checksum, longestRecordBytes, pileSets };
  const noted = readAppendingNote(directory);
  const former = noted === undefined ? undefined : findFormer(snapshot, commit.name, noted);
  if (former !== undefined && !hasCommit(snapshot, former)) return former.since;
  if (former === undefined) requireIdsFree(snapshot, commit.inputIds, replace);
  if (noted === undefined) await writeAppendingNote(directory, snapshot.manifest.number);
  const attempt = StoreAttempt.begin(snapshot, commit.name);
  let isCommitted = false;
  scope.releases.push(async () => {
    if (!isCommitted) {
      const names = pileSets.map(({ name }) => name);
      // A commit that failed may have been done nevertheless, by this process or by another one: then these stay.
      if (await discardPileSets(snapshot, names)) removeAppendingNote(directory);
    }
    attempt.end();
  });
  if (former === undefined) await nameInStore(job, snapshot, piles);
  const state = await commitToStore(snapshot, added, { replace, control });
  isCommitted = true;
  return state.commits.find(({ name }) => name === commit.name)?.since ?? state.number;
}

/** The files keep their names in the job directory, too: a commit that is refused can be tried again. */
async function nameInStore(
  { directory, piling, control, signal }: AppendJob,
  snapshot: StoreSnapshot,
  { pileSets }: ScatteredPiles,
): Promise<void> {
  const layout = layoutOf(snapshot, UNGATED, false);
  for (const [slice, { name, diskBytes }] of pileSets.entries()) {
    await hearSignalsAt(slice, signal);
    control.throwIfAborted();
    if (diskBytes > 0) addNameInStore(dataFilePath(piling.layout, name, 0, 0), dataFilePath(layout, name, 0, 0));
    addNameInStore(committedIndexPath(directory, slice), indexFilePath(layout, name));
  }
}

function hasCommit({ manifest }: StoreSnapshot, { name }: StoreCommit): boolean {
  return manifest.commits.some((commit) => commit.name === name);
}

/**
 * The commit of this name, in the present state or in one since.
 * @param since the state before it.
 * @throws SystemError if nobody can tell any more.
 */
function findFormer({ directory, manifest }: StoreSnapshot, name: string, since: number): StoreCommit | undefined {
  const states = [manifest, ...later(directory, since)];
  const found = states.flatMap(({ commits }) => commits).find((commit) => commit.name === name);
  if (found !== undefined || manifest.oldest <= since + 1) return found;
  throw new SystemError(
    'ERR_IO',
    `an earlier commit of this job may have added its records to the pile store ${directory}, and the states of that time are gone; look with \`inspectStore\`, and plan the append again if they never were there`,
  );
}

function later(storeDirectory: string, since: number) {
  return listManifests(storeDirectory)
    .filter((number) => number > since)
    .flatMap((number) => readStoreManifest(storeDirectory, number) ?? []);
}
