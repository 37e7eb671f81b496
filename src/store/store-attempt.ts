/**
 * One attempt at adding pile sets to a store. While it lasts, a mark, a file in the directory of the pile sets, says who
 * makes it. So nobody takes its pile sets, which no manifest names yet, for left-overs.
 */
import { join } from 'node:path';
import { afterFailure, thenAlways } from '../cleanup.js';
import { closeFile, createOwnFile, removeFile } from '../io/files.js';
import { listNames } from '../io/paths.js';
import {
  type FileOwner,
  formatOwnerName,
  holdOn,
  identifyOwner,
  judgeNames,
  judgeOwnerAmongHosts,
  letGoOf,
  type OwnedName,
} from '../machine/file-owner.js';
import { readNewestManifest } from './newest-manifest.js';
import { pileSetDirectoryOf } from './store-files.js';
import { pileSetsNamedBy } from './store-manifest.js';
import type { StoreSnapshot } from './store-snapshot.js';

const KIND = 'writing';
const PILE_SET_FILE = /^(?<pileSet>[a-z0-9-]+-(?<attempt>[0-9a-f]{16}))\.(index|\d+\.pile)$/;

/** Undefined for files that belong to no pile set. */
export function pileSetOfFile(fileName: string): { readonly pileSet: string; readonly attempt: string } | undefined {
  const { pileSet, attempt } = PILE_SET_FILE.exec(fileName)?.groups ?? {};
  return pileSet === undefined || attempt === undefined ? undefined : { pileSet, attempt };
}

/** The token of a mark's owner is the name of the attempt. */
export function findMarks(fileNames: readonly string[]): OwnedName[] {
  return judgeNames(KIND, fileNames, judgeOwnerAmongHosts);
}

export class StoreAttempt {
  readonly #storeDirectory: string;
  readonly #owner: FileOwner;

  private constructor(storeDirectory: string, owner: FileOwner) {
    this.#storeDirectory = storeDirectory;
    this.#owner = owner;
  }

  static begin({ directory }: StoreSnapshot): StoreAttempt {
    const attempt = new StoreAttempt(directory, identifyOwner());
    holdOn(attempt.#owner);
    try {
      closeFile(createOwnFile(attempt.#markPath, 'store'));
    } catch (error) {
      // The file may exist nevertheless.
      const takeBack = () => removeFile(attempt.#markPath, 'store');
      throw afterFailure(error, () => thenAlways(takeBack, () => letGoOf(attempt.#owner)));
    }
    return attempt;
  }

  /** 16 hex digits, at the end of the names of all its pile sets: `set-000012-NAME`. */
  get name(): string {
    return this.#owner.token;
  }

  get #markPath(): string {
    return join(pileSetDirectoryOf(this.#storeDirectory), formatOwnerName(KIND, this.#owner));
  }

  /** Ends an attempt whose pile sets are part of the store, or gone. */
  end(): void {
    letGoOf(this.#owner);
    removeFile(this.#markPath, 'store');
  }

  /**
   * Ends an attempt, and removes the pile sets that it did not commit. A commit that failed may have been done all the same,
   * so pile sets that the store names stay.
   */
  abandon(): void {
    const directory = pileSetDirectoryOf(this.#storeDirectory);
    const removeAll = () => {
      const kept = pileSetsNamedBy(readNewestManifest(this.#storeDirectory));
      for (const name of listNames(directory, 'store')) {
        const file = pileSetOfFile(name);
        if (file?.attempt === this.name && !kept.has(file.pileSet)) removeFile(join(directory, name), 'store');
      }
      removeFile(this.#markPath, 'store');
    };
    thenAlways(removeAll, () => letGoOf(this.#owner));
  }
}
