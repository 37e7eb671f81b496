/**
 * Tar files of samples, as WebDataset has them. The key of a member is its path up to the first dot of the base name.
 * Consecutive members of one key are one record, with all their headers.
 *
 *     | pax header | header | data 0.jpg | header | data 0.txt | directory | header | data 1.jpg | zero blocks |
 *     | record                                                 | record                          | trailer     |
 *
 * What is not a member is carried along: a header about the next member goes with that member, a directory with the next
 * sample or, if there is none, the last. The zero blocks at the end belong to no record. A tar file without them may
 * have been cut off.
 *
 * Readers know a sample has ended only by the key of the next: two samples of one key must never be neighbours.
 */
import { RECORD_LIMIT_ADVICE } from '../../errors.js';
import { BadRecord, type Framing, type FramingKernel, type RecordScanner } from '../framing.js';
import type { RecordKindOf } from '../record-kind.js';
import {
  BLOCK_BYTES,
  isExtendedHeader,
  isZeroBlock,
  type MemberOverrides,
  parseExtendedHeader,
  parseTarHeader,
  problemOfExtendedHeader,
  storedDataBytes,
  type TarHeader,
  tarMemberOf,
} from '../tar-header.js';

/** Room for directories and headers about a member, between a sample of the longest length and the next header. */
const MOST_BYTES_BETWEEN = 4 * 2 ** 20;

export const webdataset: RecordKindOf<{ readonly by: 'webdataset' }> = {
  by: 'webdataset',
  flags: [
    {
      name: 'webdataset',
      help: 'a record is a sample of a tar file: members with the same name up to the first dot',
    },
  ],
  open: () => framing,
  header: 'tar',
  files: [
    {
      name: 'a tar archive',
      remedy: "give `records: { by: 'webdataset' }` if it consists of samples, extract it if it does not",
      matches: isTar,
      endings: 'tar',
      nature: 'records',
    },
  ],
};

/** Tells a tar header by the magic of POSIX or GNU; older headers have only their checksum. */
function isTar(head: string): boolean {
  if (head.startsWith('ustar\0', 257) || head.startsWith('ustar  \0', 257)) return true;
  return (
    head.length === BLOCK_BYTES &&
    head.includes('\0') &&
    typeof parseTarHeader(Buffer.from(head, 'latin1')) === 'object'
  );
}

const framing: Framing = {
  sampleKeys: { alignment: BLOCK_BYTES, keyOf: keyOfSample },
  // Counts members, of which a sample has one or a few.
  openScanner: (kernel, longestBytes) => new SampleScanner(kernel, longestBytes),
};

/** The key of the first member that is a file: readers skip directories, links and devices. */
function keyOfSample(bytes: Uint8Array): string | undefined {
  let overrides: MemberOverrides | undefined;
  for (let at = 0; at + BLOCK_BYTES <= bytes.byteLength; ) {
    const block = bytes.subarray(at, at + BLOCK_BYTES);
    at += BLOCK_BYTES;
    const member = tarMemberOf(block);
    if (isExtendedHeader(member)) {
      const header = parseTarHeader(block);
      if (typeof header === 'string' || at + header.dataBytes > bytes.byteLength) return undefined;
      const more = parseExtendedHeader(header, Buffer.from(bytes.subarray(at, at + header.dataBytes)));
      if (typeof more === 'string') return undefined;
      overrides = { ...overrides, ...more };
      at += storedDataBytes(header);
    } else if (member.hasData) {
      return keyOfName(overrides?.name ?? member.name);
    } else overrides = undefined;
  }
  return undefined;
}

/** The path up to the first dot of the base name; undefined when nothing stands before the dot. */
function keyOfName(name: string): string | undefined {
  return /^((?:.*\/)?[^./]+)\.[^/]*$/s.exec(name)?.[1];
}

class SampleScanner implements RecordScanner {
  readonly needsWholeRecords = true;
  readonly lookAheadBytes = MOST_BYTES_BETWEEN + BLOCK_BYTES;
  readonly #kernel: FramingKernel;
  readonly #mostBytes: number;
  /** The place of the next header. This and the other offsets count from the beginning of the record. */
  #next = 0;
  /** The end of the last member of the sample. What follows belongs to the next member. */
  #membersEnd = 0;
  #overrides: MemberOverrides | undefined;
  /** How far the map of a sparse file was followed, of which a part is still missing. */
  #mapBytes = 0;
  #key: string | undefined;
  isInTrailer = false;

  constructor(kernel: FramingKernel, longestBytes: number) {
    this.#kernel = kernel;
    this.#mostBytes = longestBytes;
  }

  scan(_from: number, to: number, recordStart: number, table: number, maxCount: number): number {
    const { bytes, view } = this.#kernel;
    let count = 0;
    let start = recordStart;
    while (!this.isInTrailer && count < maxCount && to - start >= this.#next + BLOCK_BYTES) {
      const recordBytes = this.#step(bytes.subarray(start, to), start);
      if (recordBytes === 'more') break;
      if (recordBytes === 0) continue;
      view.setUint32(table + count * 8, start, true);
      view.setUint32(table + count * 8 + 4, start + recordBytes, true);
      count += 1;
      start += recordBytes;
      this.#next -= recordBytes;
      this.#membersEnd = 0;
      this.#key = undefined;
    }
    if (this.isInTrailer) requireZeros(bytes.subarray(start, to), start);
    return count;
  }

