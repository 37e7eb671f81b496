/**
 * Faults of the disks: pile data and indexes that change between the passes, and writes and reads that report more bytes
 * than they moved. It patches `fs`, because every byte goes through `fs`.
 *
 * @typedef {import('./sabotage.js').Sabotage} Sabotage
 * @typedef {{ pile: number, path: string, place: number, byteLength: number }} Segment
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { basename, dirname, join } from 'node:path';

const HEADER_BYTES = 44;
const DATA_FILE_ENTRY_BYTES = 8;
const PILE_ENTRY_BYTES = 48;
const SEGMENT_ENTRY_BYTES = 24;
const STORED_HEADER_BYTES = 12;

/** Where a stored record changes, and which bits. */
const PLACES = {
  highKey: { offset: 7, mask: 0x80 },
  length: { offset: 8, mask: 1 },
  record: { offset: STORED_HEADER_BYTES, mask: 1 },
};

/** The calls as they were, for what the saboteur does itself. */
const { openSync, closeSync, readSync, writeSync, statSync, truncateSync } = fs;
/** @type {Map<number, string>} */
const paths = new Map();

/** @param {number} fd */
export function pathOf(fd) {
  return paths.get(fd) ?? '';
}

/**
 * @param {Sabotage} sabotage
 * @param {() => boolean} isTheOne
 */
export function sabotageFiles(sabotage, isTheOne) {
  fs.openSync = (path, ...rest) => {
    const fd = openSync(path, ...rest);
    paths.set(fd, String(path));
    return fd;
  };
  damage(sabotage, isTheOne);
  syncBuiltinESMExports();
}

/**
 * @param {Sabotage} sabotage
 * @param {() => boolean} isTheOne
 */
function damage(sabotage, isTheOne) {
  switch (sabotage.act) {
    // Two segments of one pile set change places on disk: two of one pile, or of two piles.
    case 'swap-segments':
      onIndexWrite((index, indexPath) => {
        const segments = parseSegments(index, indexPath);
        for (const a of segments) {
          const b = segments.find((other) => canSwap(a, other, sabotage.samePile));
          if (b === undefined || !isTheOne()) continue;
          const bytesOfA = readSegment(a);
          writeSegment(a, readSegment(b));
          writeSegment(b, bytesOfA);
          return;
        }
      });
      return;

    // One byte of a segment changes on disk.
    case 'alter-segment':
      onIndexWrite((index, indexPath) => {
        const { offset, mask } = PLACES[sabotage.part];
        const segments = parseSegments(index, indexPath);
        const segment = segments.find((one) => one.byteLength > STORED_HEADER_BYTES);
        if (segment === undefined || !isTheOne()) return;
        const bytes = readSegment(segment);
        bytes[offset] = (bytes[offset] ?? 0) ^ mask;
        writeSegment(segment, bytes);
      });
      return;

    // A data file loses its last byte.
    case 'truncate-data':
      onIndexWrite((index, indexPath) => {
        const segment = parseSegments(index, indexPath).at(-1);
        if (segment !== undefined && isTheOne()) truncateSync(segment.path, statSync(segment.path).size - 1);
      });
      return;

    // One number of a pile set's index changes on its way to disk.
    case 'alter-index':
      onIndexWrite((index) => {
        if (!isTheOne()) return;
        const { pilesAt, segmentsAt } = tablesOf(index);
        const at = {
          magic: 0,
          piles: 16,
          dataFile: HEADER_BYTES,
          segmentCount: pilesAt + 8,
          records: pilesAt + 16,
          place: segmentsAt,
          byteLength: segmentsAt + 8,
          checksum: segmentsAt + 16,
        }[sabotage.field];
        index[at] = (index[at] ?? 0) ^ 1;
      });
      return;

    // A write of pile data says that it wrote all and did not.
    case 'short-temp-write':
      onWrite(/\.pile$/, (byteLength) => (isTheOne() ? byteLength >> 1 : undefined));
      return;

    // The write that ends the output says that it wrote all and left one byte out.
    case 'short-output-write':
      onWrite(/\.part$/, (byteLength, position) =>
        position + byteLength === sabotage.outputBytes && isTheOne() ? byteLength - 1 : undefined,
      );
      return;

    // A read of an input says that the file ends here.
    case 'early-end':
      patchReadSync((read, fd) => (/\.input$/.test(pathOf(fd)) && isTheOne() ? 0 : read()));
      return;
  }
}

