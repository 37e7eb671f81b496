/**
 * Commits of pile sets: the name of a commit appears when everything it refers to is durable, many commits cost as
 * much as one, and whenever the process ends, a named commit is whole.
 */
import { mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { JobControl, UNGATED } from '#src/job-control.js';
import {
  commitPileSets,
  committedIndexPath,
  listCommittedSlices,
  type PileSetOfSlice,
  pileSetName,
  revokePileSet,
} from '#src/job-directory/pile-set-commits.js';
import { dataFilePath, indexFilePath, type PileSetLayout } from '#src/piles/pile-layout.js';
import { interrupted, withCallsSeen } from '../fixtures/interrupted-file-calls.js';
import { failWith, useFileCalls } from '../fixtures/replaced-file-calls.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

const directory = useTestDirectory();
const fileCalls = useFileCalls();
const control = JobControl.create([1], 0);

function layoutOf(rotates = false): PileSetLayout {
  const disks = ['disk-0', 'disk-1'].map((name, gate) => ({
    directory: directory.path(name),
    gate: rotates && gate === 0 ? 0 : UNGATED,
    rotates: rotates && gate === 0,
  }));
  return { pileCount: 8, stripeCount: 2, disks: disks, indexDirectory: directory.path('job') };
}

/** A pile set with a data file in each stripe on each disk. */
function writePileSet(slice: number): PileSetOfSlice {
  const layout = layoutOf();
  const name = pileSetName(slice, 'a77e');
  const dataFiles = [0, 1].flatMap((stripe) => [0, 1].map((disk) => ({ stripe, disk, byteLength: 3 })));
  for (const { stripe, disk } of dataFiles) writeFileSync(dataFilePath(layout, name, stripe, disk), 'abc');
  writeFileSync(indexFilePath(layout, name), `index of ${slice}`);
  return { slice, pileSet: { name, index: { path: indexFilePath(layout, name) }, diskBytes: 12, dataFiles } };
}

const committed = () => listCommittedSlices(directory.path('job'));

beforeEach(() => {
  for (const name of ['disk-0', 'disk-1', 'job']) mkdirSync(directory.path(name));
});

describe('names of pile sets', () => {
  it('are told from other names of the directory', () => {
    expect(basename(committedIndexPath('/job', 12))).toBe('set-000012.index');
    const [layout, name] = [layoutOf(), pileSetName(3, '0a1b')];
    for (const path of [committedIndexPath(layout.indexDirectory, 1_000_000), indexFilePath(layout, name)]) {
      writeFileSync(path, '');
    }
    for (const slice of [10, 9, 0]) writeFileSync(committedIndexPath(layout.indexDirectory, slice), '');
    for (const other of ['manifest', 'set-1.index', 'set-000001.index.0123456789abcdef.attempt', 'set-00000a.index']) {
      writeFileSync(directory.path('job', other), '');
    }
    expect(committed()).toEqual([0, 9, 10, 1_000_000]);
  });
});

describe('commitPileSets', () => {
  it('gives names when data and indexes are durable, all that wait together', async () => {
    const pileSets = [writePileSet(0), writePileSet(7)];
    const steps: string[] = [];
    const { error } = await withCallsSeen(
      (name, call) => {
        if (name === 'link') steps.push(`name ${basename(String(call[1]))}`);
        if (name === 'syncAsync') steps.push(`sync ${basename(readlinkSync(`/proc/self/fd/${String(call[0])}`))}`);
      },
      () => commitPileSets(pileSets, layoutOf(), control),
    );
    expect(error).toBeUndefined();
    const filesOf = (ending: RegExp) => steps.filter((step) => ending.test(step)).length;
    expect(steps.slice(0, 8).every((step) => step.endsWith('.pile'))).toBe(true);
    expect(new Set(steps.slice(0, 8)).size).toBe(4);
    expect(filesOf(/\.pile$/)).toBe(8);
    expect(steps.slice(8, 10).toSorted()).toEqual(['sync set-000000-a77e.index', 'sync set-000007-a77e.index']);
    // One sync a directory, however many pile sets there are.
    expect(steps.slice(10)).toEqual([
      'sync disk-0',
      'sync disk-1',
      'name set-000000.index',
      'name set-000007.index',
      'sync job',
    ]);
    expect(committed()).toEqual([0, 7]);
    expect(readdirSync(directory.path('job'))).toEqual(['set-000000.index', 'set-000007.index']);
    expect(readFileSync(committedIndexPath(directory.path('job'), 7), 'utf8')).toBe('index of 7');
  });

  it('syncs no directory that none of the pile sets has a file in', async () => {
    const { slice, pileSet } = writePileSet(1);
    const ofOneDisk = { ...pileSet, dataFiles: pileSet.dataFiles.filter(({ disk }) => disk === 1) };
    const synced: string[] = [];
    await withCallsSeen(
      (name, call) => {
        if (name === 'syncAsync') synced.push(basename(readlinkSync(`/proc/self/fd/${String(call[0])}`)));
      },
      () => commitPileSets([{ slice, pileSet: ofOneDisk }], layoutOf(), control),
    );
    expect(synced.filter((name) => name.startsWith('disk-'))).toEqual(['disk-1']);
  });

  it('names nothing that could not be made durable, and leaves no call under way', async () => {
    const pileSets = [writePileSet(0), writePileSet(1)];
    const failing = [/\.0\.pile$/, /\.1\.pile$/, /-a77e\.index$/, /disk-1$/];
    for (const name of failing) {
      let underWay = 0;
      fileCalls.replace({
        async syncAsync(fd) {
          underWay += 1;
          await new Promise((resolve) => setTimeout(resolve, 1));
          underWay -= 1;
          if (name.test(readlinkSync(`/proc/self/fd/${fd}`))) failWith('EIO')();
        },
      });
      await expect(commitPileSets(pileSets, layoutOf(), control)).rejects.toThrow(/^cannot sync temp file /);
      expect(underWay).toBe(0);
      expect(committed()).toEqual([]);
    }
    fileCalls.replace({});
    await commitPileSets(pileSets, layoutOf(), control);
    expect(committed()).toEqual([0, 1]);
  });

  it('has all of a pile set or its name not, whenever the process ends', async () => {
    for (let number = 1, isReached = true; isReached; number++) {
      const pileSets = [writePileSet(2 * number), writePileSet(2 * number + 1)];
      ({ isReached } = await interrupted('ends', number, () => commitPileSets(pileSets, layoutOf(), control)));
      for (const { slice } of pileSets) {
        const path = committedIndexPath(directory.path('job'), slice);
        if (committed().includes(slice)) expect(readFileSync(path, 'utf8')).toBe(`index of ${slice}`);
      }
      if (!isReached) expect(committed()).toEqual(expect.arrayContaining(pileSets.map(({ slice }) => slice)));
    }
  });

  it('syncs the data of a disk that rotates with a permit, one file at a time', async () => {
    const layout = layoutOf(true);
    let [rotating, most, others] = [0, 0, 0];
    fileCalls.replace({
      async syncAsync(fd) {
        const path = readlinkSync(`/proc/self/fd/${fd}`);
        const isRotating = path.startsWith(join(directory.path('disk-0'), 'set-'));
        if (isRotating) most = Math.max(most, ++rotating);
        else others += 1;
        await new Promise((resolve) => setTimeout(resolve, 1));
        if (isRotating) rotating -= 1;
      },
    });
    await commitPileSets([writePileSet(0), writePileSet(1), writePileSet(2)], layout, control);
    expect(most).toBe(1);
    expect(others).toBeGreaterThan(6);
  });
});

describe('revokePileSet', () => {
  it('takes a commit back, durably, and once more does nothing', async () => {
    await commitPileSets([writePileSet(3), writePileSet(4)], layoutOf(), control);
    const synced: string[] = [];
    await withCallsSeen(
      (name, call) => {
        if (name === 'syncAsync') synced.push(readlinkSync(`/proc/self/fd/${String(call[0])}`));
      },
      () => revokePileSet(directory.path('job'), 3),
    );
    expect(committed()).toEqual([4]);
    expect(synced).toEqual([directory.path('job')]);
    await revokePileSet(directory.path('job'), 3);
    expect(committed()).toEqual([4]);
  });
});
