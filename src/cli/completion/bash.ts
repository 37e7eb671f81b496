/** The completion of pileshuf in bash, 4.4 and later. */
import { type CompletedCommand, type CompletedOption, familiesOf, firstWords } from './completed-words.js';

export function completionForBash(commands: readonly CompletedCommand[]): string {
  const names = firstWords(commands).join(' ');
  return `# Completes the words of pileshuf in bash; pileshuf completion bash prints this.
_pileshuf() {
  local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD - 1]}
  local option='' flags='' operands='' values='' kind='files'
  COMPREPLY=()
  # Bash takes the = of --option=value for a word of its own.
  if [[ $word == = ]]; then
    option=$before word=''
  elif [[ $before == = ]]; then
    option=\${COMP_WORDS[COMP_CWORD - 2]}
  elif [[ $before == -* ]]; then
    option=$before
  fi
  local command=\${COMP_WORDS[1]}
  case $command in
  ${familiesOf(commands).join('|')}) ((COMP_CWORD > 2)) && command="$command \${COMP_WORDS[2]}" ;;
  esac
  case $command in
${commands.map(describeCommand).join('\n')}
  esac
  if [[ $word == -* && $kind != value-* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$flags" -- "$word")
    return
  fi
  case $kind in
  value-words) mapfile -t COMPREPLY < <(compgen -W "$values" -- "$word") ;;
  value-directory)
    compopt -o filenames
    mapfile -t COMPREPLY < <(compgen -d -- "$word")
    ;;
  value-other) ;;
  words) mapfile -t COMPREPLY < <(compgen -W "$operands" -- "$word") ;;
  *)
    compopt -o filenames
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
    if [[ $kind == files && $COMP_CWORD == 1 ]]; then
      mapfile -t -O "\${#COMPREPLY[@]}" COMPREPLY < <(compgen -W '${names}' -- "$word")
    fi
    ;;
  esac
}
complete -F _pileshuf pileshuf
`;
}

function describeCommand({ name = '*', options, operands }: CompletedCommand): string {
  const cases = [...options.flatMap(wordsCase), ...kindCases(options)];
  return [
    `  ${name.includes(' ') ? `'${name}'` : name})`,
    `    flags='${options.flatMap(({ flags }) => flags).join(' ')}'`,
    ...(operands === undefined ? [] : [`    operands='${operands.join(' ')}' kind=words`]),
    ...(cases.length === 0 ? [] : ['    case $option in', ...cases, '    esac']),
    '    ;;',
  ].join('\n');
}

function wordsCase({ flags, value }: CompletedOption): string[] {
  if (value === undefined || typeof value.is === 'string') return [];
  return [`    ${flags.join('|')}) values='${value.is.join(' ')}' kind=value-words ;;`];
}

function kindCases(options: readonly CompletedOption[]): string[] {
  return ['file', 'directory', 'other'].flatMap((kind) => {
    const flags = options.filter(({ value }) => value?.is === kind).flatMap((option) => option.flags);
    return flags.length === 0 ? [] : [`    ${flags.join('|')}) kind=value-${kind} ;;`];
  });
}
