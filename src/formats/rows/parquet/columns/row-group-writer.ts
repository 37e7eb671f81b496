/**
 * Makes row groups of rows. Rows gather in a small part of the column memory, are split into their leaves a batch at a
 * time, and become pages (leaf-encoder.ts), which wait compressed until the row group ends: a column chunk lies in one
 * piece. The bytes follow from the rows and the spec alone, however they come and whatever the memory.
 */
import { UsageError, VerificationError } from '../../../../errors.js';
import type { JobControl } from '../../../../floor/job-control.js';
import { inPhase } from '../../../../floor/phase-clock.js';
import { copySharedBytes } from '../../../../io/shared-bytes.js';
import type { EncodedMember } from '../../../encoded-members.js';
import { FinishedPages, type PageBlocks, type SpillPlace } from '../../finished-pages.js';
import { nameOfLeaf } from '../leaf.js';
import { encodeDescription } from '../row-group-description.js';
import type { TableSchema } from '../schema.js';
import type { TableWriteSpec } from '../table-output.js';
import { valueOrdersOf } from '../value-order.js';
import { type ColumnMemory, MOST_REGION_BYTES, type Region } from './column-memory.js';
import { GrownRegion } from './grown-region.js';
import { LeafEncoder, type SharedLeafRegions } from './leaf-encoder.js';
import { openPageCompressor } from './page-compressors.js';
import { pageBytesOf, STAGE_BYTES } from './page-sizes.js';

const PLACES_BYTES = 4 * 64;

export interface RowGroupWriterParts {
  readonly memory: ColumnMemory;
  readonly schema: TableSchema;
  readonly spec: TableWriteSpec;
  readonly control: JobControl;
  /** The blocks in which its finished pages wait. */
  readonly blocks: PageBlocks;
  /**
   * Makes the place of finished pages of a row group when the job has no spare memory left. Absent: that is an error.
   */
  readonly newSpillPlace?: (() => SpillPlace) | undefined;
}

export class RowGroupWriter {
  readonly #parts: RowGroupWriterParts;
  readonly #sharedRegions: SharedLeafRegions;
  readonly #leaves: readonly LeafEncoder[];
  /** The table of `EncodedLeaf`, and the places in the rows of a batch. */
  readonly #table: Region;
  /** The rows that are not split yet. */
  readonly #stage: GrownRegion;
  #stagedBytes = 0;
  #rowBytes = 0;
  #rows = 0;
  #pages: FinishedPages;

  /** @throws UsageError ERR_MEMORY_BUDGET */
  constructor(parts: RowGroupWriterParts) {
    const { memory, schema, spec, control, blocks, newSpillPlace } = parts;
    this.#parts = parts;
    const region = () => new GrownRegion(memory);
    this.#sharedRegions = { memory, compressor: openPageCompressor(memory, spec), area: region(), scratch: region() };
    this.#stage = region();
    this.#pages = new FinishedPages(control, blocks, newSpillPlace);
    const leafBytes = memory.wasm.encodedLeafBytes();
    const tableBytes = schema.leaves.length * leafBytes + PLACES_BYTES;
    const table = memory.allocate(tableBytes);
    if (table === undefined)
      throw new UsageError(
        `no memory for a table of ${schema.leaves.length} columns; raise \`memoryBytes\``,
        'ERR_MEMORY_BUDGET',
      );
    this.#table = table;
    memory.wasm.clear(table.address, tableBytes);
    const pageBytes = pageBytesOf(schema.leaves.length);
    const orders = valueOrdersOf(schema);
    this.#leaves = schema.leaves.map((leaf, i) => {
      const address = table.address + PLACES_BYTES + i * leafBytes;
      const carried = spec.dictionaries?.find((dictionary) => dictionary.leaf === i);
      return new LeafEncoder(this.#sharedRegions, address, leaf, orders[i] ?? 'none', pageBytes, carried);
    });
    memory.wasm.findRuns(table.address + PLACES_BYTES, this.#leaves.length);
  }

  /** Bytes of the rows since the last row group ended. */
  get rowBytes(): number {
    return this.#rowBytes;
  }

