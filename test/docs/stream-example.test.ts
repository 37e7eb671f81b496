/** examples/stream.py, run by `python3`: it gives the records of the loader, also in several pieces. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { openStore } from '#src/index.js';
import { isOnPath } from '../fixtures/foreign-program.js';
import { makeStore, someRecords } from '../fixtures/make-store.js';
import { fromCi } from '../fixtures/scale.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

const directory = useTestDirectory();
const script = fileURLToPath(new URL('../../examples/stream.py', import.meta.url));
const standIn = fileURLToPath(new URL('stand-in', import.meta.url));
const command = fileURLToPath(new URL('../fixtures/command-under-test.mjs', import.meta.url));

function python(argv: readonly string[]) {
  const env = { ...process.env, PILESHUF: `${process.execPath} ${command}`, PYTHONDONTWRITEBYTECODE: '1' };
  const { status, stdout, stderr } = spawnSync('python3', argv, { env, encoding: 'utf8' });
  return { status, stdout, stderr };
}

function shell(line: string, argv: readonly string[]) {
  const env = { ...process.env, PILESHUF: `${process.execPath} ${command}`, PYTHONDONTWRITEBYTECODE: '1' };
  const { status, stdout, stderr } = spawnSync('bash', ['-c', line, 'bash', ...argv], { env, encoding: 'utf8' });
  return { status, stdout, stderr };
}

describe.skipIf(!isOnPath('python3'))('examples/stream.py', () => {
  async function makeIt(): Promise<string> {
    const path = directory.path('store');
    const inputs = { a: someRecords('a', 40), b: ['', 'no newline', 'two\nlines\n'] };
    await makeStore(path, { seed: 's', pileCount: 4, inputs });
    return path;
  }

  it.runIf(fromCi)('gives the records of a rank, and resumes with exactly the next one', async () => {
    const path = await makeIt();
    const expected: string[] = [];
    for (const epoch of [0, 1, 2]) {
      const loader = openStore(path).epoch(epoch, { rank: 1, worldSize: 2 });
      for await (const record of loader) expected.push(Buffer.from(record).toString());
    }
    const argv = [script, path, '--epochs', '3', '--rank', '1', '--world-size', '2'];
    expect(python(argv)).toEqual({ status: 0, stdout: expected.join(''), stderr: '' });

    const state = directory.path('state.json');
    const pieces = [13, 0, 9, 20].map((limit) => python([...argv, '--state', state, '--limit', String(limit)]));
    expect(JSON.parse(readFileSync(state, 'utf8'))).toMatchObject({ epoch: 1, record: 21 });
    pieces.push(python([...argv, '--state', state]));
    expect(pieces.map(({ status, stderr }) => ({ status, stderr }))).toEqual(
      pieces.map(() => ({ status: 0, stderr: '' })),
    );
    expect(pieces.map(({ stdout }) => stdout).join('')).toBe(expected.join(''));
  });

  it.runIf(fromCi)(
    'keeps the state behind what it wrote, and ends quietly, when nobody reads any more or it is stopped',
    async () => {
      const path = directory.path('large');
      await makeStore(path, { seed: 's', pileCount: 4, inputs: { a: someRecords('a', 9000) } });
      const expected: string[] = [];
      for await (const record of openStore(path).epoch(0)) expected.push(Buffer.from(record).toString());
      const state = directory.path('state.json');
      const argv = ['python3', script, path, '--epochs', '1', '--state', state];
      const taken = () => JSON.parse(readFileSync(state, 'utf8')).record;

      // The program ends while nobody reads: its output is in the pipe and in its buffer.
      const stop = '{ head -c 1; kill -TERM "$(cat "$pid")"; sleep 0.2; cat; }';
      const line = `set -o pipefail; pid=$1; shift; { "$@" & echo $! >"$pid"; wait $!; } | ${stop}`;
      const stopped = shell(line, [directory.path('pid'), ...argv]);
      expect(stopped).toEqual({ status: 143, stdout: expected.slice(0, taken()).join(''), stderr: '' });
      expect(taken()).toBeGreaterThan(0);
      const before = taken();

      const left = shell('set -o pipefail; "$@" | head -c 3', argv);
      expect(left).toEqual({ status: 141, stdout: expected[before]?.slice(0, 3), stderr: '' });
      expect(taken()).toBeGreaterThan(before);
      expect(readdirSync(directory.path('.'))).not.toContain('state.json.new');
    },
  );

  /** As in the recipe of docs/COOKBOOK.md, with a stand-in for PyTorch; a line of JSON for each record. */
  function inPyTorch(path: string, { ranks, workers, epoch }: { ranks: number; workers: number; epoch: number }) {
    const program = `
import json, sys
sys.path[:0] = ${JSON.stringify([dirname(script), standIn])}
from torch.utils.data import DataLoader, IterableDataset
from stream import PileStream, part_of_worker

class Records(IterableDataset):
    def __init__(self, rank):
        self.rank = rank
    def __iter__(self):
        part = part_of_worker(self.rank, ${ranks})
        return iter(PileStream(${JSON.stringify(path)}, epoch=${epoch}, epochs=${epoch + 1}, **part))

for rank in range(${ranks}):
    for batch in DataLoader(Records(rank), batch_size=256, num_workers=${workers}):
        for record in batch:
            print(json.dumps(record.decode()))
`;
    const { status, stdout, stderr } = python(['-c', program]);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    return stdout.split('\n').slice(0, -1);
  }

  it('has a part for each worker of PyTorch on each rank, and one for a rank without workers', () => {
    const program = `
import json, sys
sys.path[:0] = ${JSON.stringify([dirname(script), standIn])}
from stream import part_of_worker
from torch.utils.data import DataLoader

class Parts:
    def __init__(self, rank):
        self.rank = rank
    def __iter__(self):
        yield part_of_worker(self.rank, 2)

print(json.dumps([[part for rank in range(2) for part in DataLoader(Parts(rank), 1, workers)] for workers in (3, 0)]))
`;
    const [withWorkers, without] = JSON.parse(python(['-c', program]).stdout);
    expect(withWorkers).toEqual([0, 1, 2, 3, 4, 5].map((rank) => [{ rank, world_size: 6 }]));
    expect(without).toEqual([0, 1].map((rank) => [{ rank, world_size: 2 }]));
  });

  it.runIf(fromCi).each([
    ['2 ranks with 3 workers, epoch 0', { ranks: 2, workers: 3, epoch: 0 }],
    ['2 ranks with 3 workers, epoch 1', { ranks: 2, workers: 3, epoch: 1 }],
    ['2 ranks without workers', { ranks: 2, workers: 0, epoch: 0 }],
  ])('hands out each record exactly once an epoch in PyTorch: %s', async (_, setting) => {
    const path = await makeIt();
    const expected: string[] = [];
    for await (const record of openStore(path).epoch(setting.epoch)) {
      expected.push(JSON.stringify(Buffer.from(record).toString()));
    }
    expect(inPyTorch(path, setting).toSorted()).toEqual(expected.toSorted());
  });

  it('raises what went wrong', async () => {
    const { status, stderr } = python([script, directory.path('nowhere')]);
    expect(status).toBe(1);
    expect(stderr).toContain('does not exist; check the name');
  });
});
