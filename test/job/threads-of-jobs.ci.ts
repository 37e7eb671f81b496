/**
 * The threads of a job, with the sizes of the plan: a small job works on the calling thread, and a larger one has as
 * many threads as it asked for and has tasks for.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import type { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ShuffleOptions, shuffle } from '#src/index.js';
import { makePipe } from '../fixtures/make-pipe.js';
import { runShell } from '../fixtures/run-shell.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

const directory = useTestDirectory();

/** Threads that were started in this process. */
const started: Worker[] = [];
/** The one that keeps the memory of a job that has several and stays in memory. */
const KEEPER = 1;
const add = (worker: Worker) => started.push(worker);
beforeEach(() => {
  process.on('worker', add);
});
afterEach(() => {
  process.off('worker', add);
  started.splice(0);
});

async function workersOf(options: Pick<ShuffleOptions, 'inputs' | 'workers'>): Promise<number> {
  const job = { ...options, output: directory.path('out'), force: true, tempDirs: [directory.temp] };
  return (await shuffle({ ...job, memoryBytes: 2 ** 26 })).workers;
}

const THOUSAND_LINES = Array.from({ length: 1000 }, (_, i) => `line ${i}\n`).join('');

/** A file of this many MiB. */
function writeLarge(mebibytes: number): string {
  writeFileSync(directory.path('large'), `${'x'.repeat(1023)}\n`.repeat(1024 * mebibytes));
  return directory.path('large');
}

describe('a job', () => {
  it('of 1,000 lines starts no thread, however many it may have', async () => {
    writeFileSync(directory.path('in'), THOUSAND_LINES);
    expect(await workersOf({ inputs: [directory.path('in')], workers: 8 })).toBe(1);
    expect(started).toHaveLength(0);
  });

  it('of 8 MiB starts none, and one of 9 MiB starts all', async () => {
    expect(await workersOf({ inputs: [writeLarge(8)], workers: 3 })).toBe(1);
    expect(started).toHaveLength(0);
    expect(await workersOf({ inputs: [writeLarge(9)], workers: 3 })).toBe(3);
    expect(started).toHaveLength(3 + KEEPER);
  });

  it('that may have one thread only has that beside the calling one', async () => {
    expect(await workersOf({ inputs: [writeLarge(9)], workers: 1 })).toBe(1);
    expect(started).toHaveLength(1 + KEEPER);
  });

  it('of more than 1,000 files starts threads, however small they are', async () => {
    mkdirSync(directory.path('corpus'));
    for (let i = 0; i < 1001; i++) writeFileSync(directory.path('corpus', `${i}`), 'a line\n');
    expect(await workersOf({ inputs: [directory.path('corpus')], workers: 2 })).toBe(2);
    expect(started.length).toBeGreaterThan(0);
  });

  it('that reads a pipe starts one for it: nobody knows what will come', async () => {
    const pipe = makePipe(directory.path('pipe'));
    writeFileSync(directory.path('in'), THOUSAND_LINES);
    const writer = runShell('cat "$IN" > "$PIPE"', [], { IN: directory.path('in'), PIPE: pipe });
    expect(await workersOf({ inputs: [pipe], workers: 2 })).toBe(2);
    expect(started.length).toBeGreaterThan(0);
    expect((await writer).exitCode).toBe(0);
  });
});
