/**
 * Reads every record of a store. The checksums of segments tell of what a disk changed; scattering the records once more,
 * to nowhere, tells whether each lies on its pile and all that the index counts are there.
 */
import { Arena } from '../../workers/piles/arena.js';
import { KernelHasher } from '../../workers/piles/kernel-hasher.js';
import { ScatterArena } from '../../workers/piles/scatter-arena.js';
import { VerificationError } from '../errors.js';
import { zstdExpander } from '../formats/codecs/zstd-writer.js';
import { JobControl, UNGATED } from '../job-control.js';
import { checksumTextOf } from '../output/output-target.js';
import { hearSignals } from '../pause.js';
import { eachMergedPile, MergedPileReader } from '../pile-sets/merged-pile.js';
import { dataFilePath, type StoreLayout } from '../pile-sets/pile-layout.js';
import type { PileTally } from '../pile-sets/pile-set-index.js';
import type { StoredPileSet } from '../pile-sets/pile-set-writer.js';
import { type PileTallies, readPileTallies } from '../pile-sets/read-pile-set-index.js';
import { STORED_HEADER_BYTES } from '../plan/arena-sizes.js';
import { explainedByExpiry, layoutOf, pileSetsOf, type StoreSnapshot } from '../store/store-snapshot.js';

const MIB = 2 ** 20;
const WINDOW_BYTES = MIB;
/** For the buffers of all piles together, of which only one is used at a time, and thrown away when it is full. */
const BUFFERS_BYTES = 32 * MIB;
const LARGEST_BUFFER_BYTES = 64 * 1024;

/**
 * @throws VerificationError for the first thing that is not as it was written; UsageError ERR_STORE when a pile set was
 *   expired and deleted meanwhile; SystemError; AbortedError
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
  layout: StoreLayout,
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
        if (typeof room !== 'number') throw damaged(merged.pile, 'holds a longer record than any that was committed');
        return { target: arena.kernel.bytes, offset: window.filledEnd, byteLength: Math.min(room, byteLength) };
      },
      receive: (byteLength) => {
        window.filledEnd += byteLength;
        window.recordStart = arena.kernel.wasm.rescatterStored(window.recordStart, window.filledEnd) >>> 0;
      },
    });
    if (window.pendingBytes > 0) throw damaged(merged.pile, `ends inside a record, ${window.pendingBytes} bytes of it`);
  }
  compareTallies(scatterArena.tallies(), readPileTallies(pileSet.index), damaged);
}

const nowhere = {
  append: () => {},
  commit: () => {
    throw new RangeError('there is no pile set to commit');
  },
};

function compareTallies(
  found: readonly PileTally[],
  told: PileTallies,
  damaged: (pile: number, problem: string) => VerificationError,
): void {
  const inWords = (records = 0, bytes = 0, checksum = 0n) =>
    `${records} records of ${bytes} bytes, checksum ${checksumTextOf(checksum)}`;
  for (const [pile, { records, recordBytes, checksum }] of found.entries()) {
    const holds = inWords(records, recordBytes, checksum);
    const expected = inWords(told.records[pile], told.recordBytes[pile], told.checksums[pile]);
    if (holds !== expected) throw damaged(pile, `holds ${holds}, expected ${expected}`);
  }
}
