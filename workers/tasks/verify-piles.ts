/**
 * A task that verifies piles of one pile set. The checksums of segments show damage on disk. Scattering the records again,
 * without writing them, shows whether each record lies on its pile and whether the index counts every record.
 */
import { counted } from '../../src/errors.js';
import { zstdExpander } from '../../src/formats/codecs/zstd-writer.js';
import { eachMergedPile, MergedPileReader } from '../../src/piles/merged-pile.js';
import { dataFilePath, diskOfPile, roleOf, stripeOfPile } from '../../src/piles/pile-layout.js';
import { damagedPileSetError } from '../../src/piles/pile-set-file.js';
import { readPileEntries } from '../../src/piles/pile-set-index.js';
import type { StoredPileSet } from '../../src/piles/pile-set-writer.js';
import { describeTotals, pileTotalsOf, textOfTotals, totalsOfPile } from '../../src/piles/pile-totals.js';
import { STORED_HEADER_BYTES } from '../../src/plan/arena-sizes.js';
import { ScatterArena } from '../piles/scatter-arena.js';
import type { PileSettings } from '../settings.js';
import { pileStateOf } from '../thread-state.js';

export interface VerifyPilesTask {
  readonly job: PileSettings;
  readonly pileSet: StoredPileSet;
  readonly first: number;
  readonly end: number;
  /** The bytes of the longest record of all pile sets. */
  readonly longestRecordBytes: number;
}

const WINDOW_BYTES = 2 ** 20;

export function verifyWindowBytes(longestRecordBytes: number): number {
  return WINDOW_BYTES + longestRecordBytes + STORED_HEADER_BYTES;
}

export async function verifyPiles({ job, pileSet, first, end, longestRecordBytes }: VerifyPilesTask): Promise<void> {
  const { layout, bufferBytes } = job;
  const { control, arena, hasher, ramPool } = await pileStateOf(job);
  const windowBytes = verifyWindowBytes(longestRecordBytes);
  const reader = new MergedPileReader(ramPool, hasher, zstdExpander, control);
  const scatterArena = new ScatterArena(arena, nowhere, {
    pileCount: layout.pileCount,
    bufferBytes,
    windowBytes,
    keyScale: 1n,
  });
  const damaged = (pile: number, problem: string) => {
    const path = dataFilePath(layout, pileSet.name, stripeOfPile(layout, pile), diskOfPile(layout, pile));
    return damagedPileSetError(`${path}: pile ${pile} ${problem}`, pileSet.name, roleOf(layout));
  };
  const { window } = scatterArena;
  for (const merged of eachMergedPile([pileSet], first, end)) {
    control.throwIfAborted();
    window.clear();
    await reader.read(merged, layout, {
      place: (byteLength) => {
        const room = window.makeRoom(windowBytes);
        if (typeof room !== 'number') throw damaged(merged.pile, 'holds a longer record than any committed record');
        return { target: arena.kernel.bytes, offset: window.filledEnd, byteLength: Math.min(room, byteLength) };
      },
      receive: (byteLength) => {
        window.filledEnd += byteLength;
        window.recordStart = arena.kernel.wasm.rescatterStored(window.recordStart, window.filledEnd) >>> 0;
        control.count('scatteredBytes', byteLength);
      },
    });
    if (window.pendingBytes > 0)
      throw damaged(merged.pile, `ends inside a record, ${counted(window.pendingBytes, 'byte')} of it`);
  }
  const found = scatterArena.totals();
  const noted = pileTotalsOf(readPileEntries(pileSet.index, first, end, pileSet.name));
  for (let pile = first; pile < end; pile++) {
    const totals = [totalsOfPile(found, pile), totalsOfPile(noted, pile - first)];
    const [holds, expected] = totals.map((each) => describeTotals(textOfTotals(each)));
    if (holds !== expected) throw damaged(pile, `holds ${holds}, expected ${expected}`);
  }
}

/** Full buffers are discarded. */
const nowhere = {
  append: () => {},
  keep: () => {},
  commit: () => {
    throw new RangeError('there is no pile set to commit');
  },
};
