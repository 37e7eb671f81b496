/**
 * Loads a merged pile that is one bundle larger than the arena, in pieces: as many segments at a time as fit, in the order of
 * arrival, which is that of the bundle. No scatter would divide its records. The pile is read twice: first to see that all of
 * its records have one key and one value, then for the output.
 *
 *     room     end of the piece before | stored records | slack | counts u32 | arrived u64 | sorted u64
 */
import { InputError, VerificationError } from '../../src/errors.js';
import { inPhase } from '../../src/floor/phase-clock.js';
import { storedHeaderBytes } from '../../src/plan/arena-sizes.js';
import type { Kernel } from '../kernel/kernel.js';
import type { DistinctLoad } from './load-distinct.js';
import { foreignRecordError, orderTables } from './order-tables.js';

type PiecesLoad = Omit<DistinctLoad, 'longestRecordBytes'>;

/** Returns whether all records have one key. Fails if they have it, but several values. */
export async function isOneBundle(kernel: Kernel, load: PiecesLoad): Promise<boolean> {
  const { wasm } = kernel;
  const headerBytes = storedHeaderBytes(load.level.layout);
  const keyAt = (index: number) => kernel.view.getBigUint64((wasm.recordAddress(index) >>> 0) - headerBytes, true);
  let key: bigint | undefined;
  let hasOneValue = true;
  // The last record comes once more, to be compared with the first of the next piece.
  for await (const records of bundlePieces(kernel, load, true)) {
    key ??= keyAt(0);
    if (keyAt(0) !== key || keyAt(records - 1) !== key) return false;
    if (wasm.measureUnits(0, 1n, 0, true) >>> 0 !== records) hasOneValue = false;
  }
  if (hasOneValue) return true;
  const { pile, records, storedBytes } = load.merged;
  throw new InputError(
    'ERR_RECORDS_COLLIDE',
    `${records} records, ${storedBytes} bytes in all, have different values of one hash and are too many for the memory of a thread (pile ${pile}); somebody has made them for that`,
  );
}

/** Puts one piece after the other in order. Yields its number of records. @param repeatsLast whether each begins with the last of the one before. */
export async function* bundlePieces(
  kernel: Kernel,
  { merged, reader, level: { layout, parentScale }, room }: PiecesLoad,
  repeatsLast = false,
): AsyncGenerator<number, void> {
  const parts = merged.parts.flatMap(({ pileSetName, segments }) =>
    segments.map((segment) => ({ pileSetName, segments: [segment], byteLength: segment.byteLength })),
  );
  const { wasm } = kernel;
  const headerBytes = storedHeaderBytes(layout);
  const capacityOf = (byteLength: number) => Math.min(merged.records + 1, Math.ceil(byteLength / headerBytes));
  const tablesAt = (storedEnd: number) => orderTables(storedEnd, capacityOf(storedEnd - room.start));
  let filled = room.start;
  for (let first = 0; first < parts.length; ) {
    let storedEnd = filled;
    let end = first;
    // Nearly every pile of several keys shows them in its first segment.
    for (; end < (first === 0 ? 1 : parts.length); end++) {
      const next = storedEnd + (parts[end]?.byteLength ?? 0);
      if (tablesAt(next).end > room.end) break;
      storedEnd = next;
    }
    if (end === first) throw noRoomError(merged.pile, storedEnd - room.start + (parts[first]?.byteLength ?? 0));
    await reader.read({ ...merged, parts: parts.slice(first, end) }, layout, {
      place: (byteLength) => ({ target: kernel.bytes, offset: filled, byteLength }),
      receive: (byteLength) => {
        filled += byteLength;
      },
    });
    first = end;
    const { bits, counts, arrived, sorted } = tablesAt(storedEnd);
    const capacity = capacityOf(storedEnd - room.start);
    wasm.prepareOrder(counts, bits, arrived, sorted, capacity, merged.pile, layout.pileCount, parentScale, true);
    const walked = inPhase('sort', () => wasm.walkStored(room.start, filled)) >>> 0;
    if (walked === 0) throw foreignRecordError(merged);
    const records = wasm.walkedCount.value >>> 0;
    let carriedFrom = walked;
    if (records > 0) {
      inPhase('sort', () => wasm.orderWalked());
      if (repeatsLast) carriedFrom = (wasm.recordAddress(records - 1) >>> 0) - headerBytes;
      yield records;
    }
    kernel.bytes.copyWithin(room.start, carriedFrom, filled);
    filled = room.start + filled - carriedFrom;
    if (first === parts.length && walked !== storedEnd)
      throw new VerificationError(
        `pile ${merged.pile} ends inside a record, ${storedEnd - walked} bytes after its beginning`,
      );
  }
}

function noRoomError(pile: number, byteLength: number): InputError {
  return new InputError(
    'ERR_BUNDLE_TOO_LARGE',
    `a bundle is larger than the memory of a thread, and ${byteLength} bytes of it do not fit beside each other (pile ${pile}); expected more \`memoryBytes\`, or fewer \`workers\``,
  );
}
