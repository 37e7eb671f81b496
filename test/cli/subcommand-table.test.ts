/** The commands that follow `pileshuf` as a first word. */
import { describe, expect, it } from 'vitest';
import { parseArguments } from '#src/cli/program.js';
import { findSubcommand, subcommandNames } from '#src/cli/subcommand-table.js';

describe('a command of its own', () => {
  it.each(subcommandNames)('%s is found by its name, and named by the help', async (name) => {
    expect(await findSubcommand(name)).toBeTypeOf('function');
    const help = parseArguments(['--help'], () => 0);
    expect(help.kind === 'print' && help.text).toMatch(new RegExp(`^ {2}(?:.*, )?${name}(?:,|$)`, 'm'));
  });

  it('is no other word, nor one that every object has', async () => {
    for (const word of [undefined, '', 'Append', './append', 'constructor', '__proto__', '--help']) {
      expect(await findSubcommand(word)).toBeUndefined();
    }
  });
});
