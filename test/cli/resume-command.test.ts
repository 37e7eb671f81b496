/** The command that resumes an unfinished job: the typed words, with `--resume` once, quoted for shells. */
import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseCommand } from '#src/cli/command.js';
import { command } from '#src/cli/commands/shuffle.js';
import { oneLine } from '#src/cli/messages.js';
import { quoteShellWords, resumeCommandOf } from '#src/cli/resume-command.js';
import { atScale } from '../fixtures/scale.js';

/** Asks the parser whether `--resume` is given, like the command. */
function resumeCommandFor(argv: readonly string[]): string {
  const parsed = parseCommand(command, argv);
  return resumeCommandOf(argv, parsed.kind === 'parsed' && parsed.values.resume === true);
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
  ])('of %j', (argv, line) => {
    expect(resumeCommandFor(argv)).toBe(line);
  });
});

/** What a shell makes of the words that stand in its script. */
function wordsReadBy(shell: string, quoted: string): string[] {
  const { stdout, stderr } = spawnSync(shell, ['-c', `printf '%s\\0' ${quoted}`], { encoding: 'utf8' });
  expect(stderr).toBe('');
  return stdout.split('\0').slice(0, -1);
}

/** Any word that can be an argument: no NUL, no half pairs. */
const specialSign = fc.constantFrom(...'\'"\\$`!*?[]{}()<>|&;~#=% \n\r\t\x1b\x7f\u0085\u2028é007');
const anySign = fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }).filter((sign) => sign !== '\0');
const anyWord = fc.array(fc.oneof(specialSign, anySign)).map((signs) => signs.join(''));

describe('quoteShellWords', () => {
  it.each([
    [
      ['in', '-o', '/a/b-c_d.jsonl', '--io-limit=/d=4', '50%', 'a,b:c@d+e'],
      'in -o /a/b-c_d.jsonl --io-limit=/d=4 50% a,b:c@d+e',
    ],
    [[''], "''"],
    [['a b'], "'a b'"],
    [["it's"], "'it'\\''s'"],
    [['*.gz', '$HOME', '~', '#1', '{a,b}', '!1'], "'*.gz' '$HOME' '~' '#1' '{a,b}' '!1'"],
    [['=ls'], "'=ls'"],
    [['größe'], "'größe'"],
    [['a\nb'], "$'a\\012b'"],
    [["'\\\x1b1"], "$'\\047\\134\\0331'"],
    [['\u2028\u0085'], "$'\\342\\200\\250\\302\\205'"],
  ])('of %j', (words, quoted) => {
    expect(quoteShellWords(words)).toBe(quoted);
  });

  it('is read as the same words by bash, and is one line without control characters', () => {
    fc.assert(
      fc.property(fc.array(anyWord, { minLength: 1, maxLength: 30 }), (words) => {
        const quoted = quoteShellWords(words);
        expect(oneLine(quoted)).toBe(quoted);
        expect(wordsReadBy('bash', quoted)).toEqual(words);
      }),
      { numRuns: atScale(15, 100) },
    );
  });

  it('is read as the same words by any shell where there are no control characters', () => {
    const plainWord = anyWord.map((word) => (oneLine(word) === word ? word : ''));
    fc.assert(
      fc.property(fc.array(plainWord, { minLength: 1, maxLength: 30 }), (words) => {
        expect(wordsReadBy('sh', quoteShellWords(words))).toEqual(words);
      }),
      { numRuns: atScale(15, 100) },
    );
  });
});
