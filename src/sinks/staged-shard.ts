/** A shard that is staged as a file, to which a task appends. */
import { closeFile, closeOnFailure, type OpenFile, openStagedOutput, versionOf, writeAt } from '../io/files.js';
import { NO_PROOF, type RegionProof } from '../job-directory/notes.js';
import { type AppendedTarget, type OpenShard, stagedPath } from './output-target.js';

export class StagedShard implements OpenShard {
  readonly canBeShortened = true;
  readonly #file: OpenFile;
  end: number;

  constructor(
    { stagingDirectory, headerBytes }: Pick<AppendedTarget, 'stagingDirectory' | 'headerBytes'>,
    shard: number,
  ) {
    this.#file = openStagedOutput(stagedPath(stagingDirectory, shard));
    // A new file leaves room for its header.
    this.end = Math.max(headerBytes, closeOnFailure(this.#file, versionOf).byteLength);
  }

  append(bytes: Uint8Array): void {
    writeAt(this.#file, bytes, 0, bytes.byteLength, this.end);
    this.end += bytes.byteLength;
  }

  describe(): void {}

  close(): void {
    closeFile(this.#file);
  }

  settle(): RegionProof {
    return NO_PROOF;
  }

  abandon(): void {
    closeFile(this.#file);
  }
}
