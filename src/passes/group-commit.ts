/**
 * Commits that go on beside the tasks whose results they make durable.
 */
import { AbortedError, addCleanupErrors, PileshufError } from '../errors.js';

/** A commit that failed. */
interface CommitFailure {
  readonly error: unknown;
  /** Whether nothing had failed before it. */
  readonly isFirst: boolean;
}

/**
 * Makes things durable in the background, all that wait at one time together, because a commit costs the
 * same for one as for many.
 */
export class GroupCommit<Item> {
  readonly #commit: (items: readonly Item[]) => Promise<void>;
  readonly #onFailure: () => boolean;
  #waiting: Item[] = [];
  #underWay: Promise<void> | undefined;
  #failure: CommitFailure | undefined;

  /**
   * @param onFailure called once, when a commit fails, to stop the work; `finish` throws what the commit threw.
   *   It says whether the work was not being stopped already.
   */
  constructor(commit: (items: readonly Item[]) => Promise<void>, onFailure: () => boolean) {
    this.#commit = commit;
    this.#onFailure = onFailure;
  }

  add(item: Item): void {
    this.#waiting.push(item);
    this.#underWay ??= this.#commitAll();
  }

  get failure(): CommitFailure | undefined {
    return this.#failure;
  }

  /** Waits until all is durable. */
  async finish(): Promise<void> {
    await this.#underWay;
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  async #commitAll(): Promise<void> {
    while (this.#waiting.length > 0 && this.#failure === undefined) {
      try {
        await this.#commit(this.#waiting.splice(0));
      } catch (error) {
        this.#failure = { error, isFirst: this.#onFailure() };
      }
    }
    this.#underWay = undefined;
  }
}

/**
 * Does work that adds to `commits`, and waits until all of it is durable, whatever becomes of the work. What
 * failed first is thrown, with what failed after it attached.
 */
export async function committing(
  commits: Pick<GroupCommit<never>, 'failure' | 'finish'> | undefined,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    await commits?.finish().catch(() => {});
    const failure = commits?.failure;
    if (failure === undefined) throw error;
    const [first, second] = failure.isFirst ? [failure.error, error] : [error, failure.error];
    // Work that was stopped has nothing to say.
    if (first instanceof PileshufError && !(second instanceof AbortedError)) addCleanupErrors(first, [second]);
    throw first;
  }
  await commits?.finish();
}
