/** docs/PLAN.md: its commands, typed into a shell verbatim, print the lines that it explains; and its program. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { runShell } from '../fixtures/run-shell.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

const directory = useTestDirectory();
const page = readFileSync(new URL('../../docs/PLAN.md', import.meta.url), 'utf8');
const blockOf = (kind: string) => new RegExp(`\`\`\`${kind}\\n(.*?)\`\`\``, 's').exec(page)?.[1] ?? '';
const commands = blockOf('sh').trim().split('\n');
const labelsOf = (text: string) =>
  text
    .split('\n')
    .map((line) => line.slice(0, 12).trim())
    .filter((label) => label !== '');

function makeCorpus(): void {
  mkdirSync(directory.path('corpus'));
  for (const name of ['a', 'b']) {
    const lines = Array.from({ length: 60_000 }, (_, i) => `{"id":"${name}${i}","text":"${'word '.repeat(120)}"}\n`);
    writeFileSync(directory.path('corpus', `${name}.jsonl`), lines.join(''));
  }
}

describe('docs/PLAN.md', () => {
  it('has two commands and what they print', () => {
    expect(commands).toHaveLength(2);
    expect(labelsOf(blockOf('text'))).toContain('advice');
  });

  it('has commands that print these lines, within 80 columns, and write nothing', async () => {
    makeCorpus();
    const printed: string[][] = [];
    for (const command of commands) {
      const script = `node=$1 command=$2; pileshuf() { "$node" "$command" "$@"; }; cd "$SITE" && ${command}`;
      const { exitCode, stdout, stderr } = await runShell(script, [], {
        SITE: directory.path(),
        TMPDIR: directory.temp,
      });
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
      printed.push(labelsOf(stdout.toString()));
      const isLong = (line: string) => line.length > 80 && !line.includes(directory.path());
      expect(stdout.toString().split('\n').filter(isLong)).toEqual([]);
    }
    expect(printed).toEqual(commands.map(() => labelsOf(blockOf('text'))));
    expect(readdirSync(directory.path()).sort()).toEqual(['corpus', 'temp']);
  });

  it('has a program that works', () => {
    makeCorpus();
    const index = fileURLToPath(new URL('../../dist/src/index.js', import.meta.url));
    const program = blockOf('js').replace("'pileshuf'", `'${index}'`);
    writeFileSync(directory.path('program.mjs'), program);
    const { stdout, stderr } = spawnSync(process.execPath, ['program.mjs'], {
      cwd: directory.path(),
      encoding: 'utf8',
    });
    expect(stderr).toBe('');
    expect(stdout).toMatch(/^0 \d+ \{ least: [\d.]+, most: [\d.]+ \}\n$/);
  });
});
