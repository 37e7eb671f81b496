/** The window of a reader whose records stay: where bytes arrive, and what moves when there is no room behind them. */
import { describe, expect, it } from 'vitest';
import { SLACK_BYTES } from '#src/plan/arena-sizes.js';
import { HeldWindow } from '#workers/held/held-window.js';
import { openRecordMemory } from './open-record-memory.js';

const SIZES = { regionBytes: 16_384, pieceBytes: 6000, maxRecordBytes: 50_000 };

async function openWindow(pass1Bytes: number) {
  const { memory, control } = await openRecordMemory({ pass1Bytes });
  const window = new HeldWindow(memory, SIZES);
  /** As a reader does, but for the records: none is complete. */
  const read = (byteLength: number) => {
    memory.kernel.bytes.fill(0x61, window.filledEnd, window.filledEnd + byteLength);
    window.filledEnd += byteLength;
  };
  return { memory, control, window, read };
}

describe('the window of a reader whose records stay', () => {
  it('has room for a piece, and less at the end of its region', async () => {
    const { window, memory } = await openWindow(100_000);
    expect(window.capacityBytes).toBe(6000);
    expect(window.makeRoom()).toBe(6000);
    expect(window.recordStart).toBe(memory.region.next);
    window.filledEnd = memory.region.end - SLACK_BYTES - 4500;
    window.recordStart = window.filledEnd;
    window.hold(window.filledEnd);
    expect(window.makeRoom()).toBe(4500);
  });

  it('stays where it is while nobody has taken the bytes behind it', async () => {
    const { window, memory, read } = await openWindow(100_000);
    window.makeRoom();
    const start = window.recordStart;
    const end = memory.region.end;
    for (let filled = 0; filled < 40_000; filled += 4000) {
      expect(window.makeRoom()).toBeGreaterThanOrEqual(4000);
      read(4000);
    }
    expect(window.recordStart).toBe(start);
    expect(memory.region.end).toBe(end + 2 * SIZES.regionBytes);
  });

  it('moves an incomplete record to a new region, with room for as much again, and nothing before it', async () => {
    const { window, memory, read } = await openWindow(200_000);
    window.makeRoom();
    read(100);
    window.recordStart = window.filledEnd;
    window.hold(window.recordStart);
    for (let filled = 0; filled < 16_000; filled += 4000) {
      window.makeRoom();
      read(4000);
    }
    window.scannedEnd = window.recordStart + 7000;
    memory.kernel.bytes[window.recordStart] = 0x62;
    memory.kernel.bytes[window.filledEnd - 1] = 0x63;
    const behind = memory.take(64) ?? 0;
    window.makeRoom();
    const { bytes } = memory.kernel;
    expect(window.recordStart).toBe(memory.region.next);
    expect(window.recordStart).toBeGreaterThan(behind);
    expect([window.scannedEnd, window.filledEnd].map((at) => at - window.recordStart)).toEqual([7000, 16_000]);
    expect([bytes[window.recordStart], bytes[window.filledEnd - 1]]).toEqual([0x62, 0x63]);
    expect(memory.region.end - memory.region.next).toBe(2 * (16_000 + 4096 + SLACK_BYTES));
  });

  it('uses bytes that belong to no record again', async () => {
    const { window, memory, read } = await openWindow(100_000);
    window.makeRoom();
    const { next } = memory.region;
    read(5999);
    window.recordStart = window.filledEnd;
    expect(window.makeRoom()).toBe(6000);
    expect(window.recordStart).toBe(next + 5999);
    read(3);
    window.recordStart = window.filledEnd - 2;
    window.makeRoom();
    expect(window.recordStart).toBe(next);
    expect(window.filledEnd).toBe(next + 2);
  });

  it('tells when a record is over the limit, and when the memory is full', async () => {
    const { window, read } = await openWindow(100_000);
    for (let filled = 0; filled < 50_000; filled += 5000) {
      window.makeRoom();
      read(5000);
    }
    expect(window.makeRoom()).toEqual({ byteLength: 50_000, limit: 'record' });
    expect(window.makeRoom(1)).toBeGreaterThan(0);

    const full = await openWindow(20_000);
    let filled = 0;
    for (let room = full.window.makeRoom(); typeof room === 'number'; room = full.window.makeRoom()) {
      expect(room).toBeGreaterThanOrEqual(4096);
      full.read(room);
      filled += room;
    }
    expect(full.window.makeRoom()).toEqual({ byteLength: filled, limit: 'memory' });
    expect(filled).toBeGreaterThan(14_000);
    expect(filled).toBeLessThanOrEqual(20_000 - SLACK_BYTES);
    expect(full.control.spareBytes).toBeLessThan(4096);
  });
});
