/**
 * Tasks as a scheduler runs them: processes of the command, which are killed at calls on files that a seed draws, on
 * threads too, which run twice at once, under the names of several hosts, with inputs that nobody may change, and on a disk
 * that is full.
 */
import { appendFileSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { drawsFor } from '../fixtures/draws.js';
import { reasonNotToMount, useMounts } from '../fixtures/mounts.js';
import { arraysOf, contentOf, SMALL_TASKS } from '../fixtures/run-cluster.js';
import { type CommandResult, type CommandRun, runCommand } from '../fixtures/run-command.js';
import { runShell } from '../fixtures/run-shell.js';
import { atScale } from '../fixtures/scale.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';

const directory = useMemoryDirectory();
const mount = useMounts();

const killer = fileURLToPath(new URL('../faults/killer.mjs', import.meta.url));

/** `threads`: as large tasks are done. */
const tuningOf = (inline: boolean) => ({ PILESHUF_TEST_TUNING: JSON.stringify({ ...SMALL_TASKS, inline }) });

/** The tests below have one file, without threads. */
const KINDS = [
  { name: 'a sample, with threads', options: ['-n', '250'], inline: false },
  {
    name: 'splits of gzip shards',
    options: ['--split', 'train=0.9,test=0.1', '--shards', 'train=3', '--compress', 'gzip'],
    inline: true,
  },
  { name: 'unique records, in shards by records', options: ['--unique', '--shard-records', '40'], inline: true },
] as const;

function writeInputs(): string[] {
  return [300, 90].map((count, i) => {
    const path = directory.path(`in-${i}`);
    writeFileSync(path, Array.from({ length: count }, (_, line) => `${i} ${line} ${'z'.repeat(line % 30)}\n`).join(''));
    return path;
  });
}

const jobDir = () => directory.path('job');
const scratch = () => directory.path('scratch');

async function expectDone(argv: readonly string[], run: CommandRun = {}): Promise<CommandResult> {
  const result = await runCommand(argv, run);
  expect({ exitCode: result.exitCode, stderr: result.exitCode === 0 ? '' : result.stderr }).toEqual({
    exitCode: 0,
    stderr: '',
  });
  return result;
}

/** Makes what the local job makes, and a plan. @returns the words of each task, in an order in which they may run. */
async function planJob(options: readonly string[], inline: boolean, output = directory.path('out')) {
  const inputs = writeInputs();
  mkdirSync(scratch());
  const seed = ['--seed', 'processes'];
  const division = ['--job-dir', jobDir(), '--tasks', '3', '--cpus-per-task', '2'];
  await expectDone([...inputs, '-o', directory.path('local'), ...seed, ...options, '-T', directory.temp]);
  const { stdout } = await expectDone(
    ['cluster', 'plan', ...inputs, '-o', output, ...seed, ...options, ...division, '--json'],
    { env: tuningOf(inline) },
  );
  const arrays = arraysOf(JSON.parse(stdout.toString()));
  expect(arrays.map(([, count]) => count)).toEqual(arrays.map(() => 3));
  const common = ['--job-dir', jobDir(), '--scratch', scratch(), '--wait', '1'];
  return [
    ...arrays.flatMap(([kind]) =>
      ['0', '1', '2'].map((index) => ['cluster', 'task', kind, '--index', index, ...common]),
    ),
    ['cluster', 'task', 'commit', ...common],
  ];
}

function expectAllIsDone(output = directory.path('out')): void {
  expect(contentOf(output)).toEqual(contentOf(directory.path('local')));
  expect(readdirSync(jobDir())).toEqual(['committed']);
}

describe('tasks in processes of their own', () => {
  it.each(KINDS)(
    'are killed, run again, and make the same bytes: $name',
    async ({ name, options, inline }) => {
      const draw = drawsFor(`kills of processes: ${name}`);
      let kills = 0;
      for (const task of await planJob(options, inline)) {
        for (let round = 0; round < atScale(1, 1, 12); round++) {
          const env = { PILESHUF_KILL_AT: String(1 + Math.floor(draw() * 150)) };
          const { signal, exitCode, stderr } = await runCommand(task, { env, nodeOptions: ['--import', killer] });
          if (signal === 'SIGKILL') kills += 1;
          else expect({ exitCode, stderr: exitCode === 0 ? '' : stderr }).toEqual({ exitCode: 0, stderr: '' });
        }
        await expectDone(task);
      }
      expect(kills).toBeGreaterThan(3);
      expectAllIsDone();
      // The last task of the machine has removed what killed ones left, but for a directory without a lock.
      for (const name of readdirSync(scratch()))
        expect(readdirSync(directory.path('scratch', name)).length).toBeLessThan(2);
    },
    120_000,
  );

  it('take their indexes from the scheduler', async () => {
    const variables = ['SLURM_ARRAY_TASK_ID', 'JOB_COMPLETION_INDEX', 'AWS_BATCH_JOB_ARRAY_INDEX'];
    for (const task of await planJob([], true)) {
      const at = task.indexOf('--index');
      if (at === -1) await expectDone(task, { env: { SLURM_ARRAY_TASK_ID: '7' } });
      else {
        const index = Number(task[at + 1]);
        await expectDone(task.toSpliced(at, 2), { env: { [variables[index] ?? '']: String(index) } });
      }
    }
    expectAllIsDone();
  });

  it.skipIf(reasonNotToMount !== undefined)('run on hosts of other names, which status tells', async () => {
    const tasks = await planJob(['--shards', '4'], true);
    for (const [i, task] of tasks.entries()) {
      if (i === 2) {
        // Killed on one host, run again on another.
        const env = { PILESHUF_KILL_AT: '20' };
        expect((await runCommand(task, { env, nodeOptions: ['--import', killer] })).signal).toBe('SIGKILL');
        const { stdout } = await expectDone(['cluster', 'status', '--job-dir', jobDir(), '--json']);
        expect(JSON.parse(stdout.toString())).toMatchObject({
          state: 'scatter',
          scatter: { done: 2, unfinished: [2] },
        });
      }
      const script = `unshare --uts sh -c 'hostname node-${i} && exec "$@"' sh "$@"`;
      const { exitCode, stderr } = await runShell(script, task);
      expect({ exitCode, stderr: exitCode === 0 ? '' : stderr }).toEqual({ exitCode: 0, stderr: '' });
    }
    expectAllIsDone();
  });

  it.skipIf(reasonNotToMount !== undefined)(
    'fail on a full disk in one line, and go on when there is space',
    async () => {
      const disk = mount(directory.path('disk'), 'size=256k');
      const output = `${disk}/out`;
      const tasks = await planJob([], true, output);
      const fill = () => {
        try {
          for (;;) appendFileSync(`${disk}/filler`, Buffer.alloc(4096));
        } catch (error) {
          expect(error).toMatchObject({ code: 'ENOSPC' });
        }
      };
      for (const task of tasks) {
        if (task.includes('shuffle')) {
          fill();
          const { exitCode, stderr } = await runCommand(task);
          rmSync(`${disk}/filler`);
          // A later task finds its part of the file in blocks that an earlier one has taken.
          if (task.includes('0')) expect(exitCode).toBe(1);
          const line = /^pileshuf: [^\n]*(no space left|is full)[^\n]*; free some space and run the task again\n$/i;
          if (exitCode !== 0) expect(stderr).toMatch(line);
        }
        await expectDone(task);
      }
      expectAllIsDone(output);
    },
  );
});
