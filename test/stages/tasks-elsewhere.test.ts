/**
 * A task of either pass is plain data that anybody can do: here every task of a job gets a process of its own, which
 * shares no memory with the job, and the output has the same bytes.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, vi } from 'vitest';
import { shuffle } from '#src/job/shuffle.js';
import { sampled } from '../fixtures/scale.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';
import { orderRecords } from '../laws/reference-order.js';

const program = fileURLToPath(new URL('task-process.mjs', import.meta.url));
const done: string[] = [];

async function doElsewhere(name: string, task: { readonly job: { readonly control: SharedArrayBuffer } }) {
  const { control, ...job } = task.job;
  const child = fork(program, { serialization: 'advanced' });
  child.send({ name, task: { ...task, job }, controlBytes: new Uint8Array(control).slice() });
  const [outcome] = await once(child, 'message');
  done.push(name);
  return outcome.result ?? expect.fail(JSON.stringify(outcome.error));
}

vi.mock('#src/stages/task-pool.js', async (original) => ({
  ...(await original<object>()),
  openTaskPool: async () => ({ threadCount: 2, run: doElsewhere, destroy: async () => {}, restart: async () => {} }),
}));

const directory = useMemoryDirectory();

describe('tasks of other processes', () => {
  it.each(
    sampled(
      [
        ['shards', { shards: { by: 'count', shardCount: 3 } }],
        ['plain', {}],
      ] as const,
      2,
    ),
  )('give the same bytes: %s', async (_, options) => {
    done.length = 0;
    const bodies = ['a', 'b', 'c'].map((letter) =>
      Array.from({ length: 500 }, (_, i) => Buffer.from(`${letter}${i}\n`)),
    );
    const inputs = bodies.map((records, i) => {
      writeFileSync(directory.path(`in-${i}`), Buffer.concat(records));
      return directory.path(`in-${i}`);
    });
    const output = directory.path('out');
    const report = await shuffle(
      { inputs, output, seed: 's', workers: 2, memoryBytes: 2 ** 26, tempDirs: [directory.temp], ...options },
      { inline: false, keepInRam: false, sliceBytes: 1500, pileCount: 4 },
    );
    const expected = Buffer.concat(orderRecords(bodies, 's'));
    const written =
      'shards' in options
        ? Buffer.concat(
            readdirSync(output)
              .filter((name) => name.startsWith('shard'))
              .sort()
              .map((name) => readFileSync(`${output}/${name}`)),
          )
        : readFileSync(output);
    expect(report.records).toBe(1500);
    expect(written.equals(expected)).toBe(true);
    expect(done.filter((name) => name === 'scatter').length).toBeGreaterThan(2);
    expect(done).toContain('write');
  });
});
