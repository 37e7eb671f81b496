/**
 * A task before the scatter pass. For some framings, the number of certain bytes before a position decides whether a record
 * begins there.
 */

import { thenAlways } from '../../src/floor/cleanup.js';
import { inPhase } from '../../src/floor/phase-clock.js';
import { loadInputPlaces } from '../../src/places/inputs/input-kinds.js';
import { RegularInput } from '../../src/places/inputs/input-source.js';
import type { InputPart } from '../../src/sources/input-part.js';
import type { ReadSettings, TaskSettings } from '../settings.js';
import { threadStateOf } from '../thread-state.js';

export interface CountByteTask {
  readonly job: TaskSettings & Pick<ReadSettings, 'readBytes'>;
  readonly path: string;
  readonly version: (InputPart & { kind: 'file' })['version'];
  readonly gate: (InputPart & { kind: 'file' })['gate'];
  readonly byte: number;
  readonly start: number;
  readonly end: number;
}

export async function countByte({ job, path, version, gate, byte, start, end }: CountByteTask): Promise<number> {
  const { control, arena } = threadStateOf(job);
  const address = arena.reserveForReads(job.readBytes);
  await loadInputPlaces([path]);
  const input = new RegularInput(path, version, control, gate, end);
  const count = (): number => {
    let total = 0n;
    for (let position = start; position < end; ) {
      control.throwIfAborted();
      const { bytes, wasm } = arena.kernel;
      const byteLength = input.readAt(bytes, address, Math.min(job.readBytes, end - position), position);
      if (byteLength === 0) break;
      const counted = inPhase('scan', () => wasm.countByte(address, address + byteLength, byte));
      total += BigInt.asUintN(64, counted);
      position += byteLength;
    }
    input.requireUnchanged();
    return Number(total);
  };
  return thenAlways(count, () => input.close());
}
