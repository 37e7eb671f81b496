/** Tests of the model of a disk: it finds programs that forget a sync, and accepts programs that forget none. */
import { constants, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FileCalls } from '#src/io/file-calls.js';
import { drawsFor } from '../fixtures/draws.js';
import { ALL_LOST, DATA_KEPT, DiskModel, NAMES_KEPT, randomSurvival } from './disk-model.js';

const { O_CREAT, O_EXCL, O_RDONLY, O_WRONLY } = constants;
const NEW = Buffer.from('new '.repeat(1000));

let root = '';
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'pileshuf-test-'));
});
afterEach(() => rmSync(root, { recursive: true }));

function write(calls: FileCalls, path: string, how: { sync: boolean }): void {
  const fd = calls.open(path, O_WRONLY | O_CREAT | O_EXCL, 0o600);
  calls.write(fd, NEW, 0, 2000, 0);
  calls.write(fd, NEW, 2000, NEW.byteLength - 2000, 2000);
  if (how.sync) calls.syncData(fd);
  calls.close(fd);
}

async function syncDirectory(calls: FileCalls, path: string): Promise<void> {
  const fd = calls.open(path, O_RDONLY);
  await calls.syncAsync(fd);
  calls.close(fd);
}

/** What `name` may hold after a power failure at any time, or at the end of the program. */
async function fatesOf(
  program: (calls: FileCalls, path: (...names: string[]) => string) => Promise<void>,
  name = 'file',
): Promise<{ readonly atAnyTime: string[]; readonly atTheEnd: string[] }> {
  const model = new DiskModel(root);
  await program(model.calls, (...names) => join(root, ...names));
  const atAnyTime = new Set<string>();
  const atTheEnd = new Set<string>();
  const draw = drawsFor('fates');
  for (let count = 0; count <= model.changeCount; count++) {
    const random = Array.from({ length: 30 }, () => randomSurvival(draw));
    for (const survival of [ALL_LOST, NAMES_KEPT, DATA_KEPT, ...random]) {
      model.stateAfter(count, survival).writeTo(root);
      const path = join(root, name);
      const bytes = statSync(path, { throwIfNoEntry: false }) === undefined ? undefined : readFileSync(path);
      const fate =
        bytes === undefined ? 'none' : bytes.equals(NEW) ? 'new' : bytes.toString() === 'old' ? 'old' : 'bad';
      atAnyTime.add(fate);
      if (count === model.changeCount) atTheEnd.add(fate);
    }
  }
  return { atAnyTime: [...atAnyTime].sort(), atTheEnd: [...atTheEnd].sort() };
}

describe('a program that replaces a file', () => {
  beforeEach(() => writeFileSync(join(root, 'file'), 'old'));

  it('in the right order always leaves the old or the new one', async () => {
    const fates = await fatesOf(async (calls, path) => {
      write(calls, path('file.new'), { sync: true });
      calls.rename(path('file.new'), path('file'));
      await syncDirectory(calls, root);
    });
    expect(fates).toEqual({ atAnyTime: ['new', 'old'], atTheEnd: ['new'] });
  });

  it('without a sync may leave an incomplete one', async () => {
    const fates = await fatesOf(async (calls, path) => {
      write(calls, path('file.new'), { sync: false });
      calls.rename(path('file.new'), path('file'));
      await syncDirectory(calls, root);
    });
    expect(fates).toEqual({ atAnyTime: ['bad', 'new', 'old'], atTheEnd: ['bad', 'new'] });
  });

  it('without a sync of the directory may end with the old one', async () => {
    const fates = await fatesOf(async (calls, path) => {
      write(calls, path('file.new'), { sync: true });
      calls.rename(path('file.new'), path('file'));
    });
    expect(fates).toEqual({ atAnyTime: ['new', 'old'], atTheEnd: ['new', 'old'] });
  });
});

describe('a file in a new directory', () => {
  it('is lost with the directory when the parent is not synced', async () => {
    const program = async (calls: FileCalls, path: (...names: string[]) => string) => {
      calls.makeDirectory(path('new'), 0o700);
      write(calls, path('new', 'file'), { sync: true });
      await syncDirectory(calls, path('new'));
    };
    expect((await fatesOf(program, 'new/file')).atTheEnd).toEqual(['new', 'none']);
    rmSync(join(root, 'new'), { recursive: true, force: true });
    const fates = await fatesOf(async (calls, path) => {
      await program(calls, path);
      await syncDirectory(calls, root);
    }, 'new/file');
    expect(fates.atTheEnd).toEqual(['new']);
  });
});
