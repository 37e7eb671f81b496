/** `pileshuf completion`: each shell that is installed completes words with the script that it gets. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import { completionForBash } from '#src/cli/completion/bash.js';
import { completedCommands } from '#src/cli/completion/completed-words.js';
import { completionForFish } from '#src/cli/completion/fish.js';
import { completionForZsh } from '#src/cli/completion/zsh.js';
import { isOnPath } from '../fixtures/foreign-program.js';
import { fromCi, sampled } from '../fixtures/scale.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';

const directory = useMemoryDirectory();

/** The words before the cursor, and all that may stand there. */
const cases: readonly (readonly [line: string, words: readonly string[]])[] = [
  ['pileshuf --split', ['--split', '--split-by']],
  ['pileshuf ap', ['append']],
  ['pileshuf a', ['a.txt', 'append']],
  ['pileshuf append --sh', []],
  ['pileshuf shuffle-store --sha', ['--shard-bytes', '--shard-records', '--shards']],
  ['pileshuf --progress ', ['auto', 'bar', 'json', 'none', 'plain']],
  ['pileshuf --progress=j', ['json']],
  ['pileshuf --compress ', ['gzip', 'none', 'zstd']],
  ['pileshuf --seed ', []],
  ['pileshuf -T ', ['dir']],
  ['pileshuf -o ', ['a.txt', 'dir']],
  ['pileshuf a.txt --key p', ['position']],
  ['pileshuf help shuf', ['shuf', 'shuffle-store']],
  ['pileshuf completion ', ['bash', 'fish', 'zsh']],
  ['pileshuf shuf --r', ['--random-source', '--repeat']],
  ['pileshuf --vers', ['--version']],
  ['pileshuf append dir ', ['a.txt', 'dir']],
  ['pileshuf cluster ', ['plan', 'slurm', 'status', 'task']],
  ['pileshuf cluster plan --tas', ['--tasks']],
  ['pileshuf cluster task --ind', ['--index']],
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
    compopt() { :; }
    IFS=$'\\n' read -rd '' -a COMP_WORDS < <(printf %s "$1" | sed 's/=/\\n=\\n/g; s/ /\\n/g')
    [[ $1 == *' ' ]] && COMP_WORDS+=('')
    COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
    _pileshuf
    printf '%s\\n' "\${COMPREPLY[@]}"`;

  it.each(cases)('completes %s', (line, words) => {
    const script = `${completionForBash(completedCommands())}\n${harness}`;
    expect(sortedLines(outputOf('bash', ['-c', script, 'bash', line]))).toEqual(words);
  });
});

describe.skipIf(!isOnPath('fish'))('fish', () => {
  it.each(sampled(cases, 4))('completes %s', (line, words) => {
    writeFileSync(directory.path('pileshuf.fish'), completionForFish(completedCommands()));
    const output = outputOf('fish', ['--no-config', '-c', `source ../pileshuf.fish; complete -C '${line}'`]);
    const found = sortedLines(output).map((each) => each.replace(/\t.*$|\/$/g, '').replace(/^--[a-z-]+=/, ''));
    expect(found.map((each) => each.replace(/\/$/, '')).sort()).toEqual(words);
  });
});

describe.skipIf(!isOnPath('zsh'))('zsh', () => {
  it.runIf(fromCi)('reads the script', () => {
    writeFileSync(directory.path('_pileshuf'), completionForZsh(completedCommands()));
    expect(outputOf('zsh', ['-f', '-n', '../_pileshuf'])).toBe('');
    const load = `autoload -Uz compinit; compinit -u -D; source ../_pileshuf; print -r -- $_comps[pileshuf]`;
    expect(outputOf('zsh', ['-f', '-c', load])).toBe('_pileshuf\n');
  });
});
