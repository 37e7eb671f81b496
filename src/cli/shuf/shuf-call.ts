/**
 * What a call of shuf asks for, from its words alone: nothing is opened. The options, their meaning and the words of each
 * refusal are those of shuf of GNU coreutils 9.2 and later.
 */
import { type NumberRange, parseHeadCount, parseRange } from './counts.js';
import { findOptions, type OptionRule } from './getopt.js';
import { quote } from './quoted.js';
import { ShufError } from './shuf-error.js';

/** What the output is made of. */
export type ShufSource =
  | { readonly kind: 'words'; readonly words: readonly string[] }
  | { readonly kind: 'range'; readonly range: NumberRange }
  /** Undefined: standard input. */
  | { readonly kind: 'file'; readonly path: string | undefined };

export interface ShufJob {
  readonly kind: 'shuffle';
  readonly source: ShufSource;
  /** Undefined: all of them; with `repeat` without end. */
  readonly headCount: bigint | undefined;
  readonly repeat: boolean;
  readonly zeroTerminated: boolean;
  /** Undefined: standard output. */
  readonly output: string | undefined;
  readonly randomSource: string | undefined;
}

export type ShufCall = ShufJob | { readonly kind: 'help' } | { readonly kind: 'version' };

export const shufOptions = [
  { name: 'echo', short: 'e' },
  { name: 'input-range', short: 'i', takesValue: true },
  { name: 'head-count', short: 'n', takesValue: true },
  { name: 'output', short: 'o', takesValue: true },
  { name: 'random-source', takesValue: true },
  { name: 'repeat', short: 'r' },
  { name: 'zero-terminated', short: 'z' },
  { name: 'help' },
  { name: 'version' },
] as const satisfies readonly OptionRule<string>[];

type OptionName = (typeof shufOptions)[number]['name'];

/**
 * @param operandsEndOptions whether no option may follow an operand: POSIXLY_CORRECT in the environment.
 * @throws ShufError for the first mistake.
 */
export function parseShufWords(words: readonly string[], operandsEndOptions: boolean): ShufCall {
  const found = findOptions<OptionName>(words, shufOptions, operandsEndOptions);
  let [isEcho, repeat, zeroTerminated] = [false, false, false];
  let range: NumberRange | undefined;
  let headCount: bigint | undefined;
  let output: string | undefined;
  let randomSource: string | undefined;
  for (const { name, value } of found.options) {
    switch (name) {
      case 'help':
      case 'version':
        return { kind: name };
      case 'echo':
        isEcho = true;
        break;
      case 'repeat':
        repeat = true;
        break;
      case 'zero-terminated':
        zeroTerminated = true;
        break;
      case 'input-range':
        if (range !== undefined) throw new ShufError('multiple -i options specified');
        range = parseRange(value);
        break;
      case 'head-count':
        headCount = smallest(headCount, parseHeadCount(value));
        break;
      case 'output':
        output = sameAs(output, value, 'multiple output files specified');
        break;
      case 'random-source':
        randomSource = sameAs(randomSource, value, 'multiple random sources specified');
    }
  }
  const source = sourceOf(isEcho, range, found.operands);
  return { kind: 'shuffle', source, headCount, repeat, zeroTerminated, output, randomSource };
}

function smallest(known: bigint | undefined, other: bigint | undefined): bigint | undefined {
  if (known === undefined || other === undefined) return known ?? other;
  return known < other ? known : other;
}

function sameAs(known: string | undefined, value: string, problem: string): string {
  if (known === undefined || known === value) return value;
  throw new ShufError(problem);
}

function sourceOf(isEcho: boolean, range: NumberRange | undefined, operands: readonly string[]): ShufSource {
  if (isEcho && range !== undefined) throw new ShufError('cannot combine -e and -i options', 'hint');
  if (isEcho) return { kind: 'words', words: operands };
  const extra = operands[range === undefined ? 1 : 0];
  if (extra !== undefined) throw new ShufError(`extra operand ${quote(extra)}`, 'hint');
  if (range !== undefined) return { kind: 'range', range };
  const [path] = operands;
  return { kind: 'file', path: path === '-' ? undefined : path };
}
