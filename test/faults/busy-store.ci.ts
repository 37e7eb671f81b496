/**
 * A store that real processes use at the same time: eight write to it, four read it, two of them with a loader, and one
 * expires and collects. Some of the writers are killed. No commit is lost, and each reader sees the store as it was
 * when the reader started.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { afterEach, describe, expect, it } from 'vitest';
import { collectStore, inspectStore } from '#src/index.js';
import { openOrCreateStore } from '#src/store/create-store.js';
import { openSnapshot } from '#src/store/store-snapshot.js';
import { drawsFor } from '../fixtures/draws.js';
import { contentOf, expectedContent } from '../fixtures/store-content.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

const directory = useTestDirectory();
const store = () => directory.path('store');
const program = fileURLToPath(new URL('store-actor.mjs', import.meta.url));
const children: ChildProcess[] = [];

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

function start(role: 'produce' | 'read' | 'load' | 'expire', name = '') {
  const child = spawn(process.execPath, [program, role, store(), name], { stdio: ['pipe', 'pipe', 'pipe'] });
  children.push(child);
  let said = '';
  let complaint = '';
  child.stdout.on('data', (piece) => {
    said += piece;
  });
  child.stderr.on('data', (piece) => {
    complaint += piece;
  });
  const ended = once(child, 'close').then(() => ({
    outcome: { exitCode: child.exitCode, signal: child.signalCode, complaint },
    lines: said.split('\n').slice(0, -1),
  }));
  return {
    ended,
    hasSaid: () => once(child.stdout, 'data'),
    stop: () => child.stdin.end(),
    kill: () => child.kill('SIGKILL'),
  };
}

const ENDED = { exitCode: 0, signal: null, complaint: '' };
const KILLED = { exitCode: null, signal: 'SIGKILL', complaint: '' };
const linesOf = (id: string) => Array.from({ length: 3000 }, (_, i) => `${id} ${i}\n`);
const idsIn = (lines: readonly string[], verb: string) =>
  lines.filter((line) => line.startsWith(verb)).flatMap((line) => line.slice(verb.length + 1).split(','));

describe('a store that several threads write into at the same time', () => {
  it('holds the records of every thread', async () => {
    await openOrCreateStore(store(), { seed: '42', pileCount: 5 }, { pileCount: 5 }, () => {});
    const names = ['t0', 't1', 't2'];
    const workers = names.map((name) => new Worker(program, { argv: ['produce', store(), name], stdout: true }));
    expect(await Promise.all(workers.map((worker) => once(worker, 'exit')))).toEqual([[0], [0], [0]]);
    const ids = names.flatMap((name) => [1, 2, 3, 4, 5, 6].map((number) => `${name}-${number}`));
    expect(contentOf(store())).toEqual(expectedContent('42', Object.fromEntries(ids.map((id) => [id, linesOf(id)]))));
  });
});

describe('a store that is written, read and expired at the same time', () => {
  it('loses no commit, and is whole whenever it is read', async () => {
    await openOrCreateStore(store(), { seed: '42', pileCount: 5 }, { pileCount: 5 }, () => {});
    const readers = (['read', 'read', 'load', 'load'] as const).map((role) => start(role));
    const expirer = start('expire');
    const producers = Array.from({ length: 8 }, (_, i) => start('produce', `p${i}`));
    const draw = drawsFor('ends');
    const doomed = ['x', 'y'].map((name) => start('produce', name));
    for (const producer of doomed)
      producer.hasSaid().then(
        () => setTimeout(producer.kill, 40 * draw()),
        () => {},
      );

    const produced = await Promise.all(producers.map(({ ended }) => ended));
    const killed = await Promise.all(doomed.map(({ ended }) => ended));
    for (const { stop } of [...readers, expirer]) stop();
    const read = await Promise.all(readers.map(({ ended }) => ended));
    const expiry = await expirer.ended;

    expect(produced.map(({ outcome }) => outcome)).toEqual(Array.from({ length: 8 }, () => ENDED));
    // A fast one has done its work before.
    for (const { outcome } of killed) expect([KILLED, ENDED]).toContainEqual(outcome);
    expect([...read, expiry].map(({ outcome }) => outcome)).toEqual(Array.from({ length: 5 }, () => ENDED));
    for (const { lines } of read) expect(lines.length).toBeGreaterThan(0);

    const committed = [...produced, ...killed].flatMap(({ lines }) => idsIn(lines, 'committed'));
    expect(produced.map(({ lines }) => lines.length)).toEqual(Array.from({ length: 8 }, () => 6));
    const left = openSnapshot(store()).manifest.commits.flatMap(({ inputIds }) => inputIds);
    const gone = idsIn(expiry.lines, 'expired');
    const known = [...left, ...gone];
    expect(new Set(known).size).toBe(known.length);
    // One that was killed may have committed what it did not come to say.
    expect(known.filter((id) => !/^[xy]/.test(id)).sort()).toEqual(committed.filter((id) => !/^[xy]/.test(id)).sort());
    expect(known).toEqual(expect.arrayContaining(committed));
    expect(gone.length).toBeGreaterThan(0);

    expect(contentOf(store())).toEqual(expectedContent('42', Object.fromEntries(left.map((id) => [id, linesOf(id)]))));
    await collectStore(store(), { graceMilliseconds: 0 });
    const { pileSets, removedPileSets, writers } = await inspectStore(store(), { verify: true });
    expect({ removedPileSets, writers }).toEqual({ removedPileSets: 0, writers: 0 });
    expect(readdirSync(directory.path('store', 'pile-sets'))).toHaveLength(2 * pileSets);
  });
});
