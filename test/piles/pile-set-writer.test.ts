/**
 * Temp data on a rotating disk: writes go to the page cache, and the disk writes long pieces, one thread at a time.
 */
import fs, { fstatSync, rmSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { JobControl } from '#src/floor/job-control.js';
import { PileSetWriter } from '#src/piles/pile-set-writer.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';
import { DigestHasher } from './digest-hasher.js';

const MIB = 2 ** 20;
const GATE = 0;

describe('PileSetWriter on a disk that rotates', () => {
  const directory = useTestDirectory();
  const control = JobControl.create([1], 0);
  /** Size of the file at each sync, and whether the only permit was taken then. */
  let syncs: { readonly byteLength: number; readonly isGated: boolean }[] = [];

  beforeEach(() => {
    syncs = [];
    vi.spyOn(fs, 'fdatasyncSync').mockImplementation((fd) => {
      syncs.push({ byteLength: fstatSync(fd).size, isGated: callsUnderWay() === 1 });
    });
    syncBuiltinESMExports();
  });
  afterEach(() => {
    vi.restoreAllMocks();
    syncBuiltinESMExports();
  });

  function callsUnderWay(): number {
    return control.trafficOf(GATE).callsUnderWay;
  }

  function write(rotates: boolean, pieces: number): void {
    const disks = [{ directory: directory.temp, gate: GATE, rotates }];
    const layout = { pileCount: 4, stripeCount: 2, disks, indexDirectory: directory.temp };
    const parts = { name: 'set', layout, ramPool: undefined, indexInFile: false };
    const writer = new PileSetWriter({ ...parts, hasher: new DigestHasher(), compressor: undefined, control });
    const bytes = Buffer.alloc(MIB, 'x');
    for (let i = 0; i < pieces; i++) writer.append(i % 4, bytes, 0, bytes.byteLength);
    writer.close();
    for (const stripe of [0, 1]) rmSync(directory.path('temp', `set.${stripe}.pile`));
  }

  it('syncs long pieces of one data file after the other, with a permit', () => {
    write(true, 60);
    expect(callsUnderWay()).toBe(0);
    expect(control.trafficOf(GATE).bytesWritten).toBe(60 * MIB);
    // Of one file, then the other, each 8 MiB longer than at its last turn.
    const sizes = [6, 8, 14, 16, 22, 24, 30];
    expect(syncs).toEqual(sizes.map((mebibytes) => ({ byteLength: mebibytes * MIB, isGated: true })));
  });

  it('syncs nothing on other disks', () => {
    write(false, 40);
    expect(syncs).toEqual([]);
  });
});
