/**
 * Opens, once for all threads, what is written in place and in order: standard output, a pipe or a
 * device.
 */
import { VerificationError } from '../errors.js';
import { closeFile, type OpenFile, openStreamOutput } from '../io/files.js';
import type { JobControl } from '../job-control.js';
import type { JobOutput, OutputLayout } from './job-output.js';
import { type OutputTarget, recordBytesOf, STANDARD_OUTPUT, type WrittenRegion } from './output-target.js';
import { writeToStream } from './write-to-stream.js';

const STANDARD_OUTPUT_FD = 1;
/** How often a pipe without a reader is tried again. */
const RETRY_MILLISECONDS = 20;

export function standardOutput(): OpenFile {
  // Asked for its stream, Node makes a pipe non-blocking: a write that blocks could not be stopped.
  const fd = process.stdout.fd ?? STANDARD_OUTPUT_FD;
  return { fd, path: 'standard output', role: 'output' };
}

export class StreamOutput implements JobOutput {
  readonly #file: OpenFile;

  private constructor(file: OpenFile) {
    this.#file = file;
  }

  /** Waits for the reader of a pipe. @throws AbortedError when the job is stopped meanwhile. */
  static async open(path: string, control: JobControl): Promise<StreamOutput> {
    if (path === STANDARD_OUTPUT) {
      return new StreamOutput(standardOutput());
    }
    for (;;) {
      const file = openStreamOutput(path);
      if (file !== undefined) return new StreamOutput(file);
      control.throwIfAborted();
      await new Promise((resolve) => setTimeout(resolve, RETRY_MILLISECONDS));
    }
  }

  async begin(layout: OutputLayout, _: readonly WrittenRegion[], control: JobControl): Promise<OutputTarget> {
    const { ends, recordBytes, compression } = layout;
    await writeToStream(this.#file, ends.headerOf(recordBytes), control);
    return { kind: 'stream', fd: this.#file.fd, path: this.#file.path, compression };
  }

  /** What was written is out of our hands. */
  async makeDurable(): Promise<void> {}

  async complete({ ends, recordBytes }: OutputLayout, _: readonly WrittenRegion[], control: JobControl): Promise<void> {
    await writeToStream(this.#file, ends.trailerOf(recordBytes), control);
  }

  /** @throws VerificationError when the tasks together did not write all records. */
  verify({ recordBytes }: OutputLayout, regions: readonly WrittenRegion[]): void {
    const written = recordBytesOf(regions);
    if (written !== recordBytes) {
      throw new VerificationError(`${written} bytes were written to ${this.#file.path}, expected ${recordBytes}`);
    }
  }

  /** What was written to a stream cannot be held back. */
  async commit(): Promise<readonly string[]> {
    return [];
  }

  release(): void {
    if (this.#file.fd !== STANDARD_OUTPUT_FD) closeFile(this.#file);
  }
}
