/** docs/OPTIONS.md is written from the table of options and the help. `npm run docs:reference` writes it anew. */
import { readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { COMMAND_NAMES, COMMANDS, type CommandName, shownOptionsOf, typedName } from '#src/cli/command-table.js';
import { allOptions, flagsOf } from '#src/cli/option-names.js';
import { findCommand } from '#src/cli/run-command.js';

const page = new URL('../../docs/OPTIONS.md', import.meta.url);
const names = COMMAND_NAMES;

const INTRODUCTION = `# Options

Every command and every option of pileshuf. \`npm run docs:reference\` writes this page from the table that the help prints, so
do not edit it. \`pileshuf COMMAND --help\` has examples. \`pileshuf shuf\` has the options of GNU shuf. An input with the name
of a command is written as \`./NAME\`. Below, "shuffles" are the main command, \`plan\`, \`cluster plan\` and \`cluster slurm\`.`;

const SHUFFLES: readonly CommandName[] = ['shuffle', 'cluster plan', 'cluster slurm', 'plan'];

async function reference(): Promise<string> {
  const { notes } = await findCommand('shuffle');
  const paragraphs = notes.split('\n\n');
  const sizes = paragraphs.find((text) => text.startsWith('SIZE is')) ?? expect.fail('the help has no SIZE');
  const codes = notes.slice(notes.indexOf('Exit codes:') + 'Exit codes:\n'.length);
  return [
    INTRODUCTION,
    sizes,
    '## Commands',
    (await Promise.all(names.map(describeCommand))).join('\n'),
    ...[...new Set(allOptions().map(({ group }) => group))].map(describeGroup),
    `## Exit codes\n\n\`\`\`text\n${codes.trimEnd()}\n\`\`\`\n`,
  ].join('\n\n');
}

async function describeCommand(name: CommandName): Promise<string> {
  const { operands } = await findCommand(name);
  const usage = [typedName(name), ...operands.map(([operand]) => operand)].join(' ');
  return `- \`${usage}\`: ${COMMANDS[name].summary}`;
}

const wordsOf = (name: CommandName) => (name === 'shuffle' ? 'the main command' : `\`${name}\``);

/** A list for each set of commands that take the same options. */
function describeGroup(group: string): string {
  const lists = new Map<string, string[]>();
  for (const entry of allOptions().filter((each) => each.group === group)) {
    const owners = names.filter((name) => shownOptionsOf(name).includes(entry));
    const areAll = SHUFFLES.every((name) => owners.includes(name));
    const others = owners.filter((name) => !areAll || !SHUFFLES.includes(name)).map(wordsOf);
    const words = [...(areAll ? ['shuffles'] : []), ...others].join(', ');
    const text = entry.default !== undefined ? `${entry.help} (default: ${entry.default})` : entry.help;
    const line = `- \`${flagsOf(entry)}\`: ${text.replaceAll('\\', '\\\\')}`;
    lists.set(words, [...(lists.get(words) ?? []), line]);
  }
  const parts = [...lists].map(([words, lines]) => `For ${words}:\n\n${lines.join('\n')}`);
  return [`## ${group}`, ...parts].join('\n\n');
}

it('the page is up to date; npm run docs:reference writes it', async () => {
  const text = await reference();
  if (process.env['PILESHUF_WRITE_REFERENCE'] === '1') writeFileSync(page, text);
  expect(readFileSync(page, 'utf8')).toBe(text);
});