  /**
   * The next rows of the row group. A row may begin in one piece and end in a later one.
   * @throws UsageError ERR_MEMORY_BUDGET when a row does not fit the column memory.
   */
  add(bytes: Uint8Array): void {
    const { memory } = this.#sharedRegions;
    this.#stage.ensure(STAGE_BYTES);
    this.#rowBytes += bytes.byteLength;
    for (let done = 0; done < bytes.byteLength; ) {
      if (this.#stagedBytes === this.#stage.byteLength) this.#split(false);
      const piece = bytes.subarray(done, done + this.#stage.byteLength - this.#stagedBytes);
      copySharedBytes(piece, memory.bytes, this.#stage.address + this.#stagedBytes);
      this.#stagedBytes += piece.byteLength;
      done += piece.byteLength;
    }
  }

  /** Splits all whole batches, and makes room for more bytes. */
  #split(isLast: boolean): void {
    const { memory } = this.#sharedRegions;
    const { wasm } = memory;
    wasm.beginSplitting(this.#table.address + PLACES_BYTES, this.#leaves.length, this.#table.address);
    let done = 0;
    while (done < this.#stagedBytes) {
      const from = this.#stage.address + done;
      const end = wasm.walkBatch(from, this.#stage.address + this.#stagedBytes, isLast) >>> 0;
      if (end === 0) break;
      this.#splitBatch();
      done = end - this.#stage.address;
    }
    const rest = this.#stagedBytes - done;
    const faulty = this.#parts.schema.leaves[wasm.faultyLeaf.value];
    if (faulty !== undefined)
      throw new VerificationError(`row ${this.#rows} of a row group does not fit the schema in ${nameOfLeaf(faulty)}`);
    if (isLast && rest > 0) throw new VerificationError(`the last row of a row group is cut off after ${rest} bytes`);
    wasm.copy(this.#stage.address, this.#stage.address + done, rest);
    this.#stagedBytes = rest;
    // A batch is longer than the stage.
    if (!isLast && done === 0) this.#growStage(rest);
    else if (rest < STAGE_BYTES) this.#stage.trim(2 * STAGE_BYTES, rest, STAGE_BYTES);
  }

  /** Grows by a part of the stage at least, so that a long row is not copied too often. */
  #growStage(usedBytes: number): void {
    const { byteLength } = this.#stage;
    const wanted = Math.min(Math.ceil((17 / 16) * byteLength), MOST_REGION_BYTES);
    this.#stage.ensure(Math.max(byteLength + 1, wanted), usedBytes, 2 * byteLength);
  }

  #splitBatch(): void {
    const { memory, scratch } = this.#sharedRegions;
    const { wasm } = memory;
    for (let next = 0; ; ) {
      next = wasm.splitBatch(next, scratch.address, scratch.byteLength);
      const leaf = this.#leaves[next];
      if (leaf === undefined) break;
      inPhase('encode', () => leaf.makeReady(this.#rows, this.#pages));
    }
    this.#rows += wasm.rowsOfBatch();
  }

  /** Ends the row group, which must have a row. The next `add` begins another one. */
  end(): EncodedMember {
    this.#split(true);
    const [rows, pages] = [this.#rows, this.#pages];
    const chunks = inPhase('encode', () => this.#leaves.map((leaf) => leaf.endChunk(rows, pages)));
    const description = encodeDescription({ rows, chunks: chunks.map((chunk) => chunk.description) });
    const ordered = chunks.flatMap((chunk) => chunk.pages);
    this.#rowBytes = 0;
    this.#rows = 0;
    this.#pages = new FinishedPages(this.#parts.control, this.#parts.blocks, this.#parts.newSpillPlace);
    return {
      // The pages have taken their memory, or lie in a file.
      memoryBytes: 0,
      byteLength: ordered.reduce((sum, page) => sum + page.byteLength, description.byteLength),
      description,
      *pieces() {
        yield* pages.read(ordered);
        yield description;
      },
      release: () => pages.release(),
    };
  }

  /** Gives all memory back, also that of a row group that did not end. */
  close(): void {
    this.#pages.release();
    for (const leaf of this.#leaves) leaf.close();
    this.#sharedRegions.compressor.close();
    for (const region of [this.#sharedRegions.area, this.#sharedRegions.scratch, this.#stage]) region.release();
    this.#sharedRegions.memory.release(this.#table);
  }
}
