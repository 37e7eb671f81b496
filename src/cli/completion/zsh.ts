/** The completion of pileshuf in zsh. */
import {
  type CompletedCommand,
  type CompletedOption,
  type CompletedValue,
  familiesOf,
  firstWordOf,
} from './completed-words.js';

export function completionForZsh(commands: readonly CompletedCommand[]): string {
  const described = commands.flatMap(({ name, summary }) =>
    name === undefined || name !== firstWordOf(name) ? [] : [`    ${quoted(`${name}:${summary.replace(/\.$/, '')}`)}`],
  );
  return `#compdef pileshuf
# Completes the words of pileshuf in zsh; pileshuf completion zsh prints this.
_pileshuf() {
  local -a commands=(
${described.join('\n')}
  )
  local command=$words[2] depth=1
  if ((CURRENT > 3)) && [[ $command == (${familiesOf(commands).join('|')}) ]]; then
    command="$command $words[3]" depth=2
  fi
  if ((CURRENT > 2)) && ((\${commands[(I)$words[2]:*]})); then
    shift depth words
    ((CURRENT -= depth))
  else
    command=
    if ((CURRENT == 2)) && [[ $words[2] != -* ]]; then _describe -t commands command commands; fi
  fi
  case $command in
${commands.map(describeCommand).join('\n')}
  esac
}
if [[ $funcstack[1] == _pileshuf ]]; then _pileshuf "$@"; else compdef _pileshuf pileshuf; fi
`;
}

function describeCommand({ name = '*', options, operands }: CompletedCommand): string {
  const rest = operands === undefined ? '*:input:_files' : `1:word:(${operands.join(' ')})`;
  const specs = [...options.flatMap(describeOption), quoted(rest)];
  return `  ${name.includes(' ') ? `'${name}'` : name})\n    _arguments -s -S \\\n${specs.map((spec) => `      ${spec}`).join(' \\\n')}\n    ;;`;
}

function describeOption({ flags, help, isRepeatable, value }: CompletedOption): string[] {
  return flags.map((flag) => {
    const how = isRepeatable ? '*' : `(${flags.join(' ')})`;
    const joint = value === undefined ? '' : flag.startsWith('--') ? '=' : '+';
    return quoted(`${how}${flag}${joint}[${escaped(help)}]${value === undefined ? '' : describeValue(value)}`);
  });
}

function describeValue({ placeholder, is }: CompletedValue): string {
  const action =
    typeof is !== 'string' ? `(${is.join(' ')})` : { file: '_files', directory: '_files -/', other: ' ' }[is];
  return `:${escaped(placeholder)}:${action}`;
}

/** Inside brackets and between colons. */
function escaped(text: string): string {
  return text.replace(/[[\]\\:]/g, '\\$&');
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
