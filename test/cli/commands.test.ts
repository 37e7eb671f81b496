/** The commands: each is found by its name, and its help names every option of the table, in groups. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parseCommand } from '#src/cli/command.js';
import {
  COMMAND_NAMES,
  COMMANDS,
  type CommandName,
  optionsOf,
  shownOptionsOf,
  typedName,
} from '#src/cli/command-table.js';
import { allOptions, flagsOf, nameFlags } from '#src/cli/option-names.js';
import { findCommand } from '#src/cli/run-command.js';

const names = COMMAND_NAMES;

async function helpOf(name: CommandName): Promise<string> {
  const parsed = parseCommand(await findCommand(name), ['--help']);
  if (parsed.kind !== 'print') throw new Error('no help');
  return parsed.text;
}

describe.each(names)('%s', (name) => {
  it('is found by its name, and listed by the main help', async () => {
    expect((await findCommand(name)).name).toBe(name);
    const line = new RegExp(`^ {2}${name} +${COMMANDS[name].summary.replaceAll('.', '[.]')}$`, 'm');
    if (name !== 'shuffle') expect(await helpOf('shuffle')).toMatch(line);
  });

  it('has a help with its options, each once, in groups, within 80 columns', async () => {
    const help = await helpOf(name);
    expect(help).toMatch(new RegExp(`^Usage: ${typedName(name)} \\[options\\](?: |$)`, 'm'));
    expect(help).not.toContain('Options:');
    let heading = '';
    const found: string[] = [];
    for (const line of help.split('\n')) {
      expect(line.length).toBeLessThanOrEqual(80);
      heading = /^(\w+):$/.exec(line)?.[1] ?? heading;
      const [, flags] = /^ {2}(-.*?)( {2}|$)/.exec(line) ?? [];
      if (flags !== undefined && heading !== 'Help') found.push(`${heading}: ${flags}`);
    }
    expect(found).toEqual(shownOptionsOf(name).map((entry) => `${entry.group}: ${flagsOf(entry)}`));
  });
});

it('-h shows ten options and three examples, --help all of them', async () => {
  const command = await findCommand('shuffle');
  const [short, long, both] = [['-h'], ['--help'], ['-h', '--help']].map((argv) => parseCommand(command, argv));
  const text = short?.kind === 'print' ? short.text : '';
  expect(text.match(/^Most used options:\n(.*?)\n\n/ms)?.[1]?.match(/^ {2}-/gm)).toHaveLength(10);
  expect(text.match(/^ {2}pileshuf /gm)).toHaveLength(3);
  expect(text.split('\n').length).toBeLessThanOrEqual(50);
  expect(both).toEqual(long);
});

describe('the table of options', () => {
  it.each(['append', 'pile'] as const)('takes the headers that %s refuses, and shows none', (name) => {
    const shown = shownOptionsOf(name);
    const hidden = optionsOf(name).filter((entry) => !shown.includes(entry));
    expect(hidden.map((entry) => entry.name)).toEqual(['npy', 'webdataset', 'header', 'header-prefix', 'skip-bytes']);
  });

  it('has each flag of a command once', () => {
    for (const name of names) {
      const flags = optionsOf(name).flatMap((entry) => [
        entry.name,
        ...(entry.short === undefined ? [] : [entry.short]),
      ]);
      expect(flags).toEqual([...new Set(flags)]);
    }
  });

  it('ends no help with a full stop, which the default follows', () => {
    for (const { help } of allOptions()) expect(help).toMatch(/[^.]$/);
  });
});

describe('the main command', () => {
  it.each([undefined, '', 'Append', './append', 'shuffle', 'constructor', '__proto__', '--help'])(
    'is called with %j as a first word',
    async (word) => expect((await findCommand(word)).name).toBe('shuffle'),
  );
});

describe('nameFlags', () => {
  it.each([
    ['give `force` without `resume` to start anew', 'give --force without --resume to start anew'],
    ['`records.linesPerRecord` is 0; expected', '--lines-per-record is 0; expected'],
    ['leave out `header`', 'leave out --header, --header-prefix or --skip-bytes'],
    ['expected a file, or `shards`', 'expected a file, or --shards, --shard-records or --shard-bytes'],
    ['give `giveUpLost` to `collectStore`', 'give --give-up-lost to pileshuf gc'],
    ['decode it without igzip (`igzip`)', 'decode it without igzip (--without-igzip)'],
    ['`inputIds`', '--input-ids or --input-id'],
    ["give `records: { by: 'npy' }` or `records: { by: 'lines' }`", 'give --npy or --lines'],
    ["no flag alone: `records: { by: 'size' }`", "no flag alone: `records: { by: 'size' }`"],
    ['check `ulimit -v` and `toString`', 'check `ulimit -v` and `toString`'],
  ])('of %j', (message, line) => {
    expect(nameFlags(message)).toBe(line);
  });

  it('knows every option that a message of the library names', () => {
    const root = fileURLToPath(new URL('../../', import.meta.url));
    const sources = ['src', 'workers'].flatMap((room) =>
      readdirSync(join(root, room), { recursive: true, encoding: 'utf8' })
        .filter((path) => /\.c?ts$/.test(path) && !/^(cli|kernel\/assembly)\//.test(path))
        .map((path) => readFileSync(join(root, room, path), 'utf8')),
    );
    // In plain strings, and escaped in templates; comments also use backquotes.
    const code = sources.join('\n').replace(/^\s*(\/\/|\/?\*).*$/gm, '');
    const strings = [...code.matchAll(/'[^'\n]*'|"[^"\n]*"/g)].map(([string]) => string);
    const named = [...code.matchAll(/\\`([\w.]+)\\`/g), ...strings.join('\n').matchAll(/(?<![$\\])`([\w.]+)`/g)];
    const options = new Set(named.flatMap(([, option = '']) => option));
    expect(options.size).toBeGreaterThan(25);
    const unknown = [...options].filter((option) => nameFlags(`\`${option}\``).startsWith('`'));
    // `inputs`, `keptBytes` and `textOf` belong to the library alone; the others are parts of values that the command always gives whole.
    expect(unknown.toSorted()).toEqual(
      'by bytes codec factor glob high inputs keptBytes lines low prefix textOf'.split(' '),
    );
    const kinds = new Set(
      [...code.matchAll(/`records: \{ by: '[a-z-]+' \}\\?`/g)].map(([kind]) => kind.replace('\\', '')),
    );
    expect(kinds.size).toBeGreaterThan(3);
    for (const kind of kinds) expect(nameFlags(kind)).toMatch(/^--[a-z]+$/);
  });
});
