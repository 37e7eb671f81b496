/** docs/OPTIONS.md is written from the table of options and the help. `npm run docs:reference` writes it anew. */
import { readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parseCommand } from '#src/cli/command.js';
import { COMMAND_NAMES, COMMANDS, type CommandName, shownOptionsOf, typedName } from '#src/cli/command-table.js';
import { allOptions, flagsOf } from '#src/cli/option-names.js';
import { findCommand } from '#src/cli/run-command.js';
import type { OptionFlag } from '#src/options/option.js';
import { OPTION_EXAMPLES } from './option-examples.js';

const page = new URL('../../docs/OPTIONS.md', import.meta.url);
const names = COMMAND_NAMES;

const INTRODUCTION = `# Options

Every command and every option, with an example. \`pileshuf shuf\` has the options of GNU shuf. An input with the name of a
command is written as \`./NAME\`. Below, "shuffles" are the main command, \`plan\`, \`cluster plan\` and \`cluster slurm\`.

<!-- npm run docs:reference writes this page -->`;

const SHUFFLES: readonly CommandName[] = ['shuffle', 'cluster plan', 'cluster slurm', 'plan'];

async function reference(): Promise<string> {
  const { notes } = await findCommand('shuffle');
  const paragraphs = notes.split('\n\n');
  const sizes = paragraphs.find((text) => text.startsWith('SIZE is')) ?? expect.fail('the help has no SIZE');
  return [
    INTRODUCTION,
    sizes,
    '## Commands',
    (await Promise.all(names.map(describeCommand))).join('\n'),
    ...[...new Set(allOptions().map(({ group }) => group))].map(describeGroup),
    '',
  ].join('\n\n');
}

async function describeCommand(name: CommandName): Promise<string> {
  const { operands } = await findCommand(name);
  const usage = [typedName(name), ...operands.map(([operand]) => operand)].join(' ');
  return `- \`${usage}\`: ${COMMANDS[name].summary}`;
}

const wordsOf = (name: CommandName) => (name === 'shuffle' ? 'the main command' : `\`${name}\``);

const ownersOf = (entry: OptionFlag) => names.filter((name) => shownOptionsOf(name).includes(entry));

/** The name of the option. Of several options with one name, those that the main command lacks have their first command. */
function anchorOf(entry: OptionFlag): string {
  const namesakes = shown.filter(({ name }) => name === entry.name);
  const main = namesakes.find((each) => ownersOf(each).includes('shuffle')) ?? namesakes[0];
  return main === entry ? entry.name : `${entry.name}-of-${ownersOf(entry)[0]?.replaceAll(' ', '-')}`;
}

const shown = allOptions().filter((entry) => ownersOf(entry).length > 0);

/** Beginning of most examples of the group Slurm, which the page has once. */
const RESUMED = 'pileshuf cluster slurm --resume --job-dir job';

/** A list for each set of commands that take the same options. */
function describeGroup(group: string): string {
  const lists = new Map<string, string[]>();
  for (const entry of allOptions().filter((each) => each.group === group)) {
    const owners = ownersOf(entry);
    const areAll = SHUFFLES.every((name) => owners.includes(name));
    const others = owners.filter((name) => !areAll || !SHUFFLES.includes(name)).map(wordsOf);
    const takers = [...(areAll ? ['shuffles'] : []), ...others].join(', ');
    const text = entry.default !== undefined ? `${entry.help} (default: ${entry.default})` : entry.help;
    const anchor = anchorOf(entry);
    const example = OPTION_EXAMPLES[anchor] ?? expect.fail(`no example of ${anchor}`);
    const command = `pileshuf ${example}`;
    const words = group === 'Slurm' ? command.replace(`${RESUMED} `, '') : command;
    const line = `- <a id="${anchor}"></a>\`${flagsOf(entry)}\`: ${text.replaceAll('\\', '\\\\')}: \`${words}\``;
    lists.set(takers, [...(lists.get(takers) ?? []), line]);
  }
  const after = group === 'Slurm' ? `. Short examples stand after \`${RESUMED}\`` : '';
  const parts = [...lists].map(([takers, lines]) => `For ${takers}${after}:\n\n${lines.join('\n')}`);
  return [`## ${group}`, ...parts].join('\n\n');
}

it('the page is up to date; npm run docs:reference writes it', async () => {
  const text = await reference();
  if (process.env['PILESHUF_WRITE_REFERENCE'] === '1') writeFileSync(page, text);
  expect(readFileSync(page, 'utf8')).toBe(text);
});

it('each option has an example, which its command takes', async () => {
  expect(Object.keys(OPTION_EXAMPLES).sort()).toEqual(shown.map(anchorOf).sort());
  for (const entry of shown) {
    const text = OPTION_EXAMPLES[anchorOf(entry)] ?? '';
    const words = text.match(/(?:'[^']*'|[^\s'])+/g)?.map((word) => word.replaceAll("'", '')) ?? [];
    const name = ownersOf(entry).find((owner) => owner === 'shuffle' || text.startsWith(`${owner} `)) ?? 'shuffle';
    const parsed = parseCommand(
      await findCommand(name),
      name === 'shuffle' ? words : words.slice(name.split(' ').length),
    );
    expect(parsed).toMatchObject({ kind: 'parsed', given: expect.arrayContaining([entry]) });
  }
});
