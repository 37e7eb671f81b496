/** The command that resumes an unfinished job: the typed words, with `--resume` once, quoted for shells. */
import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseCommand } from '#src/cli/command.js';
import { command } from '#src/cli/commands/shuffle-command.js';
import { quoteShellWords, type ResumeAdviser, repeatCommand, resumeAdviser } from '#src/cli/resume-command.js';
import { oneLine } from '#src/cli/visible-text.js';
import { atScale } from '../fixtures/scale.js';

const diskFailed: Parameters<ResumeAdviser>[0] = { code: 'ERR_IO', message: 'the disk failed' };

/** Asks the parser whether `--resume` is given, like the command. */
function adviceFor(argv: readonly string[], failure = diskFailed) {
  const parsed = parseCommand(command, argv);
  return resumeAdviser(argv, parsed.kind === 'parsed' && parsed.values.resume === true)(failure);
}

describe('the command that resumes', () => {
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
    expect(adviceFor(argv)).toEqual({ command: line, change: [], needsSpace: false });
  });
});

describe('a value that was to blame', () => {
  const tooLong = 'a: the record at byte 0 is longer than the 1024 bytes that `maxRecordBytes` allows; raise it';
  const tooSmall = 'the longest record does not fit the memory budget; expected `memoryBytes` of at least 9M';
  const tooLongForShard = 'the longest record has 80 bytes; expected `shards.maxShardBytes` of at least 80B';
  const noThread = 'no thread; give less to `memoryBytes` or use fewer `workers`';

  it.each<[string, string[], string, string[]]>([
    [tooLong, ['in', '-o', 'out', '--max-record', '1K'], 'in -o out --resume --max-record SIZE', ['--max-record']],
    [tooLong, ['in', '--max-record=1K', '-o', 'out'], 'in -o out --resume --max-record SIZE', ['--max-record']],
    [tooLong, ['in', '-o', 'out', '--resume'], 'in -o out --resume --max-record SIZE', ['--max-record']],
    [tooSmall, ['in', '-zS5M', '-o', 'out'], 'in -z -o out --resume --memory 9M', ['--memory']],
    [tooSmall, ['-S', '5M', '-o', 'out', '--', '-S'], '--resume --memory 9M -o out -- -S', ['--memory']],
    [tooSmall, ['--seed', '-S5M', '-o', 'out', 'in'], '--seed -S5M -o out in --resume --memory 9M', ['--memory']],
    [tooLongForShard, ['in', '--shard-bytes=9B', '-o', 'd'], 'in -o d --resume --shard-bytes 80B', ['--shard-bytes']],
    [noThread, ['in', '-o', 'out', '--workers', '900'], 'in -o out --resume --workers N', ['--workers']],
    [noThread, ['in', '-o', 'out'], 'in -o out --resume --memory SIZE', ['--memory']],
  ])('%s: a placeholder or the least value stands for it in the command of %j', (message, argv, line, change) => {
    const failure = { code: 'ERR_RECORD_TOO_LONG', message } as const;
    expect(adviceFor(argv, failure)).toEqual({ command: `pileshuf ${line}`, change, needsSpace: false });
  });

  it('stays where a resumed job needs the same: then the disk must change', () => {
    const failure = { code: 'ERR_NO_SPACE', message: 'no space; start anew with other disks (`tempDirs`)' } as const;
    const command = 'pileshuf in -o out -T /full --resume';
    expect(adviceFor(['in', '-o', 'out', '-T', '/full'], failure)).toEqual({ command, change: [], needsSpace: true });
  });
});

/** What a shell makes of the words that stand in its script. */
function wordsReadBy(shell: string, quoted: string): string[] {
  const { stdout, stderr } = spawnSync(shell, ['-c', `printf '%s\\0' ${quoted}`], { encoding: 'utf8' });
  expect(stderr).toBe('');
  return stdout.split('\0').slice(0, -1);
}

/** Any word that can be an argument: no NUL, no half pairs. */
const specialSign = fc.constantFrom(...'\'"\\$`!*?[]{}()<>|&;~#=% \n\r\t\x1b\x7f\u0085\u2028\u202eé007');
const anySign = fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }).filter((sign) => sign !== '\0');
const anyWord = fc.array(fc.oneof(specialSign, anySign)).map((signs) => signs.join(''));

describe('the command that repeats a job', () => {
  it.each([
    [['in', '-o', 'out'], undefined, "pileshuf --seed 's 1' in -o out"],
    [['in', '--seed', 's 1'], 's 1', "pileshuf in --seed 's 1'"],
    // The file may be a device, or change.
    [['--random-source', '/dev/urandom', 'in'], undefined, "pileshuf --seed 's 1' in"],
    [['--random-source=bits', '--', '--random-source'], undefined, "pileshuf --seed 's 1' -- --random-source"],
  ])('of %j has the seed of the job', (argv, seed, command) => {
    expect(repeatCommand(argv, seed, 's 1')).toBe(command);
  });
});

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
    [['a\u202eb'], "$'a\\342\\200\\256b'"],
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
      { numRuns: atScale(8, 20, 40) },
    );
  });

  it('is read as the same words by any shell where there are no control characters', () => {
    const plainWord = anyWord.map((word) => (oneLine(word) === word ? word : ''));
    fc.assert(
      fc.property(fc.array(plainWord, { minLength: 1, maxLength: 30 }), (words) => {
        expect(wordsReadBy('sh', quoteShellWords(words))).toEqual(words);
      }),
      { numRuns: atScale(8, 20, 40) },
    );
  });
});
