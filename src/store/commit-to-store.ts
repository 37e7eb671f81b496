/**
 * Makes pile sets part of a store: their files are made durable, then the next manifest names them.
 */
import { SystemError } from '../errors.js';
import { syncDirectory } from '../io/durable.js';
import { type JobControl, UNGATED } from '../io/job-control.js';
import { statPath } from '../io/paths.js';
import { dataFilePath, indexFilePath, type StoreLayout } from '../pile-store/store-layout.js';
import { syncPileSets } from '../pile-store/sync-pile-sets.js';
import { commitManifest, type StateChange } from './commit-manifest.js';
import { generationOfToday, requireGeneration, timeOfDate } from './generation.js';
import { findReplaced, requireInputIds } from './input-ids.js';
import { pileSetsNamedBy, readNewestManifest, type StoreCommit, type StoreManifest } from './manifest.js';
import { pileSetDirectoryOf } from './store-files.js';
import { layoutOf, type StoreSnapshot } from './store-snapshot.js';

/** A commit as its maker knows it. */
export type NewCommit = Omit<StoreCommit, 'since' | 'time' | 'generation'> & {
  /** Undefined: that of today. */
  readonly generation: string | undefined;
};

export interface CommitOptions {
  /** Whether former commits with the same input ids are replaced. */
  readonly replace: boolean;
  readonly control: JobControl;
}

/**
 * Syncs the files of the pile sets, then commits. Their indexes must be files.
 * @param snapshot of the store, however old.
 * @returns a state that has the commit.
 * @throws UsageError ERR_INPUT_ID_TAKEN; SystemError also when the pile sets are gone. Nothing was committed, unless the
 *   error says so: see `commitManifest` and `StoreAttempt.abandon`.
 */
export async function commitToStore(
  snapshot: StoreSnapshot,
  commit: NewCommit,
  { replace, control }: CommitOptions,
): Promise<StoreManifest> {
  const { generation = generationOfToday() } = commit;
  requireGeneration(generation);
  requireInputIds(commit.inputIds);

  const layout = layoutOf(snapshot, UNGATED, false);
  const pileSets = commit.pileSets.map(({ name, diskBytes }) => ({
    name,
    dataFiles: diskBytes > 0 ? [{ stripe: 0, disk: 0, byteLength: diskBytes }] : [],
  }));
  // Else files that are gone would only be told to be missing.
  requireThere(commit, readNewestManifest(snapshot.directory), layout);
  await syncPileSets(pileSets, layout, control);
  await syncDirectory(pileSetDirectoryOf(snapshot.directory), 'store');
  control.throwIfAborted();
  return commitManifest(snapshot, (state) => {
    // A call that failed may have done its work: what is committed is not to be replaced by itself.
    if (state.commits.some(({ name }) => name === commit.name)) return undefined;
    requireThere(commit, state, layout);
    return withCommit(
      state,
      { ...commit, generation },
      findReplaced(state, commit.inputIds, replace, snapshot.directory),
    );
  });
}

function withCommit(
  { number, commits, removed, oldest }: StoreManifest,
  commit: Omit<StoreCommit, 'since' | 'time'>,
  replaced: readonly StoreCommit[],
): StateChange {
  const now = Date.now();
  const ofGeneration = commits.filter(({ generation }) => generation === commit.generation);
  const time = timeOfDate(commit.generation) ?? Math.min(now, ...ofGeneration.map((former) => former.time));
  const replacedPileSets = replaced.flatMap(({ pileSets }) => pileSets.map(({ name }) => name));
  return {
    commits: [...commits.filter((former) => !replaced.includes(former)), { ...commit, since: number + 1, time }],
    removed: replacedPileSets.length === 0 ? removed : [...removed, { time: now, pileSets: replacedPileSets }],
    oldest,
  };
}

/**
 * Somebody who could not tell whether we are still at it may have given our pile sets up. That is in the state before
 * they are deleted, so this finds out in time, and a commit after that finds another state.
 */
function requireThere({ pileSets }: NewCommit, state: StoreManifest, layout: StoreLayout): void {
  const givenUp = pileSetsNamedBy({ ...state, commits: [] });
  for (const { name, diskBytes } of pileSets) {
    const data = dataFilePath(layout, name, 0, 0);
    const byteLength = diskBytes === 0 ? 0 : Number(statPath(data, 'store')?.size ?? 0);
    if (
      !givenUp.has(name) &&
      byteLength === diskBytes &&
      statPath(indexFilePath(layout, name), 'store') !== undefined
    ) {
      continue;
    }
    throw new SystemError(
      'ERR_IO',
      `${data} was given up by a pileshuf gc before it was committed; begin again, and give gc a longer \`graceMilliseconds\``,
    );
  }
}
