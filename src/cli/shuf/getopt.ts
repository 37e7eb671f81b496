/**
 * Finds options and operands among the words of a call as GNU's getopt_long does: a long option may be abbreviated and
 * take its value from `=` or the next word, short options may stand together, operands may stand before options, and `--`
 * ends the options.
 *
 * Commander and `parseArgs` of Node know no abbreviations, and refuse a call in words of their own. They also read all
 * words before they tell of the first, where GNU's programs refuse a call for its first mistake.
 */
import { ShufError } from './shuf-error.js';

export interface OptionRule<Name extends string> {
  readonly name: Name;
  readonly short?: string;
  readonly takesValue?: true;
}

/** An option that was given; its value is empty if it takes none. */
export interface GivenOption<Name extends string> {
  readonly name: Name;
  readonly value: string;
}

export interface FoundWords<Name extends string> {
  /** In the order given. */
  readonly options: Iterable<GivenOption<Name>>;
  /** All of them, when all options were taken. */
  readonly operands: readonly string[];
}

/**
 * @param rules in the order in which a message lists them.
 * @param operandsEndOptions whether the first operand ends the options, as POSIX demands.
 * @returns `options` throws a ShufError at the first wrong word, behind the options before it.
 */
export function findOptions<Name extends string>(
  words: readonly string[],
  rules: readonly OptionRule<Name>[],
  operandsEndOptions: boolean,
): FoundWords<Name> {
  const operands: string[] = [];
  return { options: takeOptions(words, rules, operandsEndOptions, operands), operands };
}

function* takeOptions<Name extends string>(
  words: readonly string[],
  rules: readonly OptionRule<Name>[],
  operandsEndOptions: boolean,
  operands: string[],
): Generator<GivenOption<Name>, void> {
  let next = 0;
  const takeWord = () => words[next++];
  for (let word = takeWord(); word !== undefined; word = takeWord()) {
    if (word === '--') break;
    if (word.startsWith('--')) yield longOption(word, rules, takeWord);
    else if (word.startsWith('-') && word !== '-') yield* shortOptions(word, rules, takeWord);
    else {
      operands.push(word);
      if (operandsEndOptions) break;
    }
  }
  operands.push(...words.slice(next));
}

function longOption<Name extends string>(
  word: string,
  rules: readonly OptionRule<Name>[],
  takeWord: () => string | undefined,
): GivenOption<Name> {
  const equals = word.indexOf('=');
  const given = word.slice(2, equals < 0 ? undefined : equals);
  const candidates = rules.filter(({ name }) => name.startsWith(given));
  const rule = candidates.find(({ name }) => name === given) ?? candidates[0];
  if (rule === undefined) throw new ShufError(`unrecognized option '${word}'`, 'hint');
  if (rule.name !== given && candidates.length > 1) {
    const names = candidates.map(({ name }) => `'--${name}'`).join(' ');
    throw new ShufError(`option '${word}' is ambiguous; possibilities: ${names}`, 'hint');
  }
  if (rule.takesValue === undefined) {
    if (equals < 0) return { name: rule.name, value: '' };
    throw new ShufError(`option '--${rule.name}' doesn't allow an argument`, 'hint');
  }
  const value = equals < 0 ? takeWord() : word.slice(equals + 1);
  if (value === undefined) throw new ShufError(`option '--${rule.name}' requires an argument`, 'hint');
  return { name: rule.name, value };
}

function* shortOptions<Name extends string>(
  word: string,
  rules: readonly OptionRule<Name>[],
  takeWord: () => string | undefined,
): Generator<GivenOption<Name>, void> {
  for (let at = 1; at < word.length; at++) {
    const letter = String.fromCodePoint(word.codePointAt(at) ?? 0);
    const rule = rules.find(({ short }) => short === letter);
    if (rule === undefined) throw new ShufError(`invalid option -- '${letter}'`, 'hint');
    if (rule.takesValue === undefined) {
      yield { name: rule.name, value: '' };
      continue;
    }
    const value = at + 1 < word.length ? word.slice(at + 1) : takeWord();
    if (value === undefined) throw new ShufError(`option requires an argument -- '${letter}'`, 'hint');
    yield { name: rule.name, value };
    return;
  }
}
