/**
 * The pipe through which a program writes its output to this process: a pair of connected sockets. The pipes that Node
 * makes for a program hand over 64 KiB at a time, each piece in a new buffer. These fill one buffer of 1 MiB again and
 * again, with up to 208 KiB a read: a third of the turns of the event loop. A piece is a full buffer, because each piece
 * passes through several generators, and because the program goes on while the buffer fills.
 *
 * Node has no call that makes such a pair, so this process listens at an abstract address, which is no file, and connects
 * to it. Everybody on the machine may connect there, so a connection must first show a secret that only this process
 * knows.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** What a socket holds. */
const MOST_READ_BYTES = 208 * 1024;
const BUFFER_BYTES = 1024 * 1024;
/** After so long the reader gets what is there: the program may pause for long. */
const MOST_WAIT_MILLISECONDS = 50;
const SECRET_BYTES = 32;

export interface ProgramPipe {
  /** The end for the program. The caller closes it as soon as the program has it. */
  readonly programEnd: Socket;
  readonly output: PipeOutput;
}

/** What the program writes, in pieces of about 1 MiB; each is good until the next one is asked for. */
export class PipeOutput {
  readonly #socket: Socket;
  readonly #buffer = new Uint8Array(BUFFER_BYTES);
  /** What of `#buffer` is filled and not handed over. */
  #start = 0;
  #end = 0;
  /** Whether there is no room for another read. */
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
    // Also after an error: the exit code of the program says whether all of its output came.
    this.#socket.on('error', () => {});
    for (const event of ['end', 'close']) {
      this.#socket.on(event, () => {
        this.#hasEnded = true;
        this.#wake?.();
      });
    }
  }

  /** Sends bytes to the other end. @param onClose called when the connection ends. */
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

  /** Until the buffer is full, the output ends, or some time has passed. */
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

/** @returns undefined where it cannot be made: without abstract addresses (macOS), or without descriptors. */
export async function openProgramPipe(): Promise<ProgramPipe | undefined> {
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