  complete(recordStart: number, to: number): never {
    if (this.#next !== to - recordStart)
      throw new BadRecord(recordStart, 'begins a sample that is not complete: the tar file is truncated');
    throw new BadRecord(
      to,
      'is the end of a tar file without the zero blocks that should end it: it is truncated; if you know that it is whole, append them with `truncate -s +1024`',
    );
  }

  /** Looks at the header at `#next`. Returns the bytes of the record if it ends before that header; 0: it goes on. */
  #step(record: Uint8Array, address: number): number | 'more' {
    const rest = record.subarray(this.#next);
    const at = address + this.#next;
    const block = rest.subarray(0, BLOCK_BYTES);
    if (isZeroBlock(block)) {
      if (this.#overrides !== undefined) throw new BadRecord(at, 'is a zero block where a member was announced');
      this.isInTrailer = true;
      return this.#next;
    }
    const header = parseTarHeader(block);
    if (typeof header === 'string') throw new BadRecord(at, header);
    if (isExtendedHeader(header)) return this.#takeExtendedHeader(header, rest, at);
    if (header.type === '5') {
      this.#goBehind(BLOCK_BYTES, at, MOST_BYTES_BETWEEN);
      return 0;
    }
    const key = this.#keyOf(header, at);
    // What precedes the member goes with it; the header is looked at again in the next record.
    if (this.#key !== undefined && key !== this.#key) return this.#membersEnd;
    const headerBytes = this.#headerBytesOf(header, rest);
    if (headerBytes === undefined) return 'more';
    this.#key = key;
    this.#goBehind(headerBytes + storedDataBytes(header, this.#overrides), at, 0);
    this.#membersEnd = this.#next;
    return 0;
  }

  #takeExtendedHeader(header: TarHeader, rest: Uint8Array, at: number): number | 'more' {
    if (header.type === 'g') {
      throw new BadRecord(at, 'is a global pax header after the first member; it would apply to all samples');
    }
    const problem = problemOfExtendedHeader(header);
    if (problem !== undefined) throw new BadRecord(at, problem);
    const noteBytes = BLOCK_BYTES + storedDataBytes(header);
    if (rest.byteLength < noteBytes) return 'more';
    const overrides = parseExtendedHeader(
      header,
      Buffer.from(rest.subarray(BLOCK_BYTES, BLOCK_BYTES + header.dataBytes)),
    );
    if (typeof overrides === 'string') throw new BadRecord(at, overrides);
    const before = this.#overrides;
    this.#goBehind(noteBytes, at, MOST_BYTES_BETWEEN);
    this.#overrides = { ...before, ...overrides };
    return 0;
  }

  /** @param moreBytes allowed beyond the longest record, for bytes that may belong to the next one. */
  #goBehind(byteLength: number, at: number, moreBytes: number): void {
    this.#overrides = undefined;
    this.#mapBytes = 0;
    this.#next += byteLength;
    if (this.#next <= this.#mostBytes + moreBytes) return;
    throw new BadRecord(
      at,
      `begins a member of ${byteLength} bytes, which makes its sample longer than ${RECORD_LIMIT_ADVICE}`,
    );
  }

  /**
   * Returns the length with the blocks in which the map of a sparse file goes on; undefined when some of them are
   * missing.
   */
  #headerBytesOf({ continuesSparseMap }: TarHeader, bytes: Uint8Array): number | undefined {
    let byteLength = Math.max(BLOCK_BYTES, this.#mapBytes);
    for (let goesOn = continuesSparseMap; goesOn; byteLength += BLOCK_BYTES) {
      if (bytes.byteLength < byteLength + BLOCK_BYTES) {
        this.#mapBytes = byteLength;
        return undefined;
      }
      goesOn = bytes[byteLength + 504] !== 0;
    }
    return byteLength;
  }

  #keyOf(header: TarHeader, at: number): string {
    const name = this.#overrides?.name ?? header.name;
    const shown = JSON.stringify(Buffer.from(name, 'latin1').toString());
    if (header.type === '1') {
      throw new BadRecord(
        at,
        `is the header of ${shown}, a hard link to another member, which the shuffle may move after it or to another shard; make the tar file with --hard-dereference`,
      );
    }
    const key = keyOfName(name);
    if (key !== undefined) return key;
    throw new BadRecord(
      at,
      `is the header of ${shown}, whose base name has nothing before a dot; expected the key of a sample, as in 0001.jpg`,
    );
  }
}

function requireZeros(bytes: Uint8Array, address: number): void {
  const index = bytes.findIndex((byte) => byte !== 0);
  if (index < 0) return;
  throw new BadRecord(address + index, 'lies after the zero blocks that end a tar file; expected the end');
}
