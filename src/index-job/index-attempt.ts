/**
 * An index that is being made: a file of a name that no other attempt has, until all of it is there and durable.
 */
import { dirname } from 'node:path';
import { crc32 } from 'node:zlib';
import { UsageError } from '../errors.js';
import { moveIntoPlace, syncOpenFile, syncParent } from '../io/durable.js';
import { holdOn, identifyOwner, letGoOf } from '../io/file-owner.js';
import { closeFile, type OpenFile, openStagedOutput, removeFile, writeAt } from '../io/files.js';
import type { FileOwner } from '../io/owner-name.js';
import { statPath } from '../io/paths.js';
import { readHead } from '../io/small-file.js';
import type { WrittenBlocks } from '../record-index/block-writer.js';
import type { IndexDescription } from '../record-index/index-description.js';
import {
  BLOCK_ENTRY_BYTES,
  encodeHeader,
  encodeStretches,
  FIRST_BYTES_OF_RECORD_INDEXES,
  type StretchEntry,
  sealBlockEntries,
} from '../record-index/index-layout.js';
import { CELL_BYTES } from '../record-index/member-cells.js';
import { afterFailure, thenAlways, thenAlwaysAsync } from '../then-always.js';
import { indexAttemptPath, removeLeftOverAttempts } from './left-over-attempts.js';

/** What goes behind the blocks. */
export interface IndexTables {
  /** Of the parts of the file, in the order of the file. */
  readonly stretches: readonly WrittenBlocks[];
  readonly cellCount: number;
  /** Where the blocks end. */
  readonly blocksEnd: number;
  readonly description: IndexDescription;
}

export class IndexAttempt {
  readonly path: string;
  readonly file: OpenFile;
  readonly #target: string;
  readonly #owner: FileOwner;
  #isOpen = true;

  private constructor(target: string, owner: FileOwner) {
    this.#target = target;
    this.#owner = owner;
    this.path = indexAttemptPath(dirname(target), owner);
    this.file = openStagedOutput(this.path);
  }

  /**
   * Also removes what attempts of processes that are gone have left beside it.
   * @throws UsageError ERR_OUTPUT_EXISTS when something that is no index has the name.
   */
  static begin(target: string): IndexAttempt {
    requireReplaceable(target);
    removeLeftOverAttempts(dirname(target));
    const owner = identifyOwner();
    holdOn(owner);
    try {
      return new IndexAttempt(target, owner);
    } catch (error) {
      throw afterFailure(error, () => letGoOf(owner));
    }
  }

  /** Writes tables and header, and makes the index durable. @returns its size in bytes. */
  async complete({ stretches, cellCount, blocksEnd, description }: IndexTables): Promise<number> {
    let place = blocksEnd;
    const write = (bytes: Uint8Array) => {
      writeAt(this.file, bytes, 0, bytes.byteLength, place);
      place += bytes.byteLength;
    };
    const entries: StretchEntry[] = [];
    let recordCount = 0;
    let blockCount = 0;
    for (const stretch of stretches) {
      if (stretch.recordCount === 0) continue;
      entries.push({ firstRecord: recordCount, firstBlock: blockCount });
      const table = Buffer.from(stretch.entries);
      sealBlockEntries(table, blockCount);
      write(table);
      recordCount += stretch.recordCount;
      blockCount += table.byteLength / BLOCK_ENTRY_BYTES;
    }
    const stretchTable = encodeStretches(entries);
    const text = Buffer.from(JSON.stringify(description));
    write(stretchTable);
    write(text);
    const header = encodeHeader({
      recordCount,
      blockCount,
      blockTableAt: blocksEnd,
      cellCount,
      cellBytes: CELL_BYTES,
      stretchCount: entries.length,
      descriptionBytes: text.byteLength,
      stretchTableCrc: crc32(stretchTable),
      descriptionCrc: crc32(text),
    });
    writeAt(this.file, header, 0, header.byteLength, 0);
    await syncOpenFile(this.file);
    return place;
  }

  /** Gives the index its name, in place of a former one. */
  async commit(): Promise<void> {
    this.#close();
    moveIntoPlace(this.path, this.#target);
    await syncParent(this.#target);
  }

  /** Removes what was written; one that was committed stays. */
  async release(): Promise<void> {
    const remove = () => {
      removeFile(this.path, 'output');
    };
    await thenAlwaysAsync(
      async () => this.#close(),
      () => thenAlways(remove, () => letGoOf(this.#owner)),
    );
  }

  #close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    closeFile(this.file);
  }
}

function requireReplaceable(target: string): void {
  const stat = statPath(target, 'output');
  if (stat === undefined) return;
  const refuse = (what: string) =>
    new UsageError(
      `${target} exists and is ${what}; remove it, or name another place with \`index\``,
      'ERR_OUTPUT_EXISTS',
    );
  if (!stat.isFile()) throw refuse('no regular file');
  const { byteLength } = FIRST_BYTES_OF_RECORD_INDEXES;
  if (!readHead(target, 'output', byteLength).equals(FIRST_BYTES_OF_RECORD_INDEXES)) throw refuse('no record index');
}
