/**
 * Jobs with several temp disks, on loop devices, observed with strace: piles are spread evenly, and a device never has
 * more concurrent calls than its gate allows.
 *
 * Gated are: each read and write of a data file of a pile set, of any size (on a rotating disk each read and each
 * sync); each read of records from an input; each write of records to an output. Not gated are small reads before the
 * passes, and indexes. So the test counts every call on a data file, and on all other files each call of 32 KiB or
 * more.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { reasonForNoLoopDisks, useLoopDisks } from '../fixtures/loop-disks.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';
import { mostAtOneTime, reasonNotToTrace, type TracedCall, type TracedRun, traceCommand } from './traced-calls.js';

const MIB = 2 ** 20;
const LINE_BYTES = 100;
const INPUT_BYTES = 48e6;
const STORED_BYTES = INPUT_BYTES + 12 * (INPUT_BYTES / LINE_BYTES);
const DISK_BYTES = 256 * MIB;
const LARGE_BYTES = 32 * 1024;

interface JobPaths {
  readonly input: string;
  readonly output: string;
}

const reason = reasonForNoLoopDisks ?? reasonNotToTrace;

function isOfDataFile({ path }: TracedCall): boolean {
  return path.endsWith('.pile');
}

function isLarge(call: TracedCall): boolean {
  return isOfDataFile(call) || call.byteLength >= LARGE_BYTES;
}

function bytesOf(calls: readonly TracedCall[], name: TracedCall['name']): number {
  return calls.reduce((sum, call) => sum + (call.name === name ? call.byteLength : 0), 0);
}

describe.skipIf(reason)(`temp disks ${reason ?? ''}`, () => {
  const directory = useTestDirectory();
  const mountDisk = useLoopDisks();

  function makeDisks(count: number, rotates: boolean): string[] {
    return Array.from({ length: count }, (_, i) =>
      mountDisk(directory.path(`disk${i}`), { byteLength: DISK_BYTES, rotates }),
    );
  }

  function writeInput(path: string): string {
    const lines = Array.from({ length: INPUT_BYTES / LINE_BYTES }, (_, i) => `${String(i).padStart(LINE_BYTES - 1)}\n`);
    writeFileSync(path, lines.join(''));
    return path;
  }

  /** The calls of a job that keeps nothing in memory. */
  function traceJob(options: readonly string[], rest: Partial<JobPaths> & Partial<TracedRun> = {}): TracedCall[] {
    const { input = directory.path('in'), output = directory.path('out'), delayMilliseconds = 10, tuning } = rest;
    const argv = [writeInput(input), '-o', output, '--seed', '1', '-q', ...options];
    const traces = directory.path('trace');
    return traceCommand(argv, { directory: traces, tuning: { mayUseRamPool: false, ...tuning }, delayMilliseconds });
  }

  const onDisk = (calls: readonly TracedCall[], disk: string) =>
    calls.filter(({ path }) => path.startsWith(`${disk}/`));
  const tempDirs = (disks: readonly string[]) => disks.flatMap((disk) => ['-T', disk]);

  it.each([1, 2])('get the same bytes each, and at most %i calls at a time', (limit) => {
    const disks = makeDisks(4, false);
    const limits = disks.flatMap((disk) => ['--io-limit', `${disk}=${limit}`]);
    const calls = traceJob([...tempDirs(disks), ...limits, '-S', '64M', '--workers', '8']);
    const callsOfDisks = disks.map((disk) => onDisk(calls, disk));
    const written = callsOfDisks.map((ofDisk) => bytesOf(ofDisk.filter(isOfDataFile), 'pwrite64'));
    expect(written.reduce((sum, bytes) => sum + bytes, 0)).toBe(STORED_BYTES);
    expect(Math.max(...written) / Math.min(...written)).toBeLessThan(1.1);
    for (const [i, ofDisk] of callsOfDisks.entries()) {
      expect(bytesOf(ofDisk.filter(isOfDataFile), 'pread64')).toBe(written[i]);
      expect(mostAtOneTime(ofDisk.filter(isLarge))).toBeLessThanOrEqual(limit);
      expect(ofDisk.filter(({ name }) => name === 'fdatasync')).toEqual([]);
    }
  });

  it('that do not rotate get at most 16 calls at a time by default', () => {
    const [disk = ''] = makeDisks(1, false);
    const calls = traceJob(['-T', disk, '-S', '256M', '--workers', '32'], { delayMilliseconds: 40 });
    const most = mostAtOneTime(onDisk(calls, disk).filter(isOfDataFile));
    expect(most).toBeLessThanOrEqual(16);
    // Narrower gates would be seen.
    expect(most).toBeGreaterThan(2);
  });

  it.each([1, 2])('that are one device share its gate, with inputs and output on it, too: %i', (limit) => {
    const [disk = ''] = makeDisks(1, false);
    const temps = ['a', 'b', 'c'].map((name) => join(disk, name));
    for (const temp of temps) mkdirSync(temp);
    const paths = { input: join(disk, 'in'), output: join(disk, 'out') };
    const calls = onDisk(
      traceJob([...tempDirs(temps), '--io-limit', `${disk}=${limit}`, '-S', '64M', '--workers', '6'], paths),
      disk,
    );
    expect(temps.map((temp) => bytesOf(onDisk(calls, temp).filter(isOfDataFile), 'pread64') > 0)).toEqual([
      true,
      true,
      true,
    ]);
    expect(
      bytesOf(
        calls.filter(({ path }) => path === paths.input),
        'pread64',
      ),
    ).toBeGreaterThanOrEqual(INPUT_BYTES);
    expect(mostAtOneTime(calls.filter(isLarge))).toBeLessThanOrEqual(limit);
  });

  it('that rotate read or sync one file at a time, and sync long pieces', () => {
    const disks = makeDisks(2, true);
    const tuning = { sliceBytes: 24e6, stripeCount: 1 };
    const calls = traceJob([...tempDirs(disks), '-S', '64M', '--workers', '4'], { tuning });
    for (const disk of disks) {
      const ofDisk = onDisk(calls, disk).filter(isOfDataFile);
      const gated = ofDisk.filter(({ name }) => name !== 'pwrite64');
      expect(mostAtOneTime(gated)).toBe(1);
      const syncs = ofDisk.filter(({ name }) => name === 'fdatasync');
      expect(syncs.length).toBeGreaterThan(0);
      for (const { path, start } of syncs) {
        const ofFile = ofDisk.filter((call) => call.path === path && call.start < start);
        const formerSync = Math.max(0, ...ofFile.filter(({ name }) => name === 'fdatasync').map((call) => call.start));
        const bytes = bytesOf(
          ofFile.filter((call) => call.start > formerSync),
          'pwrite64',
        );
        expect(bytes).toBeGreaterThan(4 * MIB);
        expect(bytes).toBeLessThan(16 * MIB);
      }
    }
  });
});
