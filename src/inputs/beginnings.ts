/**
 * What the tasks of pass 1 found at the beginnings of the inputs: UTF-8 marks, and what lets one doubt that compressed
 * inputs and streams are text. It is told once for all inputs, when all are read.
 */
import { UTF8_MARK } from '../formats/byte-order-mark.js';
import { type Doubt, describeDoubt, isDoubt } from '../formats/first-look.js';
import { inputName } from '../io/input-source.js';
import type { Coverage } from './input-part.js';
import { type Input, type InputHeader, moreInputs } from './list-inputs.js';

/** The first input that raises a doubt, and how many others do. */
interface RaisedDoubt {
  readonly path: string;
  readonly doubt: Doubt;
  others: number;
}

/** In one line for each kind of doubt. */
export class Doubts {
  readonly #raised = new Map<Doubt['kind'], RaisedDoubt>();

  add(path: string, doubt: Doubt): void {
    const earlier = this.#raised.get(doubt.kind);
    if (earlier === undefined) this.#raised.set(doubt.kind, { path, doubt, others: 0 });
    else earlier.others += 1;
  }

  /** @param isTold whether the user knows of this kind already. */
  tell(onWarning: (line: string) => void, isTold: (kind: Doubt['kind']) => boolean = () => false): void {
    for (const { path, doubt, others } of this.#raised.values())
      if (!isTold(doubt.kind)) onWarning(describeDoubt(path, doubt, moreInputs(others)));
  }
}

/** Of plain files. */
export function doubtsOf(inputs: readonly Input[]): Doubts {
  const doubts = new Doubts();
  for (const input of inputs)
    if (input.kind === 'file' && input.finding !== undefined && isDoubt(input.finding))
      doubts.add(input.path, input.finding);
  return doubts;
}

export class Beginnings {
  readonly #doubts = new Doubts();
  #firstMarked: string | undefined;
  #markedCount = 0;
  #isAnyUnmarked = false;

  /** @param header of the input. */
  add(path: string, { start, end, markBytes = 0, doubt }: Coverage, header: InputHeader): void {
    if (doubt !== undefined) this.#doubts.add(path, doubt);
    if (start !== header.byteLength + markBytes) return;
    if (markBytes > 0 || header.isMarked === true) {
      this.#firstMarked ??= path;
      this.#markedCount += 1;
    } else if (end > start) this.#isAnyUnmarked = true;
  }

  /** Before the header and the records of each output. */
  get markOfOutput(): Uint8Array {
    return this.#markedCount > 0 && !this.#isAnyUnmarked ? UTF8_MARK : UTF8_MARK.subarray(0, 0);
  }

  /** @param output what is made of the inputs. */
  tell(inputs: readonly Input[], output: 'output' | 'store', onWarning: (line: string) => void): void {
    const known = new Set(inputs.map((input) => (input.kind === 'file' ? input.finding?.kind : undefined)));
    this.#doubts.tell(onWarning, (kind) => known.has(kind));
    if (this.#firstMarked === undefined) return;
    const isKept = output === 'output' && !this.#isAnyUnmarked;
    const rest = isKept
      ? 'each output begins with it once, because every input does'
      : `the ${output} has none${output === 'output' ? ', because not every input has one' : ''}`;
    onWarning(
      `${inputName(this.#firstMarked)} begins with a UTF-8 mark${moreInputs(this.#markedCount - 1)}, which is no part of a record; ${rest}`,
    );
  }
}
