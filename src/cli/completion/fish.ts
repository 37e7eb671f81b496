/** The completion of pileshuf in fish. */
import {
  type CompletedCommand,
  type CompletedOption,
  type CompletedValue,
  familiesOf,
  firstWordOf,
} from './completed-words.js';

export function completionForFish(commands: readonly CompletedCommand[]): string {
  const named = commands.flatMap(({ name, summary }) => (name === undefined ? [] : [{ name, summary }]));
  return [
    '# Completes the words of pileshuf in fish; pileshuf completion fish prints this.',
    '# Whether the words call a command; without an argument, the main one.',
    'function __pileshuf_calls',
    '  set -l words (commandline -opc)',
    '  set -l name $words[2]',
    `  if contains -- "$name" ${familiesOf(commands).join(' ')}`,
    "    set name (string join ' ' $words[2..3])",
    '  end',
    `  if contains -- "$name" ${named.map(({ name }) => quoted(name)).join(' ')}`,
    '    test "$name" = "$argv"',
    '  else',
    '    test (count $argv) -eq 0',
    '  end',
    'end',
    ...named
      .filter(({ name }) => name === firstWordOf(name))
      .map(({ name, summary }) => complete('__fish_is_first_token', `-a ${name} -d ${quoted(summary)}`)),
    ...commands.flatMap(describeCommand),
    '',
  ].join('\n');
}

function describeCommand({ name = '', options, operands }: CompletedCommand): string[] {
  const condition = `__pileshuf_calls ${name}`.trim();
  const words = operands === undefined ? [] : [complete(condition, `-f -a ${quoted(operands.join(' '))}`)];
  return [...options.map((option) => complete(condition, describeOption(option))), ...words];
}

function complete(condition: string, rest: string): string {
  return `complete -c pileshuf -n ${quoted(condition)} ${rest}`;
}

function describeOption({ flags, help, value }: CompletedOption): string {
  const words = flags.map((flag) => (flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`));
  return [...words, ...(value === undefined ? [] : [describeValue(value)]), `-d ${quoted(help)}`].join(' ');
}

function describeValue({ is }: CompletedValue): string {
  if (typeof is !== 'string') return `-x -a ${quoted(is.join(' '))}`;
  return { file: '-r -F', directory: "-x -a '(__fish_complete_directories)'", other: '-x' }[is];
}

function quoted(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`;
}
