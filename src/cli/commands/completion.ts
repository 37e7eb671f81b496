/** `pileshuf completion`: prints the script with which a shell completes the words of pileshuf. */
import type { CommandDefinition } from '../command.js';
import { completionForBash } from '../completion/bash.js';
import { completedCommands, SHELLS } from '../completion/completed-words.js';
import { completionForFish } from '../completion/fish.js';
import { completionForZsh } from '../completion/zsh.js';
import { oneOf } from '../option-values.js';
import { printToStandardOutput } from '../standard-streams.js';

const scriptFor = { bash: completionForBash, zsh: completionForZsh, fish: completionForFish };
const shellOf = oneOf(...SHELLS);

const notes = `
The shell completes commands, options, their values and names of files. A new
shell does so if what is printed is in one of these files:

  bash  ~/.local/share/bash-completion/completions/pileshuf
  zsh   _pileshuf in a directory of $fpath
  fish  ~/.config/fish/completions/pileshuf.fish

Example:
  pileshuf completion fish > ~/.config/fish/completions/pileshuf.fish
`;

export const command: CommandDefinition<'completion'> = {
  name: 'completion',
  operands: [['<shell>', 'bash, zsh or fish']],
  notes,
  async run({ operands: [shell = ''] }) {
    await printToStandardOutput(scriptFor[shellOf.parse(shell, 'completion')](completedCommands()));
  },
};
