/**
 * Measures how fast a disk reads files that are there, and writes a file without a name. A probe never fails: what cannot
 * be measured is unknown.
 */
import { randomFillSync } from 'node:crypto';
import { fileCalls } from '../io/file-calls.js';
import { closeFile, DIRECT_ALIGNMENT, type OpenFile, openForRead, readAt, withFile } from '../io/files.js';
import { readFreeBytes } from '../io/paths.js';
import { openInputAroundCache, openUnnamedFile } from '../io/probe-files.js';

const MIB = 2 ** 20;
const CALL_BYTES = MIB;
const CALLS_AT_ONCE = 4;
/** Read one behind the other, before the next place. */
const RUN_CALLS = 8;
/** All that a probe writes to a disk. */
export const MOST_WRITTEN_BYTES = 128 * MIB;
const MOST_READ_BYTES = 256 * MIB;
/** A disk with less free space is not written to. */
const LEAST_FREE_BYTES = 8 * MOST_WRITTEN_BYTES;
/** Reads that tell whether the page cache has a file. */
const CACHE_READS = 24;
const CACHE_READ_BYTES = 64 * 1024;
/** No disk gives that much sooner. */
const CACHED_SECONDS = 50e-6;
const PAGE_BYTES = 65536;

/** A file of an input. */
export interface ProbedFile {
  readonly path: string;
  readonly byteLength: number;
}

export interface ReadProbe {
  /** Around the page cache, where the system can do that. */
  readonly bytesPerSecond: number;
  /** The part of the files that the page cache has, as far as samples tell. */
  readonly cachedShare: number;
}

/** @param seconds after which no call begins. */
export async function probeReads(files: readonly ProbedFile[], seconds: number): Promise<ReadProbe | undefined> {
  try {
    const cachedShare = measureCache(files);
    const bytesPerSecond = await measureReads(files, seconds);
    return bytesPerSecond === undefined ? undefined : { bytesPerSecond, cachedShare };
  } catch {
    return undefined;
  }
}

/** @returns bytes a second. */
export async function probeWrites(directory: string, seconds: number): Promise<number | undefined> {
  try {
    if ((readFreeBytes(directory) ?? 0) < LEAST_FREE_BYTES) return undefined;
    const file = openUnnamedFile(directory);
    try {
      return await measureWrites(file, seconds);
    } finally {
      closeFile(file);
    }
  } catch {
    return undefined;
  }
}

/** Evenly spaced places of all files, one behind the other. */
function* placesIn(files: readonly ProbedFile[], count: number, alignment: number, byteLength: number) {
  const totalBytes = files.reduce((sum, file) => sum + file.byteLength, 0);
  let [start, taken] = [0, 0];
  for (const file of files) {
    const end = start + file.byteLength;
    for (; taken < count && ((taken + 0.5) / count) * totalBytes < end; taken++) {
      const wanted = Math.min(((taken + 0.5) / count) * totalBytes - start, file.byteLength - byteLength);
      if (wanted >= 0) yield { path: file.path, position: Math.floor(wanted / alignment) * alignment, file };
    }
    start = end;
  }
}

function measureCache(files: readonly ProbedFile[]): number {
  const bytes = new Uint8Array(CACHE_READ_BYTES);
  let [reads, cached] = [0, 0];
  for (const { path, position } of placesIn(files, CACHE_READS, DIRECT_ALIGNMENT, CACHE_READ_BYTES)) {
    withFile(openForRead(path, 'input'), (file) => {
      const began = performance.now();
      readAt(file, bytes, 0, bytes.byteLength, position);
      reads += 1;
      if (performance.now() - began < 1000 * CACHED_SECONDS) cached += 1;
    });
  }
  return reads === 0 ? 0 : cached / reads;
}

/** Memory of which each call has an aligned part: that of WebAssembly begins at a page. */
function alignedBytes(): Uint8Array {
  const pages = (CALLS_AT_ONCE * CALL_BYTES) / PAGE_BYTES;
  return new Uint8Array(new WebAssembly.Memory({ initial: pages, maximum: pages }).buffer);
}

async function measureReads(files: readonly ProbedFile[], seconds: number): Promise<number | undefined> {
  const bytes = alignedBytes();
  const runs = MOST_READ_BYTES / CALL_BYTES / RUN_CALLS;
  const places = [...placesIn(files, runs, CALL_BYTES, CALL_BYTES)];
  if (places.length === 0) return undefined;
  const began = performance.now();
  const isOver = () => performance.now() - began > 1000 * seconds;
  let [next, done] = [0, 0];
  const reader = async (offset: number) => {
    for (let place = places[next++]; place !== undefined && !isOver(); place = places[next++]) {
      const file = openInputAroundCache(place.path);
      try {
        for (let call = 0; call < RUN_CALLS && !isOver(); call++) {
          const position = place.position + call * CALL_BYTES;
          const count = await fileCalls.readAsync(file.fd, bytes, offset, CALL_BYTES, position);
          done += count;
          if (count < CALL_BYTES) break;
        }
      } finally {
        closeFile(file);
      }
    }
  };
  await atOnce(reader);
  return perSecond(done, began);
}

async function measureWrites(file: OpenFile, seconds: number): Promise<number | undefined> {
  const bytes = randomFillSync(alignedBytes());
  const began = performance.now();
  let [next, done] = [0, 0];
  const writer = async (offset: number) => {
    while (next < MOST_WRITTEN_BYTES && performance.now() - began < 1000 * seconds) {
      const position = next;
      next += CALL_BYTES;
      const count = await fileCalls.writeAsync(file.fd, bytes, offset, CALL_BYTES, position);
      // Only now: others have added theirs during the call.
      done += count;
    }
  };
  await atOnce(writer);
  await fileCalls.syncDataAsync(file.fd);
  return perSecond(done, began);
}

/** Calls that have begun are awaited, even if another one fails: they use the memory and the file. */
async function atOnce(work: (offset: number) => Promise<void>): Promise<void> {
  const calls = Array.from({ length: CALLS_AT_ONCE }, (_, i) => work(i * CALL_BYTES));
  const failed = (await Promise.allSettled(calls)).find((call) => call.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

function perSecond(bytes: number, began: number): number | undefined {
  const seconds = (performance.now() - began) / 1000;
  return bytes === 0 || seconds === 0 ? undefined : bytes / seconds;
}
