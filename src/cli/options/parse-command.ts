/**
 * Runs commander, for every command alike. Parsing prints nothing, opens no input and never ends the process. Help and
 * version come back as text, and every refusal, commander's own included, is a UsageError of one line.
 */
import { type Command, CommanderError } from 'commander';
import { UsageError } from '../../index.js';

export type ParsedCommand<Values> =
  | { readonly kind: 'parsed'; readonly operands: readonly string[]; readonly values: Values }
  /** `--help` or `--version`. */
  | { readonly kind: 'print'; readonly text: string };

/** @param argv what follows the name of the command. @throws UsageError */
export function parseCommand<Values extends object>(command: Command, argv: readonly string[]): ParsedCommand<Values> {
  let printed = '';
  command
    .helpOption('-h, --help', 'print this help')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => {
        printed += text;
      },
      outputError: () => {},
    });
  try {
    command.parse(argv, { from: 'user' });
  } catch (thrown) {
    if (!(thrown instanceof CommanderError)) throw thrown;
    if (thrown.exitCode === 0) return { kind: 'print', text: printed };
    throw usageErrorOf(thrown, command);
  }
  return { kind: 'parsed', operands: command.args, values: command.opts<Values>() };
}

/** `error: unknown option '--shard'\n(Did you mean --shards?)` becomes one line that ends in the hint. */
function usageErrorOf({ message }: CommanderError, command: Command): UsageError {
  return new UsageError(`${message.replace(/^error: /, '').replaceAll('\n', ' ')}; see ${command.name()} --help`);
}
