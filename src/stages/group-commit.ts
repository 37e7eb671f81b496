import { AbortError, addCleanupErrors, PileshufError } from '../errors.js';

interface CommitFailure {
  readonly error: unknown;
  /** True if it was the first failure of the work. */
  readonly isFirst: boolean;
}

/**
 * Makes items durable in the background. Each commit takes all items that wait at that time, because a commit of many costs
 * as much as a commit of one.
 */
export class GroupCommit<Item> {
  readonly #commit: (items: readonly Item[]) => Promise<void>;
  readonly #onFailure: () => boolean;
  #waiting: Item[] = [];
  #underWay: Promise<void> | undefined;
  #failure: CommitFailure | undefined;

  /**
   * @param onFailure called once, when a commit fails, to stop the work. It returns false if the work was stopping
   *   already. `finish` throws the error of the commit.
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

  /** Waits until all items are durable. */
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
 * Does work that adds to `commits`, and waits until all items are durable, even if the work fails. Throws the first
 * failure, with the second one attached.
 */
export async function withGroupCommit(
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
    // An AbortError only says that the work was stopped.
    if (first instanceof PileshufError && !(second instanceof AbortError)) addCleanupErrors(first, [second]);
    throw first;
  }
  await commits?.finish();
}
