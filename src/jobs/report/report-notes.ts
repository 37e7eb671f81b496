/**
 * The sample of a report in the job directory, so that the report of a resumed job has the records that earlier attempts
 * read and wrote. Each attempt adds a file of lines, of which the last one may be cut off by a kill. The output does not
 * depend on them: what cannot be written or read is left out.
 */
import { join } from 'node:path';
import type { WrittenRecord } from '../../../workers/piles/written-ranks.js';
import type { TakenRecord } from '../../../workers/read/record-sample.js';
import { closeFile, createOwnFile, type OpenFile, writeAt } from '../../io/files.js';
import { listNames } from '../../io/paths.js';
import { readSmallFile } from '../../io/small-file.js';
import { SAMPLE_NAME } from '../../job-directory/job-paths.js';

export interface NotedRecords {
  readonly taken: readonly TakenRecord[];
  readonly written: readonly WrittenRecord[];
}

/** Beyond what any job notes. */
const MOST_BYTES = 256 * 2 ** 20;

export class ReportNotes {
  /** Undefined: nothing more can be written. */
  #file: OpenFile | undefined;
  #position = 0;

  private constructor(file: OpenFile | undefined) {
    this.#file = file;
  }

  /** @returns the notes, and what earlier attempts noted; undefined: there was none, or it made no report. */
  static open(jobDirectory: string): { readonly notes: ReportNotes; readonly earlier: NotedRecords | undefined } {
    try {
      const names = listNames(jobDirectory, 'temp').filter((name) => name.startsWith(SAMPLE_NAME));
      const lines = names.flatMap((name) => linesOf(join(jobDirectory, name)));
      const earlier = {
        taken: lines.flatMap(({ taken }) => taken.map(takenOf)),
        written: lines.flatMap(({ written }) => written.map(writtenOf)),
      };
      const file = createOwnFile(join(jobDirectory, `${SAMPLE_NAME}${names.length}`), 'temp');
      return { notes: new ReportNotes(file), earlier: names.length === 0 ? undefined : earlier };
    } catch {
      return { notes: new ReportNotes(undefined), earlier: undefined };
    }
  }

  add({ taken, written }: NotedRecords): void {
    if (this.#file === undefined || (taken.length === 0 && written.length === 0)) return;
    const line = Buffer.from(
      `${JSON.stringify({ taken, written }, (_, value) => (typeof value === 'bigint' ? value.toString(16) : value))}\n`,
    );
    try {
      writeAt(this.#file, line, 0, line.byteLength, this.#position);
      this.#position += line.byteLength;
    } catch {
      this.close();
    }
  }

  close(): void {
    if (this.#file !== undefined) closeFile(this.#file);
    this.#file = undefined;
  }
}

type AsText<T> = { readonly [Name in keyof T]: T[Name] extends number ? number : string };

interface NotedLine {
  readonly taken: readonly AsText<Required<TakenRecord>>[];
  readonly written: readonly AsText<Required<WrittenRecord>>[];
}

function linesOf(path: string): readonly NotedLine[] {
  const text = Buffer.from(readSmallFile(path, 'temp', MOST_BYTES) ?? []).toString();
  // What is behind the last newline was cut off.
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}

function takenOf({ key, nextKey, ...place }: NotedLine['taken'][number]): TakenRecord {
  return { ...place, ...keysOf(key, nextKey) };
}

function writtenOf({ key, nextKey, ...place }: NotedLine['written'][number]): WrittenRecord {
  return { ...place, ...keysOf(key, nextKey) };
}

function keysOf(key: string, nextKey: string | undefined) {
  return { key: BigInt(`0x${key}`), nextKey: nextKey === undefined ? undefined : BigInt(`0x${nextKey}`) };
}
