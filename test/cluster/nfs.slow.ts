/**
 * Tasks on two machines that share a directory by NFS, each with a kernel and a cache of its own: the bytes of the local job,
 * though each task runs on both, some at the same time, and though a machine dies in a task.
 */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import {
  EXPORTED,
  hasNfs,
  type NfsMachine,
  overNfs,
  SCRATCH,
  SHARED,
  useNfsMachines,
} from '../fixtures/nfs-machines.js';
import { contentOf, SMALL_TASKS } from '../fixtures/run-cluster.js';
import { runCommand } from '../fixtures/run-command.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

const TASKS = ['0', '1', '2', '3'];
const PASSES = ['scatter', 'shuffle'] as const;
const KINDS: readonly { readonly name: string; readonly options: readonly string[]; readonly inline: boolean }[] = [
  { name: 'one file', options: [], inline: true },
  { name: 'one file, with threads', options: [], inline: false },
  { name: 'shards', options: ['--shard-records', '1100'], inline: true },
  { name: 'gzip shards', options: ['--shards', '5', '--compress', 'gzip'], inline: true },
];
const command = fileURLToPath(new URL('../fixtures/command-under-test.mjs', import.meta.url));
const quote = (word: string) => `'${word}'`;

describe.skipIf(!hasNfs)(overNfs('over NFS'), () => {
  const machines = useNfsMachines();
  const directory = useTestDirectory();

  /** A job on the export, and what the local job makes of the same inputs. */
  async function planJob(place: string, options: readonly string[], inline: boolean) {
    const tuning = JSON.stringify({ ...SMALL_TASKS, sliceBytes: 40_000, inline });
    const call = (...words: string[]) =>
      `PILESHUF_TEST_TUNING='${tuning}' node ${command} ${words.map(quote).join(' ')}`;
    const names = ['in-0', 'in-1'];
    const seed = ['--seed', 'nfs', ...options];
    for (const [i, name] of names.entries()) {
      const lines = Array.from({ length: [4000, 900][i] ?? 0 }, (_, line) => `${i} ${line} ${'z'.repeat(line % 50)}\n`);
      writeFileSync(directory.path(name), lines.join(''));
    }
    const here = await runCommand([
      ...names.map((name) => directory.path(name)),
      ...['-o', directory.path('local'), ...seed, '-T', directory.temp],
    ]);
    expect(here.exitCode).toBe(0);
    const [first] = machines().clients;
    await first.mustRun(`mkdir ${place} && cp ${names.map((name) => directory.path(name)).join(' ')} ${place}`);
    const plan = ['--job-dir', `${place}/job`, '--tasks', '4', '--cpus-per-task', '2', '-S', '256M', '--json'];
    const inputs = names.map((name) => `${place}/${name}`);
    const planned = await first.mustRun(call('cluster', 'plan', ...inputs, '-o', `${place}/out`, ...seed, ...plan));
    expect(JSON.parse(planned)).toMatchObject({ scatterTasks: 4, shuffleTasks: 4 });
    return (kind: string, ...index: string[]) =>
      call('cluster', 'task', kind, ...index, '--job-dir', `${place}/job`, '--scratch', SCRATCH);
  }

  /** The server tells: clients may not see yet what another one has done. */
  async function expectLocalBytes(name: string): Promise<void> {
    const { server } = machines();
    const place = `${EXPORTED}/${name}`;
    const out = await server.fetch(`${place}/out`);
    expect(contentOf(out)).toEqual(contentOf(directory.path('local')));
    expect(await server.mustRun(`ls -A ${place} ${place}/job`)).toBe(
      `${place}:\nin-0\nin-1\njob\nout\n\n${place}/job:\ncommitted\n`,
    );
  }

  it.each(KINDS)('both machines do all tasks of $name, from both ends', async ({ name, options, inline }) => {
    const { clients } = machines();
    const id = name.replaceAll(/\W/g, '-');
    const task = await planJob(`${SHARED}/${id}`, options, inline);
    for (const kind of PASSES) {
      const doAll = async (machine: NfsMachine, order: readonly string[]) => {
        for (const index of order) await machine.mustRun(task(kind, '--index', index));
      };
      await Promise.all([doAll(clients[0], TASKS), doAll(clients[1], TASKS.toReversed())]);
    }
    await Promise.all(clients.map((machine) => machine.mustRun(task('commit'))));
    await expectLocalBytes(id);
  });

  it('a machine dies in each pass, and the other one does the rest', async () => {
    const { clients } = machines();
    const [staying, dying] = clients;
    const place = `${SHARED}/dies`;
    const task = await planJob(place, [], true);
    const onBoth = (kind: string) =>
      Promise.all([
        staying.mustRun(
          TASKS.slice(0, 2)
            .map((index) => task(kind, '--index', index))
            .join(' && '),
        ),
        dying.mustRun(
          TASKS.slice(2)
            .map((index) => task(kind, '--index', index))
            .join(' && '),
        ),
      ]);
    await onBoth('scatter');
    const left = dying.run(
      TASKS.toReversed()
        .map((index) => task('shuffle', '--index', index))
        .join('; '),
    );
    while ((await staying.run(`ls ${place}/job/attempts | grep -q shuffle-000003`)).exitCode !== 0);
    dying.end();
    await expect(left).rejects.toThrow('the machine has ended');
    for (const index of TASKS) await staying.mustRun(task('shuffle', '--index', index));
    await staying.mustRun(task('commit'));
    await expectLocalBytes('dies');
  });
});
