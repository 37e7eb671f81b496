/** The manual page in the language of man(7), from the tables and the help of the commands. The build calls it. */

import type { OptionFlag } from '../options/option.js';
import { COMMAND_NAMES, COMMANDS, type CommandName, shownOptionsOf, typedName } from './command-table.js';
import { flagsOf } from './option-names.js';
import { findCommand } from './run-command.js';

/** Notes of the main command that have sections of their own. */
const OWN_SECTIONS: Readonly<Record<string, string>> = { 'Exit codes:': 'EXIT STATUS', 'Examples:': 'EXAMPLES' };

export async function manualPage(version: string): Promise<string> {
  const names = COMMAND_NAMES.filter((name) => name !== 'shuffle').sort();
  const { notes } = await findCommand('shuffle');
  const blocks = blocksOf(notes.slice(notes.indexOf('\nRecords')));
  const section = ([heading = '', ...lines]: readonly string[]) => {
    const title = OWN_SECTIONS[heading];
    return title === undefined ? [] : [`.SH ${title}`, ...literal(lines)];
  };
  return [
    `.TH PILESHUF 1 "" "pileshuf ${version}" "User Commands"`,
    // Words are not hyphenated: an option is searched for as it is typed.
    '.nh',
    '.ad l',
    '.SH NAME',
    'pileshuf \\- put the records of many files into one uniformly random order',
    '.SH SYNOPSIS',
    ...(await synopsisOf('shuffle')),
    '.br',
    '.B pileshuf',
    '\\fIcommand\\fR [\\fIoptions\\fR] ...',
    '.SH DESCRIPTION',
    ...blocks.filter(([heading = '']) => OWN_SECTIONS[heading] === undefined).flatMap(paragraph),
    '.SH OPTIONS',
    ...optionGroups(shownOptionsOf('shuffle')),
    '.SH COMMANDS',
    ...(await Promise.all(names.map(describeCommand))).flat(),
    '.SH ENVIRONMENT',
    '.TP',
    '.B TMPDIR',
    'the temp directory of a job that names none',
    ...blocks.flatMap(section),
    '.SH SEE ALSO',
    '.BR shuf (1),',
    '.BR sort (1)',
    '',
  ].join('\n');
}

async function synopsisOf(name: CommandName): Promise<string[]> {
  const { operands } = await findCommand(name);
  const words = operands.map(([operand]) => escaped(operand.replaceAll(/[<>]/g, '')));
  return [`.B ${escaped(typedName(name))}`, ['[\\fIoptions\\fR]', ...words.map((word) => `\\fI${word}\\fR`)].join(' ')];
}

/** Options that the main command has too are only named. */
async function describeCommand(name: CommandName): Promise<string[]> {
  const { notes } = await findCommand(name);
  const main = shownOptionsOf('shuffle');
  const entries = shownOptionsOf(name);
  const shared = entries.filter((entry) => main.includes(entry)).map((entry) => `\\fB\\-\\-${escaped(entry.name)}\\fR`);
  return [
    `.SS "${escaped(typedName(name))}"`,
    ...(await synopsisOf(name)),
    '.PP',
    escaped(COMMANDS[name].summary),
    ...blocksOf(notes).flatMap(paragraph),
    ...entries.filter((entry) => !main.includes(entry)).flatMap(describeOption),
    ...(shared.length === 0 ? [] : ['.PP', `Options as above: ${shared.join(', ')}.`]),
  ];
}

function optionGroups(entries: readonly OptionFlag[]): string[] {
  const groups = new Set(entries.map(({ group }) => group));
  return [...groups].flatMap((group) => [
    `.SS ${group}`,
    ...entries.filter((entry) => entry.group === group).flatMap(describeOption),
  ]);
}

function describeOption(entry: OptionFlag): string[] {
  const { help, value } = entry;
  const [words = ''] = flagsOf(entry).split(' <');
  const flags = `\\fB${escaped(words)}\\fR`;
  const text = entry.default === undefined ? help : `${help} (default: ${entry.default})`;
  return ['.TP', value === undefined ? flags : `${flags} \\fI${escaped(value)}\\fR`, escaped(text)];
}

function blocksOf(notes: string): readonly (readonly string[])[] {
  return notes
    .split(/\n{2,}|^\n/)
    .map((block) => block.split('\n').filter((line) => line !== ''))
    .filter((lines) => lines.length > 0);
}

/** Indented lines stay as they are; others are filled. */
function paragraph(lines: readonly string[]): string[] {
  const first = lines.findIndex((line) => line.startsWith('  '));
  if (first === -1) return ['.PP', ...lines.map(escaped)];
  return ['.PP', ...lines.slice(0, first).map(escaped), ...literal(lines.slice(first))];
}

function literal(lines: readonly string[]): string[] {
  return ['.nf', ...lines.map(escaped), '.fi'];
}

/** A text as man(7) prints it: a backslash and a hyphen as such, and a dot or quote at the start of a line too. */
function escaped(text: string): string {
  const plain = text.replaceAll('\\', '\\e').replaceAll('-', '\\-');
  return /^[.']/.test(plain) ? `\\&${plain}` : plain;
}
