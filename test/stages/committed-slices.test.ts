/**
 * What a resumed job takes over from pass 1: its own pile sets that are whole. It reports and revokes the others, makes
 * them again, and removes all other files of tasks.
 */
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import { AbortError } from '#src/errors.js';
import { JobControl, UNGATED } from '#src/floor/job-control.js';
import { type FileCalls, systemFileCalls } from '#src/io/file-calls.js';
import {
  commitPileSets,
  committedIndexPath,
  listCommittedSlices,
  pileSetName,
} from '#src/job-directory/pile-set-commits.js';
import { dataFilePath, type PileSetLayout } from '#src/piles/pile-layout.js';
import { PileSetWriter } from '#src/piles/pile-set-writer.js';
import { pileTotalsOf } from '#src/piles/pile-totals.js';
import { type CommittedSlice, readCommittedSlices, removeLeftovers } from '#src/stages/committed-slices.js';
import { failWith, useFileCalls } from '../fixtures/replaced-file-calls.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';
import { unreadable } from '../fixtures/unreadable-files.js';
import { DigestHasher } from '../piles/digest-hasher.js';

const directory = useTestDirectory();
const fileCalls = useFileCalls();
const control = JobControl.create([], 0);
const PILES = 4;
const SIZE = { sliceCount: 3, inputCount: 3 };
const isKept = () => false;

function layoutOf(changed: Partial<PileSetLayout> = {}): PileSetLayout {
  const disks = ['disk-0', 'disk-1'].map((name) => ({
    directory: directory.path(name),
    gate: UNGATED,
    rotates: false,
  }));
  return { pileCount: PILES, stripeCount: 2, disks, indexDirectory: directory.path('job'), ...changed };
}

const reportOf = (slice: number) => ({
  coverage: [{ inputOrdinal: slice, start: 0, end: 40, inputBytes: 40, addedBytes: 0, trailerBytes: 0 }],
  longestRecordBytes: 10 + slice,
});

/** Writes a pile set with ten bytes a pile; the job would have made it. */
function write(slice: number, report: unknown = reportOf(slice), name = pileSetName(slice, 'a77e')) {
  const layout = layoutOf();
  const parts = {
    name,
    layout,
    ramPool: undefined,
    indexInFile: true,
    hasher: new DigestHasher(),
    compressor: undefined,
    control,
  };
  const writer = new PileSetWriter(parts);
  const tallies = Array.from({ length: PILES }, (_, pile) => {
    writer.append(pile, Buffer.alloc(10, `${pile}`), 0, 10);
    return { records: 1, bytes: 9 + pile, checksum: BigInt(100 * slice + pile) };
  });
  return { slice, pileSet: writer.commit(pileTotalsOf(tallies), report) };
}

async function read(layout = layoutOf(), isStripeDone: (stripe: number) => boolean = isKept, size = SIZE) {
  const lines: string[] = [];
  const slices: CommittedSlice[] = [];
  const query = { layout, size, isStripeDone, onDamage: (line: string) => lines.push(line), control };
  for await (const slice of readCommittedSlices(query)) {
    slices.push(slice);
  }
  return { slices, lines, numbers: slices.map(({ slice }) => slice) };
}

const dataFileOf = (slice: number, stripe = 0, disk = 0) =>
  dataFilePath(layoutOf(), pileSetName(slice, 'a77e'), stripe, disk);
const indexOf = (slice: number) => committedIndexPath(directory.path('job'), slice);

beforeEach(async () => {
  for (const name of ['disk-0', 'disk-1', 'job']) mkdirSync(directory.path(name));
  await commitPileSets([write(2), write(0)], layoutOf(), control);
});

