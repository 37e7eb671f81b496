/** Words that pileshuf does not have: options of other programs, mistyped commands, options without their dashes. */
import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseCommand } from '#src/cli/command.js';
import { type CommandName, commandSummaries } from '#src/cli/command-table.js';
import { optionsOf } from '#src/cli/option-table.js';
import { adviseOption, refuseMistypedWords } from '#src/cli/other-words.js';
import { findCommand } from '#src/cli/run-command.js';
import { InputError } from '#src/index.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

const directory = useTestDirectory();
const names = Object.keys(commandSummaries) as CommandName[];

async function refusalOf(name: CommandName, argv: readonly string[]): Promise<string> {
  const command = await findCommand(name);
  try {
    parseCommand(command, argv);
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : '';
  }
  return expect.fail(`accepted: ${argv.join(' ')}`);
}

describe('an option of another program', () => {
  it.each<[string, string]>([
    ['--recursive', 'a directory stands for all files below it; leave it out'],
    ['-R', 'the order is always random; leave it out'],
    ['-V', 'pileshuf --version prints the version'],
    ['-j', 'give --workers N'],
    ['-j4', 'give --workers N'],
    ['--parallel=4', 'give --workers N'],
    ['--random-seed', 'give --seed STRING'],
    ['-f', 'give --force'],
    ['-u', 'give --unique'],
    ['--generation', 'it is an option of pileshuf append, pileshuf pile'],
  ])('%s is named with what to give instead', async (word, advice) => {
    const line = await refusalOf('shuffle', ['in', word, 'x']);
    expect(line.startsWith(`unknown option '${word}': ${advice}`)).toBe(true);
    expect(line.endsWith('; see pileshuf --help')).toBe(true);
  });

  it.each<[CommandName, string, string]>([
    ['stream', '-n10', 'for the first N lines of the output, add | head -n N'],
    ['append', '-i1-10', 'a store keeps records; pileshuf -i LO-HI writes numbers'],
    ['pile', '-r', 'a directory stands for all files below it; each record comes once, and pileshuf stream '],
  ])('is named by the commands of stores, too: %s %s', async (name, word, advice) => {
    expect(await refusalOf(name, [word, 'store', ...(name === 'pile' ? ['--input-id', 'x'] : [])])).toContain(
      `unknown option '${word}': ${advice}`,
    );
  });

  it('is named only where the command has the other', async () => {
    expect(await refusalOf('gc', ['store', '-j'])).toBe("unknown option '-j'; see pileshuf gc --help");
    expect(await refusalOf('inspect', ['store', '-R'])).toBe("unknown option '-R'; see pileshuf inspect --help");
    expect(await refusalOf('stream', ['store', '-n'])).toMatch(/'-n': for the first N lines of the output, add/);
  });

  it('is none that the command has', () => {
    for (const name of names) {
      const own = optionsOf(name).flatMap((entry) => (entry.short === undefined ? [] : [`-${entry.short}`]));
      for (const flag of own)
        expect(adviseOption(flag, name) ?? 'it is an option of', flag).toMatch(/^it is an option/);
    }
  });
});

describe('an input that does not exist', () => {
  const refusal = (word: string) => {
    try {
      refuseMistypedWords([word], 'shuffle');
    } catch (thrown) {
      expect(thrown).toBeInstanceOf(InputError);
      return thrown instanceof InputError ? [thrown.code, thrown.message] : [];
    }
    return undefined;
  };

  it('may be -0, which the parser takes for a number', () => {
    expect(refusal('-0')).toEqual(['ERR_INPUT_MISSING', 'the input -0 does not exist; give --zero-terminated']);
  });

  it.each<[string, string]>([
    ['shuffle', 'the main command has no name: leave the word out'],
    ['shuf', 'did you mean pileshuf shuf? The name of a command is the first word'],
    ['version', 'did you mean pileshuf --version?'],
    ['hlep', 'did you mean pileshuf help?'],
    ['\u2013missing', 'did you mean --missing VALUE?'],
    ['apend', 'did you mean pileshuf append? The name of a command is the first word'],
    ['appned', 'did you mean pileshuf append? The name of a command is the first word'],
    ['stream', 'did you mean pileshuf stream? The name of a command is the first word'],
    ['\u2013seed', 'did you mean --seed STRING?'],
    ['\u2014shards=4', 'did you mean --shards N?'],
    ['resume', 'did you mean --resume?'],
    ['seed=42', 'did you mean --seed STRING?'],
    ['ouptut', 'did you mean --output PATH?'],
  ])('%s may be another word', (word, advice) => {
    expect(refusal(word)).toEqual(['ERR_INPUT_MISSING', `the input ${word} does not exist; ${advice}`]);
  });

  it.each(['', '-', 'missing', 'heap', 'held', 'corpus', 'data.jsonl', 'x', 'gx', './append', 'a/seed', 'see', '*.gz'])(
    '%j is just missing',
    (word) => {
      expect(refusal(word)).toBe(undefined);
    },
  );

  it('is no word where a file of the name exists', () => {
    const before = process.cwd();
    process.chdir(directory.path());
    try {
      writeFileSync('apend', 'a\n');
      expect(refusal('apend')).toBe(undefined);
    } finally {
      process.chdir(before);
    }
  });
});

describe('an option with one value', () => {
  it('is refused when it comes again with another, in every command', async () => {
    const texts: Record<string, readonly [string, string]> = { default: ['1', '2'] };
    for (const name of names) {
      for (const entry of optionsOf(name)) {
        if (entry.value === undefined || entry.isRepeatable === true) continue;
        const [first, second] = texts[entry.name] ?? ['1', '2'];
        const line = await refusalOf(name, [`--${entry.name}=${first}`, `--${entry.name}=${second}`]);
        // A wrong first value is refused before.
        if (!line.startsWith(`--${entry.name} ${first}: `)) {
          expect(line).toBe(`--${entry.name} is given twice, as ${first} and as ${second}; give it once`);
        }
      }
    }
  });
});
