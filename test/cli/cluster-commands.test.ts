/** The commands of tasks as a user calls them: what they print, in the words of the command line. */
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { commandInProcess } from '../fixtures/command-in-process.js';
import { runShell } from '../fixtures/run-shell.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

const directory = useTestDirectory();
const run = (...argv: string[]) => commandInProcess(argv, { cwd: directory.path() });
const task = (kind: string, ...more: string[]) =>
  run('cluster', 'task', kind, '--job-dir', 'job', '--wait', '0', ...more);
const status = async (...more: string[]) =>
  (await run('cluster', 'status', '--job-dir', 'job', ...more)).stdout.toString();

beforeEach(() => writeFileSync(directory.path('in'), 'a\nb\nb\nc\n'));

/** As a user does who wants the job no more. */
afterEach(() => {
  for (const name of readdirSync(directory.path()))
    if (name.startsWith('.pileshuf-')) rmSync(directory.path(name), { recursive: true });
});

describe('a planned job', () => {
  it('tells of duplicates that its commit dropped', async () => {
    await run('cluster', 'plan', 'in', '-o', 'out', '--unique', '--job-dir', 'job', '--tasks', '1');
    for (const kind of ['scatter', 'measure', 'shuffle']) await task(kind, '--index', '0');
    expect((await task('commit')).stderr).toMatch(/^pileshuf: committed 3 records, 6 B, 1 duplicate dropped in /);
    expect(await status()).toMatch(/job: committed\noutput {3}3 records, 6 B, 1 duplicate dropped, seed /);
  });

  it('says nothing with --quiet, and its JSON all the same', async () => {
    const plan = ['cluster', 'plan', 'in', '-o', 'out', '--no-read-back', '--job-dir', 'job', '--tasks', '1', '-q'];
    const { exitCode, stdout, stderr } = await run(...plan);
    expect({ exitCode, stdout: stdout.toString(), stderr }).toEqual({ exitCode: 0, stdout: '', stderr: '' });
    expect(await status('-q')).toBe('');
    expect(JSON.parse(await status('-q', '--json'))).toMatchObject({ readBackBy: 'nobody', state: 'scatter' });
    expect(await status()).toContain('\noutput   not read back\n');
    expect(await task('scatter', '--index', '0', '-q')).toMatchObject({ exitCode: 0, stderr: '' });
  });

  it('has nothing to do at an index that it does not have', async () => {
    await run('cluster', 'plan', 'in', '-o', 'out', '--job-dir', 'job', '--tasks', '1');
    const { exitCode, stderr } = await task('verify', '--index', '7');
    expect({ exitCode, stderr }).toEqual({
      exitCode: 0,
      stderr: 'pileshuf: the plan has no such verify task: nothing to do\n',
    });
  });

  it('shows errors of tasks with options as they are typed', async () => {
    await run('cluster', 'plan', 'in', '-o', 'out', '--job-dir', 'job', '--tasks', '1');
    await task('scatter', '--index', '0', '--scratch', 'nowhere');
    await task('shuffle', '--index', '0', '--scratch', 'nowhere');
    for (const text of [await status(), await status('--json')]) {
      expect(text).toMatch(/nowhere does not exist; name another with --scratch/);
      expect(text).not.toContain('`');
    }
  });

  it('is there although it cannot be printed, and says so', async () => {
    const words = ['cluster', 'plan', 'in', '-o', 'out', '--job-dir', 'job', '--tasks', '1'];
    const { exitCode, stderr } = await runShell(`cd '${directory.path()}' && "$@" > /dev/full`, words);
    expect({ exitCode, stderr }).toEqual({
      exitCode: 1,
      stderr: expect.stringMatching(
        /; the job is planned in \S+job all the same, and pileshuf cluster status shows its/,
      ),
    });
    expect(await status()).toContain('scatter tasks are left');
  });
});
