/**
 * One attempt at adding pile sets to a store. As long as it lasts, a file in the directory of the pile sets says who is
 * at it, so that nobody takes its pile sets, which no manifest names yet, for something that was left over.
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
  letGoOf,
  parseOwnerName,
} from '../machine/file-owner.js';
import { pileSetsNamedBy, readNewestManifest } from './manifest.js';
import { pileSetDirectoryOf } from './store-files.js';
import type { StoreSnapshot } from './store-snapshot.js';

const KIND = 'writing';
const PILE_SET_FILE = /^(?<pileSet>[a-z0-9-]+-(?<attempt>[0-9a-f]{16}))\.(index|\d+\.pile)$/;

/** The owner of the attempt that a file says is under way, whose token is the attempt's name; undefined for other files. */
export function ownerOfAttempt(fileName: string): FileOwner | undefined {
  return parseOwnerName(KIND, fileName);
}

/** The pile set that a file is of, and the attempt that made it; undefined for other files. */
export function pileSetOfFile(fileName: string): { readonly pileSet: string; readonly attempt: string } | undefined {
  const { pileSet, attempt } = PILE_SET_FILE.exec(fileName)?.groups ?? {};
  return pileSet === undefined || attempt === undefined ? undefined : { pileSet, attempt };
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
      // It may be there nevertheless.
      const takeBack = () => removeFile(attempt.#markPath, 'store');
      throw afterFailure(error, () => thenAlways(takeBack, () => letGoOf(attempt.#owner)));
    }
    return attempt;
  }

  /** 16 hex digits, which the names of all its pile sets end in: `set-000012-NAME`. */
  get name(): string {
    return this.#owner.token;
  }

  get #markPath(): string {
    return join(pileSetDirectoryOf(this.#storeDirectory), formatOwnerName(KIND, this.#owner));
  }

  /** Its pile sets are part of the store, or gone. */
  end(): void {
    letGoOf(this.#owner);
    removeFile(this.#markPath, 'store');
  }

  /**
   * Ends it, and removes what it wrote and did not commit. When a commit has failed, it may have been done nevertheless:
   * what the store names stays.
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