/** @param {(read: () => number, fd: number) => number} instead */
function patchReadSync(instead) {
  Object.assign(fs, {
    /** @param {Parameters<typeof fs.readSync>} call */
    readSync: (...call) => instead(() => readSync(...call), call[0]),
  });
}

/**
 * `shorten` gets what is to be written, and says how much of it really is; undefined: all.
 *
 * @param {RegExp} pattern
 * @param {(byteLength: number, position: number) => number | undefined} shorten
 */
function onWrite(pattern, shorten) {
  patchWriteSync((fd, bytes, offset, byteLength, position) => {
    const count = pattern.test(pathOf(fd)) ? shorten(byteLength, position ?? 0) : undefined;
    if (count === undefined) return writeSync(fd, bytes, offset, byteLength, position);
    if (count > 0) writeSync(fd, bytes, offset, count, position);
    return byteLength;
  });
}

/**
 * The data files of the pile set are complete and its index is about to be written.
 *
 * @param {(index: Buffer, path: string) => void} harm
 */
function onIndexWrite(harm) {
  patchWriteSync((fd, bytes, offset, byteLength, position) => {
    const path = pathOf(fd);
    if (path.endsWith('.index')) harm(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), path);
    return writeSync(fd, bytes, offset, byteLength, position);
  });
}

/** @param {(fd: number, bytes: Uint8Array, offset: number, byteLength: number, position: number | null) => number} writeSync */
function patchWriteSync(writeSync) {
  Object.assign(fs, { writeSync });
}

/** @param {Buffer} index */
function tablesOf(index) {
  const pileCount = index.readUInt32LE(16);
  const stripeCount = index.readUInt32LE(20);
  const diskCount = index.readUInt32LE(24);
  const pilesAt = HEADER_BYTES + stripeCount * diskCount * DATA_FILE_ENTRY_BYTES;
  return { pileCount, stripeCount, pilesAt, segmentsAt: pilesAt + pileCount * PILE_ENTRY_BYTES };
}

/**
 * All segments on disk that an index names.
 *
 * @param {Buffer} index
 * @param {string} indexPath
 * @returns {Segment[]}
 */
function parseSegments(index, indexPath) {
  const { pileCount, stripeCount, pilesAt, segmentsAt } = tablesOf(index);
  /** @type {Segment[]} */
  const segments = [];
  for (let pile = 0; pile < pileCount; pile++) {
    const at = pilesAt + pile * PILE_ENTRY_BYTES;
    const first = Number(index.readBigUInt64LE(at));
    const count = Number(index.readBigUInt64LE(at + 8));
    const stripe = Math.floor((pile * stripeCount) / pileCount);
    for (let i = first; i < first + count; i++) {
      const entry = segmentsAt + i * SEGMENT_ENTRY_BYTES;
      // It lies in memory.
      if (index.readUInt32LE(entry + 12) === 0) continue;
      segments.push({
        pile,
        path: join(dataDirectoryOf(indexPath), `${basename(indexPath, '.index')}.${stripe}.pile`),
        place: Number(index.readBigUInt64LE(entry)),
        byteLength: index.readUInt32LE(entry + 8),
      });
    }
  }
  return segments;
}

/**
 * Where the data files lie, of jobs with one temp disk.
 *
 * @param {string} indexPath
 */
function dataDirectoryOf(indexPath) {
  return dirname(indexPath).replace(/\.job$/, '.disk-0');
}

/**
 * @param {Segment} a
 * @param {Segment} b
 * @param {boolean} samePile
 */
function canSwap(a, b, samePile) {
  const isOther = a.path !== b.path || a.place !== b.place;
  return isOther && a.byteLength >= 16 && a.byteLength === b.byteLength && (a.pile === b.pile) === samePile;
}

/** @param {Segment} segment */
function readSegment({ path, place, byteLength }) {
  const fd = openSync(path, 'r');
  const bytes = Buffer.alloc(byteLength);
  readSync(fd, bytes, 0, byteLength, place);
  closeSync(fd);
  return bytes;
}

/**
 * @param {Segment} segment
 * @param {Buffer} bytes
 */
function writeSegment({ path, place }, bytes) {
  const fd = openSync(path, 'r+');
  writeSync(fd, bytes, 0, bytes.byteLength, place);
  closeSync(fd);
}
