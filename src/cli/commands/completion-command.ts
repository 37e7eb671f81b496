/** The script holds all commands, options and values: a shell that completes a word starts no process. */

import type { OptionFlag } from '../../options/option.js';
import { oneWordOf } from '../../values/parse-values.js';
import type { CommandDefinition } from '../command.js';
import { CLUSTER, COMMAND_NAMES, COMMANDS, type CommandName, shownOptionsOf } from '../command-table.js';
import { printToStandardOutput } from '../standard-streams.js';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
const shellOf = oneWordOf(...SHELLS);

const notes = `
The shell completes commands, options, their values and names of files. Save the
script in one of these files, and start a new shell:

  bash  ~/.local/share/bash-completion/completions/pileshuf
  zsh   one that ~/.zshrc sources, after its call of compinit
  fish  ~/.config/fish/completions/pileshuf.fish

Example:
  pileshuf completion fish > ~/.config/fish/completions/pileshuf.fish
`;

export const command: CommandDefinition<'completion'> = {
  name: 'completion',
  operands: [['<shell>', 'bash, zsh or fish']],
  notes,
  async run({ operands: [shell = ''] }) {
    await printToStandardOutput(completionFor(shellOf.parse(shell, 'completion')));
  },
};

export function completionFor(shell: (typeof SHELLS)[number]): string {
  if (shell === 'fish') return completionForFish();
  return shell === 'zsh' ? `autoload -Uz bashcompinit && bashcompinit\n${completionForBash()}` : completionForBash();
}

const names = COMMAND_NAMES.filter((name) => name !== 'shuffle').sort();
const firstWords = [...new Set([...names.map((name) => name.replace(/ .*/, '')), 'help'])].sort();
/** The operands that are words and not names of files, by command. */
const wordsAfter: Readonly<Record<string, readonly string[]>> = {
  [CLUSTER]: names.filter((name) => name.startsWith(`${CLUSTER} `)).map((name) => name.slice(CLUSTER.length + 1)),
  completion: SHELLS,
  help: firstWords,
};

type CompletedOption = Pick<OptionFlag, 'name' | 'short' | 'help' | 'value' | 'words' | 'usualWords'>;

function completedOptions(name: CommandName): readonly CompletedOption[] {
  const version = name === 'shuffle' ? [{ name: 'version', help: 'print the version' }] : [];
  return [...shownOptionsOf(name), { name: 'help', short: 'h', help: 'print this help' }, ...version];
}

function valuesOf({ value = '', words, usualWords }: CompletedOption): 'files' | 'directories' | readonly string[] {
  return words ?? usualWords ?? (value === 'DIR' ? 'directories' : /^(FILE|PATH)\b/.test(value) ? 'files' : []);
}

function completionForBash(): string {
  return `# Completes the words of pileshuf; pileshuf completion prints this.
_pileshuf() {
  local word=\${COMP_WORDS[COMP_CWORD]} option=\${COMP_WORDS[COMP_CWORD - 1]} flags words kind=files
  # The = of --option=value is a word of its own in bash.
  if [[ $word == = ]]; then
    word=
  elif [[ $option == = ]]; then
    option=\${COMP_WORDS[COMP_CWORD - 2]}
  fi
  local command=\${COMP_WORDS[1]}
  if [[ $command == ${CLUSTER} ]] && ((COMP_CWORD > 2)); then command+=" \${COMP_WORDS[2]}"; fi
  case $command in
${Object.entries(wordsAfter)
  .map(([name, words]) => `  ${name}) kind=words words='${words.join(' ')}' ;;\n`)
  .join('')}  esac
  case $command in
${[...names, 'shuffle' as const].map(optionsForBash).join('')}  esac
  if [[ $word == -* && $kind != value ]]; then kind=words words=$flags; fi
  local IFS=$'\\n'
  case $kind in
  directories) COMPREPLY=($(compgen -d -- "$word")) ;;
  files) COMPREPLY=($(compgen -f -- "$word")) ;;
  *) IFS=$' \\n' COMPREPLY=($(compgen -W "$words" -- "$word")) ;;
  esac
  if [[ $kind == files && $COMP_CWORD == 1 ]]; then
    IFS=$' \\n' COMPREPLY+=($(compgen -W '${firstWords.join(' ')}' -- "$word"))
  fi
}
complete -o filenames -F _pileshuf pileshuf
`;
}

function optionsForBash(name: CommandName): string {
  const options = completedOptions(name);
  const flagsOf = ({ name: long, short }: CompletedOption) => [
    `--${long}`,
    ...(short === undefined ? [] : [`-${short}`]),
  ];
  const cases = options.flatMap((option) => {
    if (option.value === undefined) return [];
    const values = valuesOf(option);
    const kind = typeof values === 'string' ? `kind=${values}` : `kind=value words='${values.join(' ')}'`;
    return [`    ${flagsOf(option).join('|')}) ${kind} ;;\n`];
  });
  const inCase = cases.length === 0 ? '' : `    case $option in\n${cases.join('')}    esac\n`;
  return `  ${name === 'shuffle' ? '*' : `'${name}'`})\n    flags='${options.flatMap(flagsOf).join(' ')}'\n${inCase}    ;;\n`;
}

function completionForFish(): string {
  const quoted = (text: string) => `'${text.replace(/[\\']/g, '\\$&')}'`;
  const complete = (condition: string, rest: string) => `complete -c pileshuf -n ${quoted(condition)} ${rest}`;
  const optionOf = (option: CompletedOption) => {
    const values = valuesOf(option);
    const ofValue = {
      files: '-r -F',
      directories: "-x -a '(__fish_complete_directories)'",
      words: `-x -a ${quoted(typeof values === 'string' ? '' : values.join(' '))}`,
    }[typeof values === 'string' ? values : 'words'];
    const flags = `${option.short === undefined ? '' : `-s ${option.short} `}-l ${option.name}`;
    return `${flags} ${option.value === undefined ? '' : `${ofValue} `}-d ${quoted(option.help)}`;
  };
  const condition = (name: string) => `__pileshuf_calls ${name === 'shuffle' ? '' : name}`.trim();
  const summaryOf = (word: string) => Object.entries(COMMANDS).find(([name]) => name === word)?.[1].summary ?? '';
  return [
    '# Completes the words of pileshuf; pileshuf completion fish prints this.',
    '# Whether the words call a command; without an argument, the main one.',
    'function __pileshuf_calls',
    '  set -l words (commandline -opc)',
    `  set -l name (string match -r '^${CLUSTER} .+' -- "$words[2..3]"; or echo -- $words[2])`,
    `  if contains -- "$name" ${[...firstWords, ...names].map(quoted).join(' ')}`,
    '    test "$name" = "$argv"',
    '  else',
    '    test (count $argv) -eq 0',
    '  end',
    'end',
    ...firstWords.map((word) => complete('__fish_is_first_token', `-a ${word} -d ${quoted(summaryOf(word))}`)),
    ...[...names, 'shuffle' as const].flatMap((name) =>
      completedOptions(name).map((option) => complete(condition(name), optionOf(option))),
    ),
    ...Object.entries(wordsAfter).map(([name, words]) => complete(condition(name), `-f -a ${quoted(words.join(' '))}`)),
    '',
  ].join('\n');
}
