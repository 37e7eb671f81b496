/**
 * Says what a command is, and parses its words. Parsing prints nothing, opens no input and never ends the process: help
 * and version come back as text. Every refusal, also of commander, is a UsageError of one line.
 */
import { createRequire } from 'node:module';
import { Argument, Command, CommanderError, Option } from 'commander';
import { UsageError } from '../errors.js';
import type { OptionFlag } from '../options/option.js';
import type { ShuffleProgress } from '../options/progress.js';
import type { Tuning } from '../plan/memory-plan.js';
import { parsePath } from '../values/parse-values.js';
import {
  COMMANDS,
  type CommandName,
  type DisplayValues,
  type OptionValues,
  optionsOf,
  shownOptionsOf,
  typedName,
} from './command-table.js';
import { flagsOf } from './option-names.js';
import type { Reporter } from './reporter.js';

export interface CommandDefinition<Name extends CommandName> {
  readonly name: Name;
  /** Its operands as commander writes them (`<store>`, `[inputs...]`), and their help. */
  readonly operands: readonly (readonly [operand: string, help: string])[];
  /** The help after the options, in lines of at most 80 columns. */
  readonly notes: string;
  /** The help that `-h` prints: the names of some options, and what follows them. Absent: all of the help. */
  readonly brief?: { readonly options: readonly string[]; readonly notes: string };
  run(call: CommandCall<Name>): Promise<void>;
}

export interface ParsedWords<Name extends CommandName> {
  readonly operands: readonly string[];
  readonly values: OptionValues<Name>;
  readonly display: DisplayValues;
  readonly given: readonly OptionFlag[];
}

/** How the library tells of a job, and is told to stop it. */
export interface Callbacks {
  readonly signal: AbortSignal;
  readonly onProgress: (progress: ShuffleProgress) => void;
  readonly onWarning: (line: string) => void;
}

export interface CommandCall<Name extends CommandName> extends ParsedWords<Name> {
  /** The words after `pileshuf`, as typed. */
  readonly argv: readonly string[];
  readonly reporter: Reporter;
  readonly callbacks: Callbacks;
  /** Sizes of the library's buffers, for tests. */
  readonly tuning: Partial<Tuning> | undefined;
}

export type ParsedCommand<Name extends CommandName> =
  | ({ readonly kind: 'parsed' } & ParsedWords<Name>)
  /** `--help` or `--version`. */
  | { readonly kind: 'print'; readonly text: string };

/** @param argv the words after the command's name. */
export function parseCommand<Name extends CommandName>(
  { name, operands, notes, brief }: Pick<CommandDefinition<Name>, 'name' | 'operands' | 'notes' | 'brief'>,
  argv: readonly string[],
): ParsedCommand<Name> {
  let printed = '';
  const given = new Map<OptionFlag, string>();
  const command = new Command(typedName(name))
    .description(COMMANDS[name].summary)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => {
        printed += text;
      },
      outputError: () => {},
      getOutHelpWidth: () => Math.min(80, process.stdout.columns || 80),
    });
  for (const operand of operands) command.addArgument(declareOperand(operand));
  const short = argv.includes('-h') && !argv.includes('--help') ? brief : undefined;
  for (const entry of optionsOf(name)) {
    const isShown = short?.options.includes(entry.name) ?? shownOptionsOf(name).includes(entry);
    const group = short === undefined ? entry.group : 'Most used options';
    command.addOption(new TableOption(entry, given).helpGroup(`${group}:`).hideHelp(!isShown));
  }
  const ofHelp = brief === undefined ? 'print this help' : 'print a short help (-h) or all of it (--help)';
  command.optionsGroup('Help:').helpOption('-h, --help', ofHelp);
  if (name === 'shuffle' || name === 'shuf') command.version(readVersion(), '--version', 'print the version');
  command.addHelpText('after', short?.notes ?? notes);
  try {
    command.parse(argv, { from: 'user' });
  } catch (thrown) {
    if (!(thrown instanceof CommanderError)) throw thrown;
    if (thrown.exitCode === 0) return { kind: 'print', text: printed };
    throw usageErrorOf(thrown, name, given);
  }
  requireOptions(name, given);
  refuseExclusiveFlags(name, given);
  const { progress, quiet, json, ...values } = command.opts<DisplayValues & Record<string, unknown>>();
  return {
    kind: 'parsed',
    operands: command.args,
    // Commander has put each under the name of what it sets.
    values: values as OptionValues<Name>,
    display: { progress, quiet, json },
    given: [...given.keys()],
  };
}

