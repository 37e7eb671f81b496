/** docs/COMMANDS.md, generated from the table of options and the help of the commands. */
import { type CommandName, commandSummaries, typedName } from '#src/cli/command-table.js';
import { flagsOf, optionTable } from '#src/cli/option-table.js';
import { findCommand } from '#src/cli/run-command.js';

const INTRODUCTION = `# Commands and options

Every command, and every option with the commands that take it. \`npm run docs:reference\` writes this page from the
table that \`pileshuf COMMAND --help\` prints, so do not edit it. An input with the name of a command is written as
\`./NAME\`.
`;

export async function commandReference(): Promise<string> {
  const names = Object.keys(commandSummaries) as CommandName[];
  const commands = await Promise.all(names.map(describeCommand));
  const groups = new Set(optionTable.map(({ group }) => group));
  return [INTRODUCTION, '## Commands\n', ...commands, '## Options\n', ...[...groups].map(describeGroup)].join('\n');
}

async function describeCommand(name: CommandName): Promise<string> {
  const { operands, notes } = await findCommand(name);
  const usage = [typedName(name), '[options]', ...operands.map(([operand]) => operand)].join(' ');
  // The main command lists the others first, as this page does.
  const ownNotes = name === 'shuffle' ? notes.slice(notes.indexOf('\nRecords')) : notes;
  return `### ${typedName(name)}\n\n${commandSummaries[name]}\n\n\`\`\`text\nUsage: ${usage}\n${ownNotes}\`\`\`\n`;
}

/** A list for each set of commands that take the same options. */
function describeGroup(group: string): string {
  const lists = new Map<string, string[]>();
  for (const entry of optionTable) {
    if (entry.group !== group) continue;
    const commands = entry.commands.map((name) => (name === 'shuffle' ? '`pileshuf`' : `\`${name}\``)).join(', ');
    const text = 'default' in entry ? `${entry.help} (default: ${entry.default})` : entry.help;
    const line = `- \`${flagsOf(entry)}\`: ${text.replaceAll('\\', '\\\\')}`;
    lists.set(commands, [...(lists.get(commands) ?? []), line]);
  }
  const parts = [...lists].map(([commands, lines]) => [`For ${commands}:\n`, ...lines, ''].join('\n'));
  return `### ${group}\n\n${parts.join('\n')}`;
}
