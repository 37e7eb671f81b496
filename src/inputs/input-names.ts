/**
 * The names of all inputs, and where each begins if all lie one behind the other. Threads share the memory, because there may
 * be a million inputs.
 */

/** As plain data, which crosses threads. */
export interface SharedInputNames {
  /** The names as JSON strings, in UTF-8. */
  readonly text: SharedArrayBuffer;
  /** Of each input, the end of its name in `text`. */
  readonly ends: SharedArrayBuffer;
  /** Of each input, the sum of the bytes of those before it. */
  readonly starts: SharedArrayBuffer;
  /** Of the longest one, as a JSON string. */
  readonly longestBytes: number;
}

/** @param byteLengths decoded, of each input. */
export function shareInputNames(names: readonly string[], byteLengths: Float64Array): SharedInputNames {
  const texts = names.map((name) => Buffer.from(JSON.stringify(name)));
  const textBytes = texts.reduce((sum, { byteLength }) => sum + byteLength, 0);
  const shared = {
    text: new SharedArrayBuffer(textBytes),
    ends: new SharedArrayBuffer(Float64Array.BYTES_PER_ELEMENT * names.length),
    starts: new SharedArrayBuffer(Float64Array.BYTES_PER_ELEMENT * names.length),
    longestBytes: texts.reduce((most, { byteLength }) => Math.max(most, byteLength), 0),
  };
  const [text, ends, starts] = [
    Buffer.from(shared.text),
    new Float64Array(shared.ends),
    new Float64Array(shared.starts),
  ];
  let filled = 0;
  let start = 0;
  for (const [i, name] of texts.entries()) {
    name.copy(text, filled);
    filled += name.byteLength;
    ends[i] = filled;
    starts[i] = start;
    start += byteLengths[i] ?? 0;
  }
  return shared;
}

export class InputNames {
  readonly #text: Buffer;
  readonly #ends: Float64Array;
  readonly #starts: Float64Array;
  /** Most records of a task come from a few inputs. */
  #last = { input: -1, name: '' };

  constructor({ text, ends, starts }: SharedInputNames) {
    this.#text = Buffer.from(text);
    this.#ends = new Float64Array(ends);
    this.#starts = new Float64Array(starts);
  }

  /** As a JSON string. */
  nameOf(input: number): string {
    if (this.#last.input !== input) {
      const name = this.#text.toString('utf8', this.#ends[input - 1] ?? 0, this.#ends[input]);
      this.#last = { input, name };
    }
    return this.#last.name;
  }

  startOf(input: number): number {
    return this.#starts[input] ?? 0;
  }
}
