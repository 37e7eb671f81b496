/** The memory for records of one thread, and records that it holds. */
import { JobControl } from '#src/job-control.js';
import { OWN_BYTES } from '#src/plan/hold-plan.js';
import type { RecordHolder } from '#workers/held/record-holder.js';
import { ARENA_START, fixedMemory } from '#workers/kernel/kernel.js';
import { RecordMemory } from '#workers/record-memory.js';

/** Where the part of pass 1 begins. */
export const OWN_END = 64 * Math.ceil((ARENA_START + OWN_BYTES) / 64);

interface MemorySizes {
  /** What pass 1 may take. */
  readonly pass1Bytes: number;
  readonly pass2Bytes?: number;
  readonly spareBytes?: number;
}

export async function openRecordMemory({ pass1Bytes, pass2Bytes = 0, spareBytes = pass1Bytes }: MemorySizes) {
  const control = JobControl.create([], spareBytes);
  const pass1End = OWN_END + pass1Bytes;
  const handle = { channelName: undefined, byteLength: pass1End + pass2Bytes, ownEnd: OWN_END, pass1End };
  return { control, memory: await RecordMemory.open(handle, control) };
}

/** The memories of two threads, which are parts of one. */
export async function openSharedMemories(pass1Bytes: number) {
  const control = JobControl.create([], 2 * pass1Bytes);
  const ownEnd = OWN_END + 64 * Math.ceil(OWN_BYTES / 64);
  const pass1End = ownEnd + pass1Bytes;
  const channelName = `records of ${process.pid}`;
  const keeper = new BroadcastChannel(channelName);
  const memory = fixedMemory(pass1End, true);
  keeper.onmessage = () => keeper.postMessage([memory]);
  const handle = { channelName, byteLength: pass1End, ownEnd, pass1End };
  const memories = [await RecordMemory.open(handle, control), await RecordMemory.open(handle, control)] as const;
  keeper.close();
  return { memories, ownEnd };
}

/** Holds records that lie one behind the other in an input, the first one at byte `position`. */
export function holdTexts(holder: RecordHolder, texts: readonly string[], inputKey: bigint, position = 0): void {
  const { window, kernel, table } = holder;
  if (typeof window.makeRoom() !== 'number') throw new RangeError('no room');
  const base = window.filledEnd;
  for (const [i, text] of texts.entries()) {
    kernel.view.setUint32(table + 8 * i, window.filledEnd, true);
    kernel.write(Buffer.from(text, 'latin1'), window.filledEnd);
    window.filledEnd += text.length;
    kernel.view.setUint32(table + 8 * i + 4, window.filledEnd, true);
  }
  holder.take(texts.length, base, position, inputKey);
  window.recordStart = window.filledEnd;
  window.scannedEnd = window.filledEnd;
}