describe('readCommittedSlices', () => {
  it('gives what the tasks gave, in the order of the slices', async () => {
    const { slices, lines, numbers } = await read();
    expect(lines).toEqual([]);
    expect(numbers).toEqual([0, 2]);
    const [, { result } = expect.fail('there are two')] = slices;
    expect(result).toMatchObject({
      ...reportOf(2),
      pileSet: { name: 'set-000002-a77e', index: { path: indexOf(2) }, diskBytes: 40 },
    });
    expect(result.pileSet.dataFiles).toHaveLength(4);
    expect([...result.totals.recordBytes]).toEqual([9, 10, 11, 12]);
    expect([...result.totals.checksums]).toEqual([200n, 201n, 202n, 203n]);
  });

  it.each<[string, () => void, RegExp]>([
    ['a data file is gone', () => rmSync(dataFileOf(2, 1, 1)), /data file .*\.1\.pile is missing, expected 10 bytes/],
    ['one is shorter', () => truncateSync(dataFileOf(2), 9), /data file .*\.0\.pile has 9 bytes, expected 10 bytes/],
    ['one is longer', () => truncateSync(dataFileOf(2), 11), /has 11 bytes, expected 10 bytes/],
    ['an index is cut', () => truncateSync(indexOf(2), 100), /the index .*set-000002\.index of a pile set is damaged/],
    ['one is of another slice', () => renameSync(indexOf(2), indexOf(1)), /set-000001\.index belongs to another job/],
    ['one is of no slice', () => renameSync(indexOf(2), indexOf(9)), /set-000009\.index belongs to another job/],
  ])('takes back what is not whole, and tells: %s', async (_, damage, message) => {
    damage();
    const { numbers, lines } = await read();
    expect(numbers).toEqual([0]);
    expect(lines).toEqual([expect.stringMatching(message)]);
    expect(lines).toEqual([expect.stringMatching(/; this part is made again$/)]);
    expect(listCommittedSlices(directory.path('job'))).toEqual([0]);
    expect(await read()).toMatchObject({ numbers: [0], lines: [] });
  });

  it.each<[string, Partial<PileSetLayout>, typeof SIZE, number[]]>([
    ['piles', { pileCount: PILES + 1 }, SIZE, []],
    ['stripes', { stripeCount: 1 }, SIZE, []],
    ['disks', { disks: [] }, SIZE, []],
    ['inputs', {}, { sliceCount: 3, inputCount: 2 }, [0]],
    ['slices', {}, { sliceCount: 2, inputCount: 3 }, [0]],
  ])('takes none of a job with other %s', async (_, changed, size, numbers) => {
    const found = await read(layoutOf(changed), isKept, size);
    expect(found).toMatchObject({ numbers, lines: [expect.stringMatching(/belongs to another job/)] });
  });

  it('misses no data of stripes that are not needed any more', async () => {
    for (const disk of [0, 1]) rmSync(dataFileOf(2, 1, disk));
    expect(await read(layoutOf(), (stripe) => stripe === 1)).toMatchObject({ numbers: [0, 2], lines: [] });
    expect(await read(layoutOf(), (stripe) => stripe === 0)).toMatchObject({ numbers: [0] });
  });

  it('takes back the one that cannot be read, and tells', async () => {
    fileCalls.replace(unreadable((path) => path === indexOf(0)));
    const { numbers, lines } = await read();
    expect(numbers).toEqual([2]);
    expect(lines).toEqual([expect.stringMatching(/^cannot read at byte 0 of .*set-000000\.index: .*made again$/)]);
    expect(listCommittedSlices(directory.path('job'))).toEqual([2]);
  });

  const ofFirst = (path: string) => path === indexOf(0);
  const listWithoutDisk: FileCalls['list'] = (path) =>
    path === directory.path('disk-1') ? failWith('EIO')() : systemFileCalls.list(path);

  it.each<[string, () => Partial<FileCalls>]>([
    ['nothing can be read', () => ({ read: failWith('EIO') })],
    ['another try may read it: ENOMEM', () => unreadable(ofFirst, 'ENOMEM')],
    ['another try may read it: EACCES', () => unreadable(ofFirst, 'EACCES')],
    ['a disk is gone', () => ({ ...unreadable(ofFirst), list: listWithoutDisk })],
  ])('takes nothing back when %s', async (_, calls) => {
    fileCalls.replace(calls());
    await expect(read()).rejects.toMatchObject({ code: 'ERR_IO' });
    fileCalls.replace({});
    expect(await read()).toMatchObject({ numbers: [0, 2], lines: [] });
  });

  it('hears between two of them that the job must stop', async () => {
    const stopped = JobControl.create([], 0);
    const query = {
      layout: layoutOf(),
      size: SIZE,
      isStripeDone: isKept,
      onDamage: expect.fail,
      control: stopped,
    };
    const numbers: number[] = [];
    const readAll = async () => {
      for await (const { slice } of readCommittedSlices(query)) {
        numbers.push(slice);
        // As a signal would, in a turn of the event loop.
        setImmediate(() => stopped.abort());
      }
    };
    await expect(readAll()).rejects.toThrow(AbortError);
    expect(numbers).toEqual([0]);
  });
});

describe('removeLeftovers', () => {
  it('removes what tasks left that did not end, and nothing else', () => {
    write(1);
    write(0, undefined, 'set-000000-0ld');
    write(0, undefined, 'run-3-0ld');
    const attempt = 'manifest.0123456789abcdef.attempt';
    for (const name of ['manifest', attempt, 'done-000001', 'disk-0']) writeFileSync(directory.path('job', name), '');
    writeFileSync(directory.path('disk-0', 'notes'), '');
    removeLeftovers(layoutOf(), new Set(['set-000000-a77e', 'set-000002-a77e']));
    const names = ['disk-0', 'done-000001', 'manifest', 'set-000000.index', 'set-000002.index'];
    expect(readdirSync(directory.path('job')).toSorted()).toEqual(names);
    const data = [
      'set-000000-a77e.0.pile',
      'set-000000-a77e.1.pile',
      'set-000002-a77e.0.pile',
      'set-000002-a77e.1.pile',
    ];
    expect(readdirSync(directory.path('disk-0')).toSorted()).toEqual(['notes', ...data]);
    expect(readdirSync(directory.path('disk-1')).toSorted()).toEqual(data);
    expect(existsSync(dataFileOf(1))).toBe(false);
  });
});
