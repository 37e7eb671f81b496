/**
 * A program that reads bytes on its standard input and writes others to its standard output. It is started without a
 * shell and with no other descriptor of this process; `stop` ends it and waits for it.
 *
 * It stays in the process group of this process, so that a signal to the group, such as Ctrl-C, reaches both.
 * Programs that it has started itself end when their pipes close.
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileCalls } from '../io/file-calls.js';

/** Of what it writes to standard error the end is kept. */
const STANDARD_ERROR_BYTES = 4096;

/** How it ended; one of the two is null. */
export interface ProgramEnd {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
}

export class ChildProgram {
  /** Fulfilled when it has ended and was waited for. */
  readonly ended: Promise<ProgramEnd>;
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #errorsClosed: Promise<void>;
  #errorBytes: Buffer = Buffer.alloc(0);
  #hasEnded = false;

  private constructor(child: ChildProcessWithoutNullStreams) {
    this.#child = child;
    this.ended = new Promise((resolve) => {
      child.on('exit', (exitCode, signal) => {
        this.#hasEnded = true;
        resolve({ exitCode, signal });
      });
    });
    // It may be one that must not be ended.
    child.on('error', () => {});
    // The program may end before it has read all; the write that fails reports it.
    child.stdin.on('error', () => {});
    child.stderr.on('error', () => {});
    this.#errorsClosed = new Promise((resolve) => {
      child.stderr.on('close', () => resolve());
    });
    child.stderr.on('data', (bytes: Buffer) => {
      this.#errorBytes = Buffer.concat([this.#errorBytes, bytes]).subarray(-STANDARD_ERROR_BYTES);
    });
  }

  /**
   * @param words name and arguments.
   * @throws the error of the operating system when it cannot be started.
   */
  static async start([name = '', ...words]: readonly string[]): Promise<ChildProgram> {
    const child = spawn(name, words, { stdio: ['pipe', 'pipe', 'pipe'] });
    const started = once(child, 'spawn');
    // Without descriptors for them there are no streams, and the error follows.
    const program = child.stdin === undefined ? undefined : new ChildProgram(child);
    await started;
    if (program === undefined) throw new Error(`${name} was started without standard streams`);
    return program;
  }

  /** What it writes to standard output, to the end. */
  get output(): AsyncIterable<Uint8Array> {
    return this.#child.stdout;
  }

  /** Gives it bytes to read. @returns false when it reads no more. */
  write(bytes: Uint8Array): Promise<boolean> {
    return new Promise((resolve) => {
      this.#child.stdin.write(bytes, (error) => resolve(error === null || error === undefined));
    });
  }

  /** There are no more bytes to read. */
  endInput(): void {
    this.#child.stdin.end();
  }

  /** The end of what it has written to standard error. */
  get errorText(): string {
    return this.#errorBytes.toString();
  }

  /** The same when nobody can write more there: it has ended, and so has all that it has started. */
  async allErrorText(): Promise<string> {
    await this.#errorsClosed;
    return this.errorText;
  }

  /** Ends it, if it has not ended yet. Safe to call twice. */
  async stop(): Promise<void> {
    if (!this.#hasEnded) this.#child.kill('SIGKILL');
    for (const stream of this.#child.stdio) stream?.destroy();
    await this.ended;
  }
}

/** What is searched where nothing is said. */
const USUAL_PATH = '/bin:/usr/bin';

/** @param name with a slash: a path. */
export function isProgram(name: string, searchPath = process.env['PATH'] ?? USUAL_PATH): boolean {
  if (name.includes('/')) return isExecutable(name);
  return searchPath.split(delimiter).some((directory) => isExecutable(join(directory, name)));
}

function isExecutable(path: string): boolean {
  try {
    fileCalls.access(path, constants.X_OK);
    return fileCalls.stat(path).isFile();
  } catch {
    return false;
  }
}
