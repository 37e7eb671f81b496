/** Keeps the values that were used last, up to a total number of bytes. */
export class RecentlyUsed<Key, Value> {
  readonly #mostBytes: number;
  readonly #byteLengthOf: (value: Value) => number;
  /** In the order of their last use. */
  readonly #kept = new Map<Key, Value>();
  #keptBytes = 0;

  constructor(mostBytes: number, byteLengthOf: (value: Value) => number) {
    this.#mostBytes = mostBytes;
    this.#byteLengthOf = byteLengthOf;
  }

  get(key: Key): Value | undefined {
    const value = this.#kept.get(key);
    if (value === undefined) return undefined;
    this.#kept.delete(key);
    this.#kept.set(key, value);
    return value;
  }

  /** Drops the values that were not used for the longest time. A value that is too large by itself is not kept. */
  keep(key: Key, value: Value): void {
    this.#drop(key);
    this.#kept.set(key, value);
    this.#keptBytes += this.#byteLengthOf(value);
    for (const oldest of this.#kept.keys()) {
      if (this.#keptBytes <= this.#mostBytes) break;
      this.#drop(oldest);
    }
  }

  #drop(key: Key): void {
    const value = this.#kept.get(key);
    if (value === undefined) return;
    this.#kept.delete(key);
    this.#keptBytes -= this.#byteLengthOf(value);
  }
}
