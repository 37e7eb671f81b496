/** Options in the words of the command. */
import { RECORD_FLAGS } from '../formats/framing-table.js';
import { OPTION_GROUPS, type OptionFlag } from '../options/option.js';
import { COMMAND_NAMES, type CommandName, optionsOf } from './command-table.js';

export function flagsOf({ name, short, value }: Pick<OptionFlag, 'name' | 'short' | 'value'>): string {
  const flag = short === undefined ? `--${name}` : `-${short}, --${name}`;
  return value === undefined ? flag : `${flag} <${value}>`;
}

/** The options of all commands, each once, by their groups. */
export function allOptions(): readonly OptionFlag[] {
  const all = [...new Set(COMMAND_NAMES.flatMap(optionsOf))];
  return OPTION_GROUPS.flatMap((group) => all.filter((flag) => flag.group === group));
}

/** A range of numbers, as messages name this input. The command has no other with such a name. */
const RANGE = /numbers0?:\/\/(\d+-\d+)/g;

/** A library option in backquotes, as messages name it. */
const libraryOption = /`([a-zA-Z\d.]+)`/g;

function setsOption({ sets }: OptionFlag, option: string): boolean {
  return sets === option || sets.startsWith(`${option}.`);
}

/** The options of a command that a message of the library names, in the order of the message. */
export function optionsNamedIn(message: string, name: CommandName): readonly OptionFlag[] {
  const named = [...message.matchAll(libraryOption)].map(([, option = '']) => option);
  return [...new Set(named)].flatMap((option) => optionsOf(name).filter((entry) => setsOption(entry, option)));
}

const COMMAND_OF = {
  collectStore: 'pileshuf gc',
  inspectStore: 'pileshuf inspect',
  clusterStatus: 'pileshuf cluster status',
  verifyPermutation: 'pileshuf verify --against',
} as const;

/**
 * A message of the library in the words of the command: each library option in backquotes becomes the flags that set it,
 * each kind of records the flag that stands for it, a range of numbers the flag that gives it, and each function the
 * command. `give \`force\`` becomes `give --force`.
 */
export function nameFlags(message: string): string {
  return message
    .replace(RANGE, '--input-range $1')
    .replace(
      /`(collectStore|inspectStore|clusterStatus|verifyPermutation)`/g,
      (_, name: keyof typeof COMMAND_OF) => COMMAND_OF[name],
    )
    .replace(/`records: \{ by: '([a-z-]+)' \}`/g, (quoted, by: string) => {
      const flag = RECORD_FLAGS.find(({ value, constant }) => value === undefined && constant?.by === by);
      return flag === undefined ? quoted : `--${flag.name}`;
    })
    .replace(libraryOption, (quoted, option: string) => {
      const flags = allOptions().filter((flag) => setsOption(flag, option));
      const [last, ...others] = [...new Set(flags.map(({ name }) => `--${name}`))].reverse();
      if (last === undefined) return quoted;
      return others.length === 0 ? last : `${others.reverse().join(', ')} or ${last}`;
    });
}
