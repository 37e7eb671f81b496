/** docs/COMMANDS.md, docs/CLUSTER-COMMANDS.md and docs/OTHER-COMMANDS.md, generated from the table of options and the help of the commands. */
import { type CommandName, commandSummaries, typedName } from '#src/cli/command-table.js';
import { flagsOf, optionTable } from '#src/cli/option-table.js';
import { findCommand } from '#src/cli/run-command.js';

const GENERATED = `\`npm run docs:reference\` writes this page from the table that the help prints, so do not
edit it.`;

const names = Object.keys(commandSummaries) as CommandName[];
const isOfCluster = (name: CommandName) => name.startsWith('cluster ');

/** The pages, each with its commands and what it says first. */
export const REFERENCE_PAGES: Readonly<
  Record<string, { readonly commands: readonly CommandName[]; readonly introduction: string }>
> = {
  'COMMANDS.md': {
    commands: ['shuffle', 'plan'],
    introduction: `# The main command and its options

Every option of \`pileshuf\`, and of \`pileshuf plan\`, which takes the same. ${GENERATED}
[OTHER-COMMANDS.md](OTHER-COMMANDS.md) has the commands for checks, pile stores and indexes,
[CLUSTER-COMMANDS.md](CLUSTER-COMMANDS.md) those for several machines, [SHUF.md](SHUF.md) has \`pileshuf shuf\`. An input with the name of a command is written as \`./NAME\`.
`,
  },
  'CLUSTER-COMMANDS.md': {
    commands: names.filter(isOfCluster),
    introduction: `# The commands for several machines, and their options

Every command for tasks on several machines, and its options. ${GENERATED}
[CLUSTER.md](CLUSTER.md) says how they make a job. [COMMANDS.md](COMMANDS.md) has the main command.
`,
  },
  'OTHER-COMMANDS.md': {
    commands: names.filter((name) => !['shuffle', 'plan'].includes(name) && !isOfCluster(name)),
    introduction: `# The other commands and their options

Every command for checks, pile stores and indexes, and every option with the commands that take it.
[VERIFY.md](VERIFY.md) and [CHECK-SHUFFLED.md](CHECK-SHUFFLED.md) describe the checks.
${GENERATED}
[COMMANDS.md](COMMANDS.md) has the main command.
`,
  },
};

export async function commandReference(page: string): Promise<string> {
  const described = REFERENCE_PAGES[page];
  if (described === undefined) throw new RangeError(`${page} is no page of commands`);
  const { commands: names, introduction } = described;
  const commands = await Promise.all(names.map(describeCommand));
  const groups = new Set(optionTable.filter((entry) => ownersOn(names, entry).length > 0).map(({ group }) => group));
  const options = [...groups].map((group) => describeGroup(group, names));
  return [introduction, '## Commands\n', ...commands, '## Options\n', ...options].join('\n');
}

function ownersOn(names: readonly CommandName[], { commands }: (typeof optionTable)[number]): CommandName[] {
  return names.filter((name) => (commands as readonly CommandName[]).includes(name));
}

async function describeCommand(name: CommandName): Promise<string> {
  const { operands, notes } = await findCommand(name);
  const usage = [typedName(name), '[options]', ...operands.map(([operand]) => operand)].join(' ');
  // The main command lists the others first, which have a page of their own.
  const ownNotes = name === 'shuffle' ? notes.slice(notes.indexOf('\nRecords')) : notes;
  return `### ${typedName(name)}\n\n${commandSummaries[name]}\n\n\`\`\`text\nUsage: ${usage}\n${ownNotes}\`\`\`\n`;
}

/** A list for each set of commands that take the same options. */
function describeGroup(group: string, names: readonly CommandName[]): string {
  const lists = new Map<string, string[]>();
  for (const entry of optionTable) {
    const owners = ownersOn(names, entry);
    if (entry.group !== group || owners.length === 0) continue;
    const commands = owners.map((name) => `\`${name}\``).join(', ');
    const text = 'default' in entry ? `${entry.help} (default: ${entry.default})` : entry.help;
    const line = `- \`${flagsOf(entry)}\`: ${text.replaceAll('\\', '\\\\')}`;
    lists.set(commands, [...(lists.get(commands) ?? []), line]);
  }
  const parts = [...lists].map(([commands, lines]) => {
    const heading = names.length === 1 ? [] : [`For ${commands}:\n`];
    return [...heading, ...lines, ''].join('\n');
  });
  return `### ${group}\n\n${parts.join('\n')}`;
}
