/**
 * Single records, as `for await` asks for them. Most of them are loaded already, and cost a promise each and no turn of
 * an async function.
 */
import type { RecordCursor } from './record-cursor.js';

/** What is told of the records that are given. */
export interface RecordListener {
  /** One more is given. */
  given(): void;
  /** There are no more, or nobody wants more. @param isComplete whether all were given. */
  over(isComplete: boolean): void;
}

type Result = IteratorResult<Uint8Array, undefined>;

const DONE: Result = { done: true, value: undefined };

export class RecordIterator implements AsyncIterator<Uint8Array, undefined> {
  readonly #open: () => Promise<RecordCursor>;
  readonly #listener: RecordListener;
  #cursor: RecordCursor | undefined;
  #isOver = false;
  /** While a record is waited for, whoever asks for another one gets one behind it. */
  #waiting: Promise<Result> | undefined;

  constructor(open: () => Promise<RecordCursor>, listener: RecordListener) {
    this.#open = open;
    this.#listener = listener;
  }

  next(): Promise<Result> {
    const value = this.#waiting === undefined ? this.#cursor?.takeLoaded() : undefined;
    if (value !== undefined) {
      this.#listener.given();
      return Promise.resolve({ done: false, value });
    }
    const take = () => this.#take();
    const taking = (this.#waiting ?? Promise.resolve()).then(take, take).finally(() => {
      if (this.#waiting === taking) this.#waiting = undefined;
    });
    this.#waiting = taking;
    return taking;
  }

  async return(): Promise<Result> {
    this.#end(false);
    return DONE;
  }

  async #take(): Promise<Result> {
    if (this.#isOver) return DONE;
    try {
      this.#cursor ??= await this.#open();
      const value = await this.#cursor.take();
      if (value === undefined) this.#end(true);
      if (value === undefined || this.#isOver) return DONE;
      this.#listener.given();
      return { done: false, value };
    } catch (error) {
      this.#end(false);
      throw error;
    }
  }

  #end(isComplete: boolean): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#cursor = undefined;
    this.#listener.over(isComplete);
  }
}
