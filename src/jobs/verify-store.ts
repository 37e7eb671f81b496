/**
 * Verifies a store by reading every record. The checksums of segments show damage on disk. Scattering the records again,
 * without writing them, shows whether each record lies on its pile and whether the index counts every record.
 */
import { Arena } from '../../workers/arena.js';
import { KernelHasher } from '../../workers/kernel/kernel-hasher.js';
import { ScatterArena } from '../../workers/piles/scatter-arena.js';
import { VerificationError } from '../errors.js';
import { zstdExpander } from '../formats/codecs/zstd-writer.js';
import { JobControl, UNGATED } from '../job-control.js';
import { hearSignals } from '../pause.js';
import { eachMergedPile, MergedPileReader } from '../pile-sets/merged-pile.js';
import { dataFilePath, type PileSetLayout } from '../pile-sets/pile-layout.js';
import type { StoredPileSet } from '../pile-sets/pile-set-writer.js';
import { checksumTextOf, isSameTally, type PileTally, type PileTotals, tallyOf } from '../pile-sets/pile-totals.js';
import { readPileTotals } from '../pile-sets/read-pile-set-index.js';
import { STORED_HEADER_BYTES } from '../plan/arena-sizes.js';
import { explainedByExpiry, layoutOf, pileSetsOf, type StoreSnapshot } from '../store/store-snapshot.js';

const MIB = 2 ** 20;
const WINDOW_BYTES = MIB;
/** For the buffers of all piles together; full buffers are discarded. */
const BUFFERS_BYTES = 32 * MIB;
const LARGEST_BUFFER_BYTES = 64 * 1024;

/**
 * @throws VerificationError for the first damage; UsageError ERR_STORE if a pile set was expired and deleted meanwhile;
 *   SystemError; AbortError
 */
export async function verifyStore(snapshot: StoreSnapshot, signal?: AbortSignal): Promise<void> {
  const longestRecordBytes = snapshot.manifest.commits.reduce(
    (most, commit) => Math.max(most, commit.longestRecordBytes),
    0,
  );
  const layout = layoutOf(snapshot, UNGATED, false);
  const control = JobControl.create([], Number.MAX_SAFE_INTEGER);
  const arena = new Arena(control);
  for (const pileSet of pileSetsOf(snapshot, layout)) {
    try {
      await verifyPileSet(pileSet, layout, longestRecordBytes, arena, control, signal);
    } catch (error) {
      throw explainedByExpiry(error, snapshot, pileSet.name);
    }
  }
}

async function verifyPileSet(
  pileSet: StoredPileSet,
  layout: PileSetLayout,
  longestRecordBytes: number,
  arena: Arena,
  control: JobControl,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { pileCount } = layout;
  const windowBytes = WINDOW_BYTES + longestRecordBytes + STORED_HEADER_BYTES;
  const scatterArena = new ScatterArena(arena, nowhere, {
    pileCount,
    bufferBytes: Math.min(LARGEST_BUFFER_BYTES, Math.ceil(BUFFERS_BYTES / pileCount)),
    windowBytes,
    maxRecordBytes: windowBytes,
    keyScale: 1n,
  });
  const reader = new MergedPileReader(undefined, new KernelHasher(arena.kernel, 'segments'), zstdExpander, control);
  const damaged = (pile: number, problem: string) =>
    new VerificationError(
      `${dataFilePath(layout, pileSet.name, 0, 0)}: pile ${pile} ${problem}; check the disk, and restore the store from a copy`,
    );
  const { window } = scatterArena;
  for (const merged of eachMergedPile([pileSet], 0, pileCount)) {
    await hearSignals(signal);
    window.clear();
    await reader.read(merged, layout, {
      place: (byteLength) => {
        const room = window.makeRoom();
        if (typeof room !== 'number') throw damaged(merged.pile, 'holds a longer record than any committed record');
        return { target: arena.kernel.bytes, offset: window.filledEnd, byteLength: Math.min(room, byteLength) };
      },
      receive: (byteLength) => {
        window.filledEnd += byteLength;
        window.recordStart = arena.kernel.wasm.rescatterStored(window.recordStart, window.filledEnd) >>> 0;
      },
    });
    if (window.pendingBytes > 0) throw damaged(merged.pile, `ends inside a record, ${window.pendingBytes} bytes of it`);
  }
  compareTotals(scatterArena.totals(), readPileTotals(pileSet.index), damaged);
}

const nowhere = {
  append: () => {},
  commit: () => {
    throw new RangeError('there is no pile set to commit');
  },
};

function compareTotals(
  found: PileTotals,
  noted: PileTotals,
  damaged: (pile: number, problem: string) => VerificationError,
): void {
  const describe = ({ records, recordBytes, checksum }: PileTally) =>
    `${records} records of ${recordBytes} bytes, checksum ${checksumTextOf(checksum)}`;
  for (let pile = 0; pile < found.records.length; pile++) {
    const [holds, expected] = [tallyOf(found, pile), tallyOf(noted, pile)];
    if (!isSameTally(holds, expected)) throw damaged(pile, `holds ${describe(holds)}, expected ${describe(expected)}`);
  }
}
