/** docs/CLUSTER.md: its commands, typed into a shell one after the other, on a small corpus; those of Slurm where it is. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { contentOf, SMALL_TASKS } from '../fixtures/run-cluster.js';
import { hasSlurm, onSlurm, useSlurmCluster } from '../fixtures/slurm-cluster.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';
import { blocksOf } from './page-blocks.js';

const directory = useMemoryDirectory();
const command = fileURLToPath(new URL('../fixtures/command-under-test.mjs', import.meta.url));

const blocks = blocksOf('docs/CLUSTER.md').flatMap(({ kind, text }) => (kind === 'sh' ? [text] : []));
const firstOfSlurm = blocks.findIndex((text) => text.includes('cluster slurm'));
const linesOf = (file: number) => Array.from({ length: 300 }, (_, i) => `{"file":${file},"line":${i}}\n`).join('');
const TOKENIZE = `#!/bin/sh
sleep 3
mkdir -p tokens
cp "corpus/part-$SLURM_ARRAY_TASK_ID.jsonl" tokens/
`;

/** @returns what a shell prints, which ends at the first command that fails. */
function walk(script: string): string {
  for (const name of ['corpus', 'bin']) mkdirSync(directory.path(name));
  for (let file = 0; file < 8; file++) {
    writeFileSync(directory.path('corpus', `part-${file}.jsonl`), linesOf(file));
  }
  writeFileSync(directory.path('tokenize.sh'), TOKENIZE);
  const call = `#!/bin/sh\nexec '${process.execPath}' '${command}' "$@"\n`;
  writeFileSync(directory.path('bin', 'pileshuf'), call, { mode: 0o755 });
  const { status, stdout, stderr } = spawnSync('bash', ['-e', '-c', script], {
    cwd: directory.path(),
    env: {
      ...process.env,
      PATH: `${directory.path('bin')}:${process.env['PATH']}`,
      PILESHUF_TEST_TUNING: JSON.stringify(SMALL_TASKS),
    },
    encoding: 'utf8',
  });
  expect({ status, stderr: status === 0 ? '' : stderr }).toEqual({ status: 0, stderr: '' });
  return stdout;
}

function expectLocalBytes(output: string, input: string, ...words: readonly string[]): void {
  const argv = [input, '-o', 'local', '--shards', '64', ...words, '-q'];
  spawnSync(directory.path('bin', 'pileshuf'), argv, { cwd: directory.path() });
  expect(contentOf(directory.path(output))).toEqual(contentOf(directory.path('local')));
}

it('by any scheduler', () => {
  const said = walk(blocks.slice(0, firstOfSlurm).join(''));
  expect(said).toContain('scatter tasks  8, indexes 0 to 7\nshuffle tasks  8, indexes 0 to 7\n');
  expect(said).toContain(': committed\noutput   2,400 records');
  expectLocalBytes('out', 'corpus', '--seed', '42');
});

describe.skipIf(!hasSlurm)(onSlurm('on a Slurm cluster'), () => {
  useSlurmCluster();

  it('by Slurm', () => {
    const said = walk(blocks.slice(firstOfSlurm).join(''));
    expect(said).toMatch(/^scatter {8}job \d+, array of 8\nshuffle {8}job \d+, array of 8, after \d+\n/m);
    expect(said).toContain(': committed\noutput   2,400 records');
    expect(readdirSync(directory.path('tokens'))).toHaveLength(8);
    const { '.shard.complete.json': _, ...shards } = contentOf(directory.path('shuffled-tokens'));
    const lines = Object.values(shards).join('').match(/.*\n/g) ?? [];
    expect(lines.toSorted()).toEqual(
      Array.from({ length: 8 }, (_, i) => linesOf(i).match(/.*\n/g) ?? [])
        .flat()
        .toSorted(),
    );
    expectLocalBytes('shuffled', 'corpus', '--seed', '42');
  });
});
