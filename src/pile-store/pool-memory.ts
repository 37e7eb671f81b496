/**
 * Bytes that all threads of a job share, addressed by one number: a file in memory where there is one,
 * else slabs of shared memory.
 */
import { SystemError } from '../errors.js';
import { closeFile, type OpenFile, readAt, writeAt } from '../io/files.js';
import { openMemoryFile } from '../io/memory-file.js';

/** As it travels to other threads. */
export type PoolMemoryShare =
  | { readonly kind: 'file'; readonly file: OpenFile }
  | { readonly kind: 'slabs'; readonly slabs: readonly SharedArrayBuffer[] };

/** A typed array on Node 20 spans at most 4 GiB; slabs stay well below. */
const SLAB_BYTES = 2 ** 30;

/**
 * Reserves `byteLength` bytes. The operating system provides a page when it is first written, so what
 * stays unused costs nothing.
 * @throws SystemError ERR_OUT_OF_MEMORY
 */
export function reservePoolMemory(byteLength: number): PoolMemoryShare {
  const file = openMemoryFile(byteLength);
  return file === undefined ? reserveSlabs(byteLength) : { kind: 'file', file };
}

/** The same, never as a file. */
export function reserveSlabs(byteLength: number): PoolMemoryShare {
  const slabs: SharedArrayBuffer[] = [];
  try {
    for (let reserved = 0; reserved < byteLength; reserved += SLAB_BYTES) {
      slabs.push(new SharedArrayBuffer(Math.min(SLAB_BYTES, byteLength - reserved)));
    }
  } catch (error) {
    throw new SystemError(
      'ERR_OUT_OF_MEMORY',
      `the system does not give ${byteLength} bytes of memory to keep records in; give less to --memory`,
      { cause: error },
    );
  }
  return { kind: 'slabs', slabs };
}

/** Gives it back; slabs go with the last thread that knows them. */
export function releasePoolMemory(share: PoolMemoryShare): void {
  if (share.kind === 'file') closeFile(share.file);
}

/** One thread's view of it. No piece may cross a multiple of 1 GiB. */
export interface PoolMemory {
  /** @returns false when there is no more memory, whatever was reserved. */
  store(place: number, bytes: Uint8Array, offset: number, byteLength: number): boolean;
  load(place: number, byteLength: number, target: Uint8Array, offset: number): void;
}

export function openPoolMemory(share: PoolMemoryShare): PoolMemory {
  return share.kind === 'file' ? memoryOfFile(share.file) : memoryOfSlabs(share.slabs);
}

function memoryOfFile(file: OpenFile): PoolMemory {
  return {
    store: (place, bytes, offset, byteLength) => {
      try {
        writeAt(file, bytes, offset, byteLength, place);
        return true;
      } catch (error) {
        // Somebody else may fill the file system meanwhile; whatever the reason, there are disks.
        if (error instanceof SystemError) return false;
        throw error;
      }
    },
    load: (place, byteLength, target, offset) => {
      const count = readAt(file, target, offset, byteLength, place);
      if (count !== byteLength) throw new RangeError(`the memory pool ends at byte ${place + count}`);
    },
  };
}

function memoryOfSlabs(slabs: readonly SharedArrayBuffer[]): PoolMemory {
  const views = slabs.map((slab) => new Uint8Array(slab));
  const slabOf = (place: number): Uint8Array => {
    const slab = views[Math.floor(place / SLAB_BYTES)];
    if (slab === undefined) throw new RangeError(`no slab of the memory pool holds byte ${place}`);
    return slab;
  };
  return {
    store: (place, bytes, offset, byteLength) => {
      slabOf(place).set(bytes.subarray(offset, offset + byteLength), place % SLAB_BYTES);
      return true;
    },
    load: (place, byteLength, target, offset) => {
      const start = place % SLAB_BYTES;
      target.set(slabOf(place).subarray(start, start + byteLength), offset);
    },
  };
}
