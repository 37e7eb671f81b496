/**
 * The ids of the inputs of a store: what a producer calls an input, and what its keys are derived from. A store has
 * each once; a commit that replaces takes the place of whole former commits.
 */
import { UsageError } from '../errors.js';
import type { StoreCommit, StoreManifest } from './manifest.js';
import type { StoreSnapshot } from './store-snapshot.js';

const MOST_CHARACTERS = 4096;

/** @throws UsageError for an id that could not be told from another, ERR_INPUT_ID_TAKEN when one is given twice. */
export function requireInputIds(inputIds: readonly string[]): void {
  const seen = new Set<string>();
  for (const id of inputIds) {
    // Whose keys are derived from its bytes in UTF-8.
    if (id === '' || id.length > MOST_CHARACTERS || Buffer.from(id).toString() !== id) {
      throw new UsageError(`the input id ${JSON.stringify(id)} is no text of 1 to ${MOST_CHARACTERS} characters`);
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
 * Refuses early what a commit would refuse: ids that the store has, or that cannot be replaced.
 * @param snapshot undefined: of a store that is still to be made.
 * @throws UsageError as `requireInputIds` and `findReplaced`
 */
export function requireIdsFree(
  snapshot: StoreSnapshot | undefined,
  inputIds: readonly string[],
  replace: boolean,
): void {
  requireInputIds(inputIds);
  if (snapshot !== undefined) findReplaced(snapshot.manifest, inputIds, replace, snapshot.directory);
}

/**
 * The commits of a state that one with these ids replaces: none, unless it is to replace.
 * @throws UsageError ERR_INPUT_ID_TAKEN when an id is taken, or only a part of a commit would be replaced.
 */
export function findReplaced(
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
        `the pile store ${storeDirectory} has an input of the id ${named} already, in generation ${commit.generation}; give \`replace\` to replace it, or another id`,
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
