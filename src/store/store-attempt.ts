/**
 * One attempt at adding pile sets to a store. While it lasts, a mark, a file in the directory of the pile sets, says who
 * makes it. So nobody takes its pile sets, which no manifest names yet, for left-overs.
 */
import { join } from 'node:path';
import { afterFailure, thenAlways } from '../floor/cleanup.js';
import { yieldAndCheckAbortAt } from '../floor/pause.js';
import { closeFile, createOwnFile, removeFile } from '../io/files.js';
import { listNames, statPath } from '../io/paths.js';
import {
  judgeNames,
  judgeOwnerAmongHosts,
  type OwnedName,
  OwnerLease,
  type OwnerState,
} from '../machine/file-owner.js';
import { pileSetDirectoryOf } from './store-files.js';
import { findNewestManifest, pileSetsNamedBy, readNewestManifest } from './store-manifest.js';
import type { StoreSnapshot } from './store-snapshot.js';

const KIND = 'writing';
const PILE_SET_FILE = /^(?<pileSet>[a-z0-9-]+-(?<attempt>[0-9a-f]{16}))\.(index|\d+\.pile)$/;

/** Undefined for files that belong to no pile set. */
function pileSetOfFile(fileName: string): { readonly pileSet: string; readonly attempt: string } | undefined {
  const { pileSet, attempt } = PILE_SET_FILE.exec(fileName)?.groups ?? {};
  return pileSet === undefined || attempt === undefined ? undefined : { pileSet, attempt };
}

/** Finds the marks of writers among these names. The token of the owner of a mark is the name of the attempt. */
export function findWriterMarks(fileNames: readonly string[]): OwnedName[] {
  return judgeNames(KIND, fileNames, judgeOwnerAmongHosts);
}

export class StoreAttempt {
  /** 16 hex digits, at the end of the names of all its pile sets: `set-000012-NAME`. */
  readonly name: string;
  readonly #storeDirectory: string;
  readonly #mark: OwnerLease;

  private constructor(storeDirectory: string) {
    this.#storeDirectory = storeDirectory;
    this.#mark = new OwnerLease(KIND, pileSetDirectoryOf(storeDirectory));
    this.name = this.#mark.token;
  }

  static begin({ directory }: StoreSnapshot): StoreAttempt {
    const attempt = new StoreAttempt(directory);
    try {
      closeFile(createOwnFile(attempt.#mark.path, 'store'));
    } catch (error) {
      // The file may exist nevertheless.
      const takeBack = () => removeFile(attempt.#mark.path, 'store');
      throw afterFailure(error, () => thenAlways(takeBack, () => attempt.#mark.release()));
    }
    return attempt;
  }

  /** Ends an attempt whose pile sets are part of the store, or gone. */
  end(): void {
    this.#mark.release();
    removeFile(this.#mark.path, 'store');
  }

  /**
   * Ends an attempt, and removes the pile sets that it did not commit. A commit that failed may have been done all the same,
   * so pile sets that the store names stay.
   */
  abandon(): void {
    const directory = pileSetDirectoryOf(this.#storeDirectory);
    const removeAll = () => {
      const committed = pileSetsNamedBy(readNewestManifest(this.#storeDirectory));
      for (const name of listNames(directory, 'store')) {
        const file = pileSetOfFile(name);
        if (file?.attempt === this.name && !committed.has(file.pileSet)) removeFile(join(directory, name), 'store');
      }
      removeFile(this.#mark.path, 'store');
    };
    thenAlways(removeAll, () => this.#mark.release());
  }
}

/** The attempts that have files in a store: those committed long ago, those at work, and those that left files behind. */
export interface FoundAttempt {
  /** The paths of its files, by the names of its pile sets. */
  readonly files: Map<string, string[]>;
  mark: string | undefined;
  /**
   * The owner of the mark. Undefined: there is no mark, so the attempt has ended, with a commit or with nothing left
   * behind.
   */
  owner: OwnerState | undefined;
}

/**
 * Lists the attempts whose files or marks are there. Whoever reads the manifest after this finds the commits of all attempts
 * without a mark.
 */
export async function listAttempts(directory: string, signal: AbortSignal | undefined): Promise<FoundAttempt[]> {
  const attempts = new Map<string, FoundAttempt>();
  const attemptOf = (name: string): FoundAttempt => {
    const attempt = attempts.get(name) ?? { files: new Map(), mark: undefined, owner: undefined };
    attempts.set(name, attempt);
    return attempt;
  };
  for (const [i, name] of listNames(directory, 'store').entries()) {
    await yieldAndCheckAbortAt(i, signal);
    const file = pileSetOfFile(name);
    if (file === undefined) continue;
    const { files } = attemptOf(file.attempt);
    files.set(file.pileSet, [...(files.get(file.pileSet) ?? []), join(directory, name)]);
  }
  // The directory is listed again: a mark is made before the files of its attempt, so the mark of no such file is missed.
  for (const { name, owner, state } of findWriterMarks(listNames(directory, 'store'))) {
    const attempt = attemptOf(owner.token);
    attempt.mark = join(directory, name);
    attempt.owner = state;
  }
  return [...attempts.values()];
}

/**
 * Pile sets that belong to no state of the store and to no writer. A writer has a mark until its pile sets are committed or
 * gone, so a manifest must have named these: it is lost.
 */
export interface UnownedPileSets {
  readonly pileSets: number;
  /** Bytes of their files. */
  readonly bytes: number;
  /** The time when the newest of these files was written: ISO 8601, in UTC; null if there is none. */
  readonly newest: string | null;
}

/** @param named by the manifest, which was read after the attempts. */
export function unownedAmong(attempts: readonly FoundAttempt[], named: ReadonlySet<string>): Map<string, string[]> {
  const ownerless = attempts.filter(({ owner }) => owner === undefined);
  return new Map(ownerless.flatMap(({ files }) => [...files].filter(([pileSet]) => !named.has(pileSet))));
}

export function summarizeUnowned(unowned: ReadonlyMap<string, readonly string[]>): UnownedPileSets {
  let [pileSets, bytes, newest] = [0, 0, 0];
  for (const paths of unowned.values()) {
    // Those that are gone were committed, removed and deleted while the directory was listed.
    const stats = paths.flatMap((path) => statPath(path, 'store') ?? []);
    if (stats.length > 0) pileSets += 1;
    for (const { size, mtimeMs } of stats) {
      bytes += Number(size);
      newest = Math.max(newest, Number(mtimeMs));
    }
  }
  return { pileSets, bytes, newest: pileSets === 0 ? null : new Date(newest).toISOString() };
}

export async function findUnowned(
  { directory }: StoreSnapshot,
  signal: AbortSignal | undefined,
): Promise<UnownedPileSets> {
  const attempts = await listAttempts(pileSetDirectoryOf(directory), signal);
  const { manifest } = findNewestManifest(directory);
  return summarizeUnowned(unownedAmong(attempts, pileSetsNamedBy(manifest)));
}

/** `3 pile sets of 1200 bytes (the newest of 2026-01-31T12:00:00.000Z)` */
export function describeUnowned({ pileSets, bytes, newest }: UnownedPileSets): string {
  return `${pileSets} pile ${pileSets === 1 ? 'set' : 'sets'} of ${bytes} bytes (the newest of ${newest})`;
}
