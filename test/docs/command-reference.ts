/** docs/COMMANDS.md and docs/OPTIONS.md, generated from the help of the commands and the table of options. */
import { type CommandName, commandSummaries, typedName } from '#src/cli/command-table.js';
import { flagsOf, optionTable } from '#src/cli/option-table.js';
import { findCommand } from '#src/cli/run-command.js';

const COMMANDS = `# Commands

Every command, with what its \`--help\` says; [OPTIONS.md](OPTIONS.md) lists their options. \`npm run docs:reference\` writes
this page, so do not edit it. An input with the name of a command is written as \`./NAME\`.
`;

const OPTIONS = `# Options

Every option, with the commands that take it ([COMMANDS.md](COMMANDS.md)). \`npm run docs:reference\` writes this page from
the table that \`pileshuf COMMAND --help\` prints, so do not edit it.
`;

export async function commandReference(): Promise<string> {
  const names = Object.keys(commandSummaries) as CommandName[];
  return [COMMANDS, ...(await Promise.all(names.map(describeCommand)))].join('\n');
}

export function optionReference(): string {
  const groups = new Set(optionTable.map(({ group }) => group));
  return [OPTIONS, ...[...groups].map(describeGroup)].join('\n');
}

async function describeCommand(name: CommandName): Promise<string> {
  const { operands, notes } = await findCommand(name);
  const usage = [typedName(name), '[options]', ...operands.map(([operand]) => operand)].join(' ');
  // The main command lists the others first, as this page does.
  const ownNotes = name === 'shuffle' ? notes.slice(notes.indexOf('\nRecords')) : notes;
  return `## ${typedName(name)}\n\n${commandSummaries[name]}\n\n\`\`\`text\nUsage: ${usage}\n${ownNotes}\`\`\`\n`;
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
  return `## ${group}\n\n${parts.join('\n')}`;
}
