/**
 * The checksum of an object that is read in ranges, in any order and by several readers. CRCs of ranges that follow each
 * other are joined, so that nothing is read again; bytes that come a second time are not added again. What is compared
 * is the checksum that the service has of the whole object, or of its parts of equal size.
 */
import type { Crc, SizedCrc } from './crc.js';

/** Bytes of one part that were read, without a gap. */
interface Run {
  readonly start: number;
  end: number;
  crc: bigint;
}

export interface ServiceChecksum {
  readonly kind: Crc;
  /** Checksum in the text of the service. */
  readonly text: string;
  /** Byte length of each part but the last; that of the object if the checksum is that of the whole. */
  readonly partBytes: number;
}

export class ReadChecksum {
  readonly #known: ServiceChecksum;
  readonly #byteLength: number;
  /** Runs in the order of their bytes. */
  readonly #runs: Run[] = [];
  #leftBytes: number;

  constructor(known: ServiceChecksum, byteLength: number) {
    this.#known = known;
    this.#byteLength = byteLength;
    this.#leftBytes = byteLength;
  }

  /** @returns whether the object is what the service says; undefined if bytes of it were not read yet. */
  add(start: number, bytes: Uint8Array): boolean | undefined {
    const end = start + bytes.byteLength;
    for (let at = start; at < end; ) {
      const next = this.#runs.findIndex((run) => run.end > at);
      const following = this.#runs[next];
      if (following !== undefined && following.start <= at) at = following.end;
      else {
        const stop = Math.min(end, following?.start ?? end, this.#endOfPart(at));
        this.#insert(next < 0 ? this.#runs.length : next, at, bytes.subarray(at - start, stop - start));
        at = stop;
      }
    }
    if (this.#leftBytes > 0) return undefined;
    // Another pass reads all of it again.
    this.#leftBytes = this.#byteLength;
    return this.#known.kind.isOf(this.#known.text, this.#runs.splice(0).map(sizedCrcOf));
  }

  #endOfPart(position: number): number {
    const { partBytes } = this.#known;
    return Math.min(this.#byteLength, (Math.floor(position / partBytes) + 1) * partBytes);
  }

  #insert(index: number, start: number, bytes: Uint8Array): void {
    const end = start + bytes.byteLength;
    this.#leftBytes -= bytes.byteLength;
    const isSamePart = (position: number) => position % this.#known.partBytes !== 0;
    const { kind } = this.#known;
    const [before, after] = [this.#runs[index - 1], this.#runs[index]];
    let run = before;
    if (run?.end === start && isSamePart(start)) {
      run.crc = kind.add(bytes, run.crc);
      run.end = end;
    } else {
      run = { start, end, crc: kind.add(bytes, 0n) };
      this.#runs.splice(index, 0, run);
    }
    if (after?.start !== end || !isSamePart(end)) return;
    run.crc = kind.joined([run, after].map(sizedCrcOf));
    run.end = after.end;
    this.#runs.splice(this.#runs.indexOf(after), 1);
  }
}

function sizedCrcOf(run: Run): SizedCrc {
  return { crc: run.crc, byteLength: run.end - run.start };
}
