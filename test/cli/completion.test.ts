/** `pileshuf completion`: each shell that is installed completes words with the script that it gets. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import { completionFor } from '#src/cli/commands/completion-command.js';
import { isOnPath } from '../fixtures/foreign-program.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';

const directory = useMemoryDirectory();

/** The words before the cursor, and all that may stand there. */
const cases: readonly (readonly [line: string, words: readonly string[]])[] = [
  ['pileshuf --split', ['--split', '--split-by']],
  ['pileshuf a', ['a.txt', 'append']],
  ['pileshuf append --sh', []],
  ['pileshuf --progress ', ['auto', 'bar', 'json', 'none', 'plain']],
  ['pileshuf --progress=j', ['json']],
  ['pileshuf --seed ', []],
  ['pileshuf -T ', ['dir']],
  ['pileshuf -o ', ['a.txt', 'dir']],
  ['pileshuf help shuf', ['shuf', 'shuffle-store']],
  ['pileshuf shuf --r', ['--random-source', '--repeat']],
  ['pileshuf append dir ', ['a.txt', 'dir']],
  ['pileshuf cluster ', ['plan', 'slurm', 'status', 'task']],
  ['pileshuf cluster plan --tas', ['--tasks']],
];

beforeEach(() => {
  mkdirSync(directory.path('here', 'dir'), { recursive: true });
  writeFileSync(directory.path('here', 'a.txt'), '');
});

function outputOf(shell: string, words: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(shell, words, { cwd: directory.path('here'), encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return stdout;
}

const sortedLines = (text: string) => text.split('\n').filter(Boolean).sort();

describe.skipIf(!isOnPath('bash'))('bash', () => {
  // As bash divides a line: at = too.
  const harness = `
    IFS=$'\\n' read -rd '' -a COMP_WORDS < <(printf %s "$1" | sed 's/=/\\n=\\n/g; s/ /\\n/g')
    [[ $1 == *' ' ]] && COMP_WORDS+=('')
    COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
    _pileshuf
    printf '%s\\n' "\${COMPREPLY[@]}"`;

  it.each(cases)('completes %s', (line, words) => {
    expect(sortedLines(outputOf('bash', ['-c', `${completionFor('bash')}\n${harness}`, 'bash', line]))).toEqual(words);
  });
});

describe.skipIf(!isOnPath('fish'))('fish', () => {
  it.each(cases)('completes %s', (line, words) => {
    writeFileSync(directory.path('pileshuf.fish'), completionFor('fish'));
    const output = outputOf('fish', ['--no-config', '-c', `source ../pileshuf.fish; complete -C '${line}'`]);
    const found = sortedLines(output).map((each) => each.replace(/\t.*$/g, '').replace(/^--[a-z-]+=/, ''));
    expect(found.map((each) => each.replace(/\/$/, '')).sort()).toEqual(words);
  });
});

describe.skipIf(!isOnPath('zsh'))('zsh', () => {
  it('has the function of bash as its own', () => {
    const twice = completionFor('zsh').repeat(2);
    const load = `autoload -Uz compinit; compinit -u -D; ${twice}\nprint -r -- $_comps[pileshuf]`;
    expect(outputOf('zsh', ['-f', '-c', load])).toContain('_pileshuf');
  });
});
