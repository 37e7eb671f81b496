/**
 * Removes as much as can be removed of what a job has: a failure stops no other step, and is reported at the end.
 */
import { join } from 'node:path';
import { addCleanupErrors, PileshufError } from '../errors.js';
import { syncDirectory } from '../io/durable.js';
import { removeFile } from '../io/files.js';

export class Removal {
  readonly #isDurable: boolean;
  readonly #failures: unknown[] = [];

  /** @param isDurable whether `sync` does anything. */
  constructor(isDurable: boolean) {
    this.#isDurable = isDurable;
  }

  /** Whether a removal failed, or could not be made durable. */
  get hasFailed(): boolean {
    return this.#failures.length > 0;
  }

  /** @returns what `step` returns; undefined when it failed. */
  attempt<T>(step: () => T): T | undefined {
    try {
      return step();
    } catch (error) {
      this.#add(error);
      return undefined;
    }
  }

  /** Steps that need the same may fail in the same way: that is told once. */
  #add(failure: unknown): void {
    if (!this.#failures.some((earlier) => String(earlier) === String(failure))) this.#failures.push(failure);
  }

  files(directory: string, names: readonly string[]): void {
    for (const name of names) this.attempt(() => removeFile(join(directory, name), 'temp'));
  }

  /** Makes the removals from these directories survive a power failure. */
  async sync(directories: readonly string[]): Promise<void> {
    for (const directory of this.#isDurable ? new Set(directories) : []) {
      try {
        await syncDirectory(directory, 'temp');
      } catch (error) {
        this.#add(error);
      }
    }
  }

  /** Throws the first failure, with the others attached. */
  finish(): void {
    const [first, ...others] = this.#failures;
    if (first === undefined) return;
    if (first instanceof PileshufError) addCleanupErrors(first, others);
    throw first;
  }
}
