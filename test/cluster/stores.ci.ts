/**
 * Appends and shuffles of stores as a scheduler runs their tasks: processes of the command, which are killed at calls on
 * files that a seed draws, and run twice at once.
 */
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { inspectStore } from '#src/index.js';
import { drawsFor } from '../fixtures/draws.js';
import { SMALL_TASKS } from '../fixtures/run-cluster.js';
import { type CommandRun, runCommand } from '../fixtures/run-command.js';
import { atScale } from '../fixtures/scale.js';
import { contentOf } from '../fixtures/store-content.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

const directory = useTestDirectory();
const store = () => directory.path('store');
const jobDir = () => directory.path('job');
const killer = fileURLToPath(new URL('../faults/killer.mjs', import.meta.url));
const tuning = { PILESHUF_TEST_TUNING: JSON.stringify(SMALL_TASKS) };

async function expectDone(argv: readonly string[], run: CommandRun = {}): Promise<string> {
  const { exitCode, stderr, stdout } = await runCommand(argv, run);
  expect({ exitCode, stderr: exitCode === 0 ? '' : stderr }).toEqual({ exitCode: 0, stderr: '' });
  return stdout.toString();
}

/** Makes a store, and what the local job makes of it. @returns the words of each task, and whether all is as there. */
async function planJob(kind: 'append' | 'shuffle-store') {
  const inputs = [300, 90].map((count, i) => {
    const lines = Array.from({ length: count }, (_, line) => `${i} ${line} ${'z'.repeat(line % 30)}\n`);
    writeFileSync(directory.path(`in-${i}`), lines.join(''));
    return directory.path(`in-${i}`);
  });
  const [first = '', ...others] = inputs;
  await expectDone(['append', store(), first, '--seed', 'processes', '--piles', '13']);
  cpSync(store(), directory.path('local'), { recursive: true });
  const [local, output] = [directory.path('local'), directory.path('out')];
  const isAppend = kind === 'append';
  const job = isAppend ? ['--append', store(), ...others] : ['--shuffle-store', store(), '-o', output];
  if (isAppend) await expectDone(['append', local, ...others]);
  else await expectDone(['shuffle-store', local, '-o', directory.path('expected')]);
  mkdirSync(directory.path('scratch'));
  const tasks = ['--tasks', '3', '--cpus-per-task', '2', '--json'];
  const plan = JSON.parse(
    await expectDone(['cluster', 'plan', ...job, '--job-dir', jobDir(), ...tasks], { env: tuning }),
  );
  const common = ['--job-dir', jobDir(), '--scratch', directory.path('scratch'), '--wait', '1'];
  const ofArray = (name: string, count: number) =>
    Array.from({ length: count }, (_, i) => ['cluster', 'task', name, '--index', String(i), ...common]);
  return {
    tasks: [
      ...ofArray('scatter', plan.scatterTasks),
      ...ofArray('shuffle', plan.shuffleTasks),
      ['cluster', 'task', 'commit', ...common],
    ],
    expectAllIsDone: async () => {
      expect(readdirSync(jobDir())).toEqual(['committed']);
      if (!isAppend) {
        expect(readFileSync(output)).toEqual(readFileSync(directory.path('expected')));
        return;
      }
      expect(contentOf(store())).toEqual(contentOf(local));
      await expectDone(['gc', store(), '--grace', '0']);
      expect(await inspectStore(store(), { verify: true })).toMatchObject({ unowned: { pileSets: 0 } });
    },
  };
}

describe.each(['append', 'shuffle-store'] as const)('tasks of %s in processes of their own', (kind) => {
  it('are killed, run again, and make what the local job makes', async () => {
    const draw = drawsFor(`kills of processes: ${kind}`);
    const { tasks, expectAllIsDone } = await planJob(kind);
    const before = contentOf(store());
    let kills = 0;
    for (const task of tasks) {
      for (let round = 0; round < atScale(1, 2, 12); round++) {
        const env = { PILESHUF_KILL_AT: String(1 + Math.floor(draw() * 80)) };
        const { signal, exitCode, stderr } = await runCommand(task, { env, nodeOptions: ['--import', killer] });
        if (signal === 'SIGKILL') kills += 1;
        else expect({ exitCode, stderr: exitCode === 0 ? '' : stderr }).toEqual({ exitCode: 0, stderr: '' });
        if (!task.includes('commit')) expect(contentOf(store())).toEqual(before);
      }
      await expectDone(task);
    }
    expect(kills).toBeGreaterThan(2);
    await expectAllIsDone();
  });

  it('run twice at once', async () => {
    const { tasks, expectAllIsDone } = await planJob(kind);
    for (const task of tasks) {
      const both = await Promise.all([runCommand(task), runCommand(task)]);
      const failed = both.filter(({ exitCode }) => exitCode !== 0);
      // A second commit may find that another process commits.
      expect(failed.map(({ stderr }) => stderr).join('')).toMatch(
        task.includes('commit')
          ? /^(pileshuf: another process commits \S+: process \d+ on \S+; wait for it\n)?$/
          : /^$/,
      );
    }
    await expectAllIsDone();
  });
});
