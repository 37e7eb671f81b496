/** What an output of rows is expected to take, and what of it waits on temp disks. */
import { describe, expect, it } from 'vitest';
import { expectPages, expectSpilledPages } from '#src/job/table-sizes.js';
import { planMemory } from '#src/plan/memory-plan.js';
import { unreadTable } from '#src/sources/source.js';

const MIB = 2 ** 20;

describe('pages', () => {
  const table = { ...unreadTable('Parquet'), rows: 10, rowBytes: 4000, storedBytes: 1500 };

  it('take what they took, if the codec stays', () => {
    expect(expectPages({ ...table, codec: 'ZSTD' }, 'ZSTD')).toEqual({ byteLength: 1500, isGuess: false });
    expect(expectPages({ ...table, codec: 'LZ4' }, 'LZ4_RAW')).toEqual({ byteLength: 1500, isGuess: false });
    const tiny = { ...table, rowBytes: 100, codec: 'SNAPPY' } as const;
    expect(expectPages(tiny, 'SNAPPY')).toEqual({ byteLength: 100, isGuess: false });
  });

  it('are guessed otherwise', () => {
    expect(expectPages({ ...table, codec: 'ZSTD' }, 'SNAPPY')).toEqual({ byteLength: 1500, isGuess: true });
    expect(expectPages({ ...table, codec: 'ZSTD' }, 'UNCOMPRESSED')).toEqual({ byteLength: 4000, isGuess: true });
    expect(expectPages({ ...table, codec: 'UNCOMPRESSED' }, 'ZSTD')).toEqual({ byteLength: 1000, isGuess: true });
  });
});

describe('spilled pages', () => {
  const recordBytes = 4000 * MIB;
  const spilled = (memoryMib: number, shardCount: number, rowGroupRows?: number) => {
    const memoryNeed = {
      budgetBytes: memoryMib * MIB,
      workers: 2,
      mostSlices: Number.POSITIVE_INFINITY,
      recordBytes,
      meanRecordBytes: 2000,
      exact: false,
      hasStreams: false,
      tempDiskCount: 1,
      tempDisksRotate: false,
      openFileLimit: 10_000,
      isResumable: true,
      outputWaits: true,
      columnBytes: 8 * MIB,
      layout: undefined,
    };
    const table = { codec: 'ZSTD', level: 3, rowGroupBytes: 128 * MIB, rowGroupRows } as const;
    const shardBytes = recordBytes / shardCount;
    const job = { write: { table }, memory: planMemory(memoryNeed), memoryNeed, recordBytes, ratio: 0.5, shardBytes };
    return expectSpilledPages(job);
  };

  it('are those of some piles and a row group of each thread, less what spare memory takes', () => {
    const { mostBytes, share } = spilled(256, 1);
    expect(mostBytes).toBeGreaterThan(2 * 64 * MIB);
    expect(mostBytes).toBeLessThan(1000 * MIB);
    expect(share).toBeGreaterThan(0.2);
    expect(spilled(256, 1, 1000).mostBytes).toBeLessThan(mostBytes);
  });

  it('are none where shards are small beside spare memory', () => {
    expect(spilled(1024, 1000)).toEqual({ mostBytes: 0, share: 0 });
    expect(spilled(256, 100).mostBytes).toBeLessThan(spilled(256, 1).mostBytes);
  });

  it('are none in an output of no rows', () => {
    const job = { write: {}, recordBytes: 9, ratio: 1, shardBytes: 9 };
    expect(expectSpilledPages({ ...job, memory: {} as never, memoryNeed: {} as never }).mostBytes).toBe(0);
  });
});
