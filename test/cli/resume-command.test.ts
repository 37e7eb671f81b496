/** The command that goes on with an unfinished job: what was typed, with `--resume`, once. */
import { describe, expect, it } from 'vitest';
import { parseArguments } from '#src/cli/program.js';
import { resumeCommandOf } from '#src/cli/resume-command.js';

/** As the command does it: whether `--resume` is there is asked of the parser. */
function resumeCommandFor(argv: readonly string[]): string {
  const invocation = parseArguments(argv, () => 0);
  return resumeCommandOf(argv, invocation.kind === 'shuffle' && invocation.options.resume === true);
}

describe('resumeCommandOf', () => {
  it.each([
    [['a b', '-o', 'out'], "pileshuf 'a b' -o out --resume"],
    [['--resume', 'in', '-o', 'out'], 'pileshuf --resume in -o out'],
    [['in', '-o', 'out', '--', '-x'], 'pileshuf --resume in -o out -- -x'],
    [['in', '-o', 'out', '--resume', '--', '-x'], 'pileshuf in -o out --resume -- -x'],
    [['in', '-o', 'out', '--', '--resume'], 'pileshuf --resume in -o out -- --resume'],
    // Values of options that look like something else.
    [['in', '-o', 'out', '--seed', '--resume'], 'pileshuf in -o out --seed --resume --resume'],
    [['in', '-o', 'out', '--seed', '--'], 'pileshuf --resume in -o out --seed --'],
    [['--files-from', '-', '-oout', '--seed='], 'pileshuf --files-from - -oout --seed= --resume'],
  ])('of %j', (argv, command) => {
    expect(resumeCommandFor(argv)).toBe(command);
  });
});
