import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type FileCalls, systemFileCalls } from '#src/io/file-calls.js';
import { type ProbedFile, probeReads, probeWrites } from '#src/machine/probe-disk.js';
import { useFileCalls } from '../fixtures/replaced-file-calls.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

const MIB = 2 ** 20;

describe('the probe of a disk', () => {
  const directory = useTestDirectory();
  const calls = useFileCalls();

  /** A speed times the time of the whole probe is at least what was moved: the probe cannot last longer than itself. */
  const movedAtMost = async (probe: () => Promise<number | undefined>): Promise<number> => {
    const began = performance.now();
    const bytesPerSecond = (await probe()) ?? 0;
    return (bytesPerSecond * (performance.now() - began)) / 1000;
  };

  it('counts every byte that it writes, with several calls under way', async () => {
    let written = 0;
    const writeAsync: FileCalls['writeAsync'] = async (...call) => {
      const count = await systemFileCalls.writeAsync(...call);
      written += count;
      return count;
    };
    calls.replace({ writeAsync });
    const most = await movedAtMost(() => probeWrites(directory.temp, 0.05));
    expect(written).toBeGreaterThan(0);
    expect(most).toBeGreaterThanOrEqual(written);
  });

  it('counts every byte that it reads', async () => {
    const files: ProbedFile[] = ['a', 'b'].map((name) => {
      const path = directory.path(name);
      writeFileSync(path, new Uint8Array(24 * MIB));
      return { path, byteLength: 24 * MIB };
    });
    let read = 0;
    const readAsync: FileCalls['readAsync'] = async (...call) => {
      const count = await systemFileCalls.readAsync(...call);
      read += count;
      return count;
    };
    calls.replace({ readAsync });
    const most = await movedAtMost(async () => (await probeReads(files, 0.05))?.bytesPerSecond);
    expect(read).toBeGreaterThan(0);
    expect(most).toBeGreaterThanOrEqual(read);
  });
});
