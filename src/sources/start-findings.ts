/** UTF-8 marks and doubts at the beginnings of the inputs, told once for all of them. */
import { InputError } from '../errors.js';
import { type Doubt, describeDoubt } from '../formats/first-bytes.js';
import { NO_BYTES } from '../formats/framing.js';
import { UTF8_MARK } from '../formats/header.js';
import { inputName } from '../places/inputs/input-source.js';
import { andOtherInputs } from '../values/format-numbers.js';
import type { InputHeader, Inputs } from './input.js';
import type { Coverage } from './input-part.js';

export interface RaisedDoubt {
  readonly inputOrdinal: number;
  readonly doubt: Doubt;
}

/** The doubts of each kind: the first input that raises it, and how many do. */
class Doubts {
  readonly #raised = new Map<Doubt['kind'], RaisedDoubt & { readonly count: number }>();

  add(raised: RaisedDoubt): void {
    const { kind } = raised.doubt;
    const earlier = this.#raised.get(kind) ?? { ...raised, count: 0 };
    const first = earlier.inputOrdinal < raised.inputOrdinal ? earlier : raised;
    this.#raised.set(kind, { ...first, count: earlier.count + 1 });
  }

  has(kind: Doubt['kind']): boolean {
    return this.#raised.has(kind);
  }

  /** @param knownDoubts kinds that the user knows already. */
  tell(inputs: Inputs, onWarning: (line: string) => void, knownDoubts?: Doubts): void {
    for (const { inputOrdinal, doubt, count } of this.#raised.values()) {
      if (knownDoubts?.has(doubt.kind) === true) continue;
      onWarning(describeDoubt(inputs.at(inputOrdinal)?.path ?? '', doubt, andOtherInputs(count - 1)));
    }
  }
}

/** The doubts about plain files, which are known before the job. */
export function doubtsOf(inputs: Inputs): Doubts {
  const doubts = new Doubts();
  for (const [inputOrdinal, { finding: doubt }] of inputs.entries())
    if (doubt !== undefined && !(doubt instanceof InputError)) doubts.add({ inputOrdinal, doubt });
  return doubts;
}

export class StartFindings {
  /** The doubts about compressed inputs and streams. */
  readonly doubts = new Doubts();
  readonly #marked = new Set<number>();
  #isAnyUnmarked = false;
  #isEveryUnread = false;

  add({ inputOrdinal, start, end, markBytes = 0 }: Coverage, header: InputHeader): void {
    if (markBytes > 0 || header.isMarked === true) this.#marked.add(inputOrdinal);
    else if (start === header.byteLength && end > start) this.#isAnyUnmarked = true;
  }

  /** Notes that all inputs have a mark, and that only their headers are read. */
  addUnread(): void {
    this.#isEveryUnread = true;
  }

  /** The mark that is written before the header and the records of each output. */
  get markOfOutput(): Uint8Array {
    return (this.#marked.size > 0 || this.#isEveryUnread) && !this.#isAnyUnmarked ? UTF8_MARK : NO_BYTES;
  }

  tell(inputs: Inputs, output: 'output' | 'store', onWarning: (line: string) => void): void {
    this.doubts.tell(inputs, onWarning, doubtsOf(inputs));
    const marked = inputs.filter((_, ordinal) => this.#isEveryUnread || this.#marked.has(ordinal));
    const [first] = marked;
    if (first === undefined) return;
    const name = inputName(first.path);
    const rest = output === 'store' ? 'the store has none' : this.#restOfOutput();
    onWarning(
      `${name} begins with a UTF-8 mark${andOtherInputs(marked.length - 1)}, which is not part of a record; ${rest}`,
    );
  }

  #restOfOutput(): string {
    return this.#isAnyUnmarked
      ? 'the output has none, because not every input has one'
      : 'each output begins with it once, because every input does';
  }
}
