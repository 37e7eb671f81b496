/**
 * Makes pile sets part of a store: their files become durable, then the next manifest names them. A producer names each
 * input by an id, from which the keys of its records are derived, so a store has each id once. A commit that replaces takes
 * the place of whole former commits.
 */
import { SystemError, UsageError } from '../errors.js';
import { type JobControl, UNGATED } from '../floor/job-control.js';
import { statPath } from '../io/paths.js';
import { syncPath } from '../io/rename-and-sync.js';
import { dataFilePath, indexFilePath, type PileSetLayout } from '../piles/pile-layout.js';
import { syncPileSets } from '../piles/pile-set-file.js';
import { commitManifest, type StateChange } from './commit-manifest.js';
import { generationOfToday, requireGeneration, timeOfDate } from './generations.js';
import { pileSetDirectoryOf } from './store-files.js';
import { pileSetsNamedBy, readNewestManifest, type StoreCommit, type StoreManifest } from './store-manifest.js';
import { layoutOf, type StoreSnapshot } from './store-snapshot.js';

export type NewCommit = Omit<StoreCommit, 'since' | 'time' | 'generation'> & {
  /** The generation. Undefined: it is named after today. */
  readonly generation: string | undefined;
};

interface CommitOptions {
  /** True if the commit replaces former commits with the same input ids. */
  readonly replace: boolean;
  readonly control: JobControl;
}

/**
 * Adds pile sets to a store. Their indexes must be files.
 * @param snapshot of the store, however old.
 * @throws SystemError, also when the pile sets are gone. Nothing is committed, unless the error says so (`commitManifest`,
 *   `StoreAttempt.abandon`).
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
  // Here the message can say why files are gone; a sync would only say that they are missing.
  requireThere(commit, readNewestManifest(snapshot.directory), layout);
  await syncPileSets(pileSets, layout, control);
  await syncPath(pileSetDirectoryOf(snapshot.directory), 'store');
  control.throwIfAborted();
  return commitManifest(snapshot, (state) => {
    // An earlier call that failed may have committed this; the commit must not replace itself.
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
  { number, commits, removed }: StoreManifest,
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
  };
}

/**
 * Refuses a commit whose pile sets a collector has given up, because it could not see whether their attempt still runs. The
 * collector writes that into the state before it deletes files, so this finds out in time.
 */
function requireThere({ pileSets }: NewCommit, state: StoreManifest, layout: PileSetLayout): void {
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
      `pileshuf gc took ${data} for data of a killed job before it was committed; start anew, and give later garbage collections a longer \`graceMilliseconds\``,
    );
  }
}

const MOST_ID_CHARACTERS = 4096;

/** Refuses an id that could be confused with another, or is given twice. */
export function requireInputIds(inputIds: readonly string[]): void {
  const seen = new Set<string>();
  for (const id of inputIds) {
    // Keys are derived from the bytes of the id in UTF-8, so it must have such bytes of its own.
    if (id === '' || id.length > MOST_ID_CHARACTERS || Buffer.from(id).toString() !== id) {
      throw new UsageError(
        `the input id ${JSON.stringify(id)} is not valid; expected 1 to ${MOST_ID_CHARACTERS} characters of well-formed Unicode`,
      );
    }
    if (seen.has(id)) {
      throw new UsageError(
        `the input id ${JSON.stringify(id)} is given twice; give each input an id of its own`,
        'ERR_INPUT_ID_TAKEN',
      );
    }
    seen.add(id);
  }
}

/**
 * Refuses early the ids that a commit would refuse: the store has them, or they cannot be replaced.
 * @param snapshot undefined: the store is not made yet.
 */
export function requireIdsFree(
  snapshot: StoreSnapshot | undefined,
  inputIds: readonly string[],
  replace: boolean,
): void {
  requireInputIds(inputIds);
  if (snapshot !== undefined) findReplaced(snapshot.manifest, inputIds, replace, snapshot.directory);
}

/** The commits that a commit with these ids replaces. Refused: a taken id without `replace`, and a part of a commit. */
function findReplaced(
  { commits }: StoreManifest,
  inputIds: readonly string[],
  replace: boolean,
  storeDirectory: string,
): readonly StoreCommit[] {
  const ids = new Set(inputIds);
  return commits.filter((commit) => {
    const taken = commit.inputIds.find((id) => ids.has(id));
    if (taken === undefined) return false;
    const named = JSON.stringify(taken);
    if (!replace) {
      throw new UsageError(
        `the pile store ${storeDirectory} already has an input with the id ${named}, in generation ${commit.generation}; give \`replace\` to replace it, or another id`,
        'ERR_INPUT_ID_TAKEN',
      );
    }
    const missing = commit.inputIds.find((id) => !ids.has(id));
    if (missing === undefined) return true;
    throw new UsageError(
      `the pile store ${storeDirectory} cannot replace the input ${named} alone: it was committed with ${commit.inputIds.length} inputs, and ${JSON.stringify(missing)} is not given; give all of them`,
      'ERR_INPUT_ID_TAKEN',
    );
  });
}
