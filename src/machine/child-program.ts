/**
 * A program that reads its standard input and writes to its standard output. It is started without a shell and with no
 * other descriptor of this process; `stop` ends it and waits for it.
 *
 * It stays in the process group of this process, so that a signal to the group, such as Ctrl-C, reaches both; unless
 * this process ignores hang-ups, which would end the program. Programs that it started end when their pipes close.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { constants } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { delimiter, join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { fileCalls } from '../io/file-calls.js';
import { freeBytes } from './free-bytes.js';
import { isHangUpIgnored } from './nohup.js';

/** The most bytes of the end of its standard error, for messages. */
const STANDARD_ERROR_BYTES = 4096;

export interface ProgramEnd {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
}

export class ChildProgram {
  /** Fulfilled when it has ended and was waited for. */
  readonly ended: Promise<ProgramEnd>;
  /** Its standard output, to the end; a piece is good until the next one. */
  readonly output: AsyncIterable<Uint8Array>;
  readonly #child: ChildProcess;
  readonly #input: Writable;
  readonly #pipe: PipeOutput | undefined;
  readonly #errorsClosed: Promise<void>;
  #errorBytes: Buffer = Buffer.alloc(0);
  #hasEnded = false;

  private constructor(child: ChildProcess, { input, output, errors }: ProgramStreams) {
    this.#child = child;
    this.#input = input;
    this.output = output;
    this.#pipe = output instanceof PipeOutput ? output : undefined;
    this.ended = new Promise((resolve) => {
      child.on('exit', (exitCode, signal) => {
        this.#hasEnded = true;
        resolve({ exitCode, signal });
      });
    });
    // `kill` may not be permitted.
    child.on('error', () => {});
    // The program may end before it has read all; the write that fails reports it.
    input.on('error', () => {});
    errors.on('error', () => {});
    this.#errorsClosed = new Promise((resolve) => {
      errors.on('close', () => resolve());
    });
    errors.on('data', (bytes: Buffer) => {
      this.#errorBytes = Buffer.concat([this.#errorBytes, bytes]).subarray(-STANDARD_ERROR_BYTES);
    });
  }

  /** @throws the error of the operating system when the program cannot be started. */
  static async start([name = '', ...words]: readonly string[]): Promise<ChildProgram> {
    const pipe = await openProgramPipe();
    try {
      const child = spawn(name, words, {
        stdio: ['pipe', pipe?.programEnd ?? 'pipe', 'pipe'],
        detached: isHangUpIgnored(),
      });
      const started = once(child, 'spawn');
      // Without descriptors there are no streams, and the error follows.
      const streams = streamsOf(child, pipe?.output);
      const program = streams && new ChildProgram(child, streams);
      await started;
      if (program === undefined) throw new Error(`${name} was started without standard streams`);
      return program;
    } catch (error) {
      pipe?.output.close();
      throw error;
    } finally {
      // The program alone has this end now: when it closes, the output ends.
      pipe?.programEnd.destroy();
    }
  }

  /** False when the program reads no more. */
  write(bytes: Uint8Array): Promise<boolean> {
    return new Promise((resolve) => {
      this.#input.write(bytes, (error) => resolve(error === null || error === undefined));
    });
  }

  endInput(): void {
    this.#input.end();
  }

  get errorText(): string {
    return this.#errorBytes.toString();
  }

  /** `errorText` once the program and all that it started have ended. */
  async allErrorText(): Promise<string> {
    await this.#errorsClosed;
    return this.errorText;
  }

  /** Safe to call twice. */
  async stop(): Promise<void> {
    if (!this.#hasEnded) this.#child.kill('SIGKILL');
    for (const stream of this.#child.stdio) stream?.destroy();
    this.#pipe?.close();
    await this.ended;
  }
}

interface ProgramStreams {
  readonly input: Writable;
  readonly output: PipeOutput | AsyncIterable<Uint8Array>;
  readonly errors: Readable;
}

function streamsOf({ stdin, stdout, stderr }: ChildProcess, pipe: PipeOutput | undefined): ProgramStreams | undefined {
  const output = pipe ?? (stdout && freed(stdout));
  // They are undefined, not null, where the program could not be started.
  return stdin && stderr && output ? { input: stdin, output, errors: stderr } : undefined;
}

async function* freed(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  for await (const piece of pieces) {
    yield piece;
    freeBytes(piece);
  }
}

/** The path for a process without PATH. */
const USUAL_PATH = '/bin:/usr/bin';

/** Returns whether there is a program of this name. @param name with a slash: a path. */
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

/** The most that a socket holds. */
const MOST_READ_BYTES = 208 * 1024;
const BUFFER_BYTES = 1024 * 1024;
/** The reader gets what is there after so long: the program may pause for long. */
const MOST_WAIT_MILLISECONDS = 50;
const SECRET_BYTES = 32;

interface ProgramPipe {
  /** The caller closes it as soon as the program has it. */
  readonly programEnd: Socket;
  readonly output: PipeOutput;
}

/** The output of the program, in pieces of about 1 MiB; each is good until the next one is asked for. */
class PipeOutput {
  readonly #socket: Socket;
  readonly #buffer = new Uint8Array(BUFFER_BYTES);
  #start = 0;
  #end = 0;
  #isFull = false;
  #hasEnded = false;
  #wake: (() => void) | undefined;

  constructor(address: string) {
    this.#socket = connect({
      path: address,
      onread: {
        // Called before the first read and after each one: a full buffer is used up before the next read.
        buffer: () => this.#buffer.subarray(this.#isFull ? 0 : this.#end),
        callback: (byteLength) => {
          this.#end += byteLength;
          this.#isFull = this.#end > BUFFER_BYTES - MOST_READ_BYTES;
          if (!this.#isFull) return true;
          this.#wake?.();
          // No more until the buffer is used up.
          return false;
        },
      },
    });
    // The exit code of the program says whether all of its output came, even after an error here.
    this.#socket.on('error', () => {});
    for (const event of ['end', 'close']) {
      this.#socket.on(event, () => {
        this.#hasEnded = true;
        this.#wake?.();
      });
    }
  }

  send(bytes: Uint8Array, onClose: () => void): void {
    this.#socket.once('close', onClose);
    this.#socket.write(bytes);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void> {
    for (;;) {
      if (!this.#isFull && !this.#hasEnded) await this.#wait();
      const piece = this.#buffer.subarray(this.#start, this.#end);
      this.#start = this.#end;
      if (piece.byteLength > 0) yield piece;
      else if (this.#hasEnded) return;
      if (!this.#isFull || this.#start < this.#end) continue;
      this.#start = 0;
      this.#end = 0;
      this.#isFull = false;
      this.#socket.resume();
    }
  }

  #wait(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, MOST_WAIT_MILLISECONDS);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  close(): void {
    this.#socket.destroy();
  }
}

/** Undefined without abstract addresses (macOS), or without descriptors. */
async function openProgramPipe(): Promise<ProgramPipe | undefined> {
  if (process.platform !== 'linux') return undefined;
  const secret = randomBytes(SECRET_BYTES);
  const address = `\0pileshuf-${randomBytes(16).toString('hex')}`;
  const server = createServer();
  let output: PipeOutput | undefined;
  try {
    server.listen(address);
    await once(server, 'listening');
    output = new PipeOutput(address);
    const programEnd = await acceptOwn(server, output, secret);
    return { programEnd, output };
  } catch {
    output?.close();
    return undefined;
  } finally {
    server.close();
  }
}

/** The other end of the connection, which `output` proves with the secret. */
function acceptOwn(server: Server, output: PipeOutput, secret: Buffer): Promise<Socket> {
  return new Promise((resolve, reject) => {
    // Without a descriptor for the other end, the system closes the connection.
    output.send(secret, () => reject(new Error('the connection was closed')));
    server.on('error', reject);
    server.on('connection', (socket) => {
      socket.on('error', () => {});
      let shown = Buffer.alloc(0);
      const take = (bytes: Buffer) => {
        shown = Buffer.concat([shown, bytes]);
        if (shown.byteLength < SECRET_BYTES) return;
        socket.off('data', take);
        socket.pause();
        if (shown.equals(secret)) resolve(socket);
        else socket.destroy();
      };
      socket.on('data', take);
    });
  });
}
