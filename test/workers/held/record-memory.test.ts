/** The memory for records: who gets which part of it, and how much in all. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { JobControl } from '#src/job-control.js';
import { OWN_BYTES } from '#src/plan/hold-plan.js';
import { RecordMemory } from '#workers/record-memory.js';
import { OWN_END, openRecordMemory, openSharedMemories } from './open-record-memory.js';

afterEach(() => {
  vi.restoreAllMocks();
});

describe('the memory for records', () => {
  it('gives parts one behind the other, and aligned', async () => {
    const { memory } = await openRecordMemory({ pass1Bytes: 20_000 });
    expect(memory.take(100)).toBe(OWN_END);
    expect(memory.take(1)).toBe(OWN_END + 128);
    expect(memory.take(10, 4096)).toBe(Math.ceil((OWN_END + 129) / 4096) * 4096);
    expect(memory.takenEnd).toBe(Math.ceil((OWN_END + 129) / 4096) * 4096 + 10);
  });

  it('gives no more than pass 1 may take, and no more than is spare', async () => {
    const { memory, control } = await openRecordMemory({ pass1Bytes: 1000, spareBytes: 5000 });
    expect(memory.take(1001)).toBeUndefined();
    expect(memory.take(1000)).toBe(OWN_END);
    expect(memory.take(1)).toBeUndefined();
    expect(control.spareBytes).toBe(4000);

    const other = await openRecordMemory({ pass1Bytes: 1000, spareBytes: 500 });
    expect(other.memory.take(501)).toBeUndefined();
    expect(other.memory.take(500)).toBe(OWN_END);
    expect(other.control.spareBytes).toBe(0);
  });

  it('makes a region longer where it lies, if the bytes behind it are free', async () => {
    const { memory, control } = await openRecordMemory({ pass1Bytes: 1000, spareBytes: 900 });
    const { region } = memory;
    expect(memory.extendRegion(10)).toBe(false);
    region.end = (memory.take(100) ?? 0) + 100;
    expect(memory.extendRegion(28)).toBe(true);
    expect(region.end).toBe(OWN_END + 128);
    expect(memory.take(64)).toBe(OWN_END + 128);
    expect(memory.extendRegion(10)).toBe(false);
    expect(control.spareBytes).toBe(900 - 192);
    region.end = OWN_END + 192;
    expect(memory.extendRegion(709)).toBe(false);
    control.giveSpare(200);
    expect(memory.extendRegion(809)).toBe(false);
    expect(memory.extendRegion(808)).toBe(true);
    expect(control.spareBytes).toBe(100);
  });

  it('gives a thread one part for pass 2, behind those of pass 1', async () => {
    const { memory, control } = await openRecordMemory({ pass1Bytes: 1000, pass2Bytes: 12_000 });
    memory.take(1000);
    const address = memory.pass2Part(4000);
    expect(address % 4096).toBe(0);
    expect(address).toBeGreaterThanOrEqual(OWN_END + 1000);
    expect(memory.pass2Part(3000)).toBe(address);
    expect(control.spareBytes).toBe(0);
    expect(() => memory.pass2Part(9000)).toThrow('no room for the tables of pass 2');
  });

  it('has room for the threads that were planned, and no others', async () => {
    const handle = { channelName: undefined, byteLength: OWN_END, ownEnd: OWN_END - 64, pass1End: OWN_END };
    await expect(RecordMemory.open(handle, JobControl.create([], 0))).rejects.toThrow('more threads');
  });

  it('gives each thread its own part, and no part to two that ask at the same time', async () => {
    const { memories, ownEnd } = await openSharedMemories(10_000);
    const [one, other] = memories;
    expect(other.table - one.table).toBe(OWN_BYTES);
    expect(other.staging - one.staging).toBe(OWN_BYTES);
    const { load } = Atomics;
    let loads = 0;
    let taken: number | undefined;
    vi.spyOn(Atomics, 'load').mockImplementation((words: BigInt64Array | BigUint64Array, index: number) => {
      const value = load(words, index);
      loads += 1;
      // The first one is of the spare memory; before the second one is used, the other thread takes a part.
      if (loads === 2) taken = other.take(640);
      return value;
    });
    expect(one.take(64)).toBe(ownEnd + 640);
    expect(taken).toBe(ownEnd);
  });
});
