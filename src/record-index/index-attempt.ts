/**
 * An index while it is made: a file beside the final one, whose name says which process makes it. So the next process
 * that makes an index in the directory can remove what killed ones left there.
 */
import { dirname } from 'node:path';
import { crc32 } from 'node:zlib';
import { UsageError } from '../errors.js';
import { afterFailure, thenAlways, thenAlwaysAsync } from '../floor/cleanup.js';
import { readHead } from '../io/atomic-files.js';
import { closeFile, type OpenFile, openStagedOutput, removeFile, writeAt } from '../io/files.js';
import { FIRST_BYTES_OF_RECORD_INDEXES, INDEX_ATTEMPT_KIND } from '../io/own-files.js';
import { realPathOf, statPath } from '../io/paths.js';
import { copyPermissions, moveIntoPlace, syncOpenFile, syncPath } from '../io/rename-and-sync.js';
import { OwnerLease, removeLeftOver } from '../machine/file-owner.js';
import { renameObstacles } from '../machine/renames.js';
import type { WrittenBlocks } from './block-writer.js';
import {
  BLOCK_ENTRY_BYTES,
  blockEntry,
  CELL_BYTES,
  encodeHeader,
  encodeStretches,
  type IndexDescription,
  type StretchEntry,
} from './index-layout.js';

interface IndexTables {
  /** The stretches have the order of the file. */
  readonly stretches: readonly WrittenBlocks[];
  readonly cellCount: number;
  readonly blocksEnd: number;
  readonly description: IndexDescription;
}

export class IndexAttempt {
  readonly path: string;
  readonly file: OpenFile;
  readonly #target: string;
  readonly #lease: OwnerLease;
  #isOpen = true;

  /** Begins an attempt, and removes attempts of ended processes from the directory. */
  constructor(target: string) {
    requireReplaceable(target);
    removeLeftOver(INDEX_ATTEMPT_KIND, dirname(target), 'output');
    this.#target = target;
    // In the directory of the index, so that it can be renamed.
    const lease = new OwnerLease(INDEX_ATTEMPT_KIND, dirname(target));
    this.#lease = lease;
    this.path = lease.path;
    try {
      this.file = openStagedOutput(lease.path);
    } catch (error) {
      throw afterFailure(error, () => lease.release());
    }
  }

  /** Completes the index, and makes it durable. @returns its size in bytes. */
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
      for (let at = 0; at < table.byteLength; at += BLOCK_ENTRY_BYTES) {
        blockEntry.seal(table, at, blockCount);
        blockCount += 1;
      }
      write(table);
      recordCount += stretch.recordCount;
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
    await copyPermissions(this.path, this.#target);
    return place;
  }

  /** Replaces an existing index. */
  async commit(): Promise<void> {
    this.#close();
    moveIntoPlace(this.path, this.#target);
    await syncPath(dirname(this.#target));
  }

  /** Removes the attempt; a committed index stays. */
  async release(): Promise<void> {
    const remove = () => {
      removeFile(this.path, 'output');
    };
    await thenAlwaysAsync(
      async () => this.#close(),
      () => thenAlways(remove, () => this.#lease.release()),
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
      `${target} exists and is not ${what}; remove it, or choose another path with \`index\``,
      'ERR_OUTPUT_EXISTS',
    );
  if (!stat.isFile()) throw refuse('a regular file');
  const { byteLength } = FIRST_BYTES_OF_RECORD_INDEXES;
  if (!readHead(target, 'output', byteLength).equals(FIRST_BYTES_OF_RECORD_INDEXES)) throw refuse('a record index');
  const obstacle = renameObstacles()(realPathOf(target, 'output'));
  if (obstacle !== undefined) throw new UsageError(`${target} cannot be replaced: ${obstacle}`, 'ERR_OUTPUT_PLACE');
}