/** Commander stores the value under the name of the library option. */
class TableOption extends Option {
  readonly #field: string;

  /** @param given the options so far, with the text of their values. */
  constructor(entry: OptionFlag, given: Map<OptionFlag, string>) {
    const flags = flagsOf(entry);
    super(flags, entry.default === undefined ? entry.help : `${entry.help} (default: ${entry.default})`);
    [this.#field = entry.name] = entry.sets.split('.');
    // Commander would give the option a value that nobody typed.
    this.negate = false;
    // Commander gives a flag without a value to the parser only with a preset.
    this.preset('').argParser((text: string, previous: unknown) => {
      refuseSecondValue(entry, given.get(entry), text);
      given.set(entry, text);
      if (entry.value === undefined) return entry.constant ?? true;
      return entry.parse === undefined ? text : entry.parse(text, `--${entry.name}`, previous);
    });
  }

  override attributeName(): string {
    return this.#field;
  }
}

/** An operand that must be given must not be the empty string, which is what an unset shell variable leaves. */
function declareOperand([operand, help]: readonly [string, string]): Argument {
  const argument = new Argument(operand, help);
  const name = argument.name().toUpperCase();
  return argument.required ? argument.argParser((text) => parsePath(text, name)) : argument;
}

/** One of two values would silently have no effect. The same value again contradicts nothing. */
function refuseSecondValue({ name, isRepeatable }: OptionFlag, first: string | undefined, second: string): void {
  if (first === undefined || first === second || isRepeatable === true) return;
  throw new UsageError(`--${name} is given twice, as ${first} and as ${second}; give it once`);
}

/** Commander's own check would call an option missing that is there, but mistyped. */
function requireOptions(name: CommandName, given: ReadonlyMap<OptionFlag, string>): void {
  const missing = optionsOf(name).find((entry) => entry.isRequired && !given.has(entry));
  if (missing === undefined) return;
  throw new UsageError(`required option '${flagsOf(missing)}' not specified; see ${typedName(name)} --help`);
}

function refuseExclusiveFlags(name: CommandName, given: ReadonlyMap<OptionFlag, string>): void {
  const inOrder = optionsOf(name).filter((entry) => given.has(entry) && entry.isRepeatable !== true);
  for (const { choice } of inOrder) {
    const rivals = inOrder.filter((entry) => entry.choice === choice);
    if (rivals.length < 2) continue;
    const flags = rivals.map((entry) => `--${entry.name}`).join(' and ');
    throw new UsageError(`${flags} contradict each other; give one of them`);
  }
}

/** `error: unknown option '--shard'\n(Did you mean --shards?)` becomes one line that ends in the hint. */
function usageErrorOf(
  { code, message }: CommanderError,
  name: CommandName,
  given: ReadonlyMap<OptionFlag, string>,
): UsageError {
  const said = withOptionBegun(message.replace(/^error: /, '').replaceAll('\n', ' '), name);
  const greedy = [...given.keys()].find(({ value }) => value?.endsWith('...'));
  const hint =
    code === 'commander.missingArgument' && greedy !== undefined
      ? `: --${greedy.name} takes all words after it, up to the next option; name the others before it`
      : '';
  return new UsageError(`${said}${hint}; see ${typedName(name)} --help`);
}

/** GNU takes the beginning of one option for it. Commander looks at the letters that differ, and may name another. */
function withOptionBegun(said: string, name: CommandName): string {
  return said.replace(/^(unknown option '(--[^'=]+)[^']*').*/, (all, refused: string, beginning: string) => {
    const [begun, ...others] = shownOptionsOf(name).filter((entry) => `--${entry.name}`.startsWith(beginning));
    return begun === undefined || others.length > 0 ? all : `${refused} (Did you mean --${begun.name}?)`;
  });
}

function readVersion(): string {
  const description: { version: string } = createRequire(import.meta.url)('pileshuf/package.json');
  return description.version;
}
