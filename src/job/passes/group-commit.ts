/**
 * Makes things durable in the background, all that wait at one time together, because a commit costs the
 * same for one as for many.
 */
export class GroupCommit<Item> {
  readonly #commit: (items: readonly Item[]) => Promise<void>;
  readonly #onFailure: () => void;
  #waiting: Item[] = [];
  #underWay: Promise<void> | undefined;
  #failure: { readonly error: unknown } | undefined;

  /** @param onFailure called once, when a commit fails; `finish` throws what it threw. */
  constructor(commit: (items: readonly Item[]) => Promise<void>, onFailure: () => void) {
    this.#commit = commit;
    this.#onFailure = onFailure;
  }

  add(item: Item): void {
    this.#waiting.push(item);
    this.#underWay ??= this.#commitAll();
  }

  get failure(): { readonly error: unknown } | undefined {
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
        this.#failure = { error };
        this.#onFailure();
      }
    }
    this.#underWay = undefined;
  }
}

/**
 * Does work that adds to `commits`, and waits until all of it is durable, whatever becomes of the work. What
 * failed first is thrown.
 */
export async function committing(
  commits: Pick<GroupCommit<never>, 'failure' | 'finish'> | undefined,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    // A commit that failed has stopped the work.
    const failure = commits?.failure ?? { error };
    await commits?.finish().catch(() => {});
    throw failure.error;
  }
  await commits?.finish();
}
