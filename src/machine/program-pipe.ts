/**
 * The pipe through which a program writes its output to this process: a pair of connected sockets. The pipes that Node
 * makes for a program hand over 64 KiB at a time, each piece in a new buffer. These hand over all that waits, up to
 * 208 KiB, in one buffer that is used again and again: a third of the turns of the event loop.
 *
 * Node has no call that makes such a pair, so this process listens at an abstract address, which is no file, and connects
 * to it. Everybody on the machine may connect there, so a connection must first show a secret that only this process
 * knows.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** No read is larger: a socket buffers 208 KiB. */
const PIECE_BYTES = 256 * 1024;
const SECRET_BYTES = 32;

export interface ProgramPipe {
  /** The end for the program. The caller closes it as soon as the program has it. */
  readonly programEnd: Socket;
  readonly output: PipeOutput;
}

/** What the program writes; each piece is good until the next one is asked for. */
export class PipeOutput {
  readonly #socket: Socket;
  readonly #buffer = new Uint8Array(PIECE_BYTES);
  #byteLength = 0;
  #hasEnded = false;
  #wake: (() => void) | undefined;

  constructor(address: string) {
    this.#socket = connect({
      path: address,
      onread: {
        buffer: this.#buffer,
        callback: (byteLength) => {
          this.#byteLength = byteLength;
          this.#wake?.();
          // No more until this piece is used up.
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
      while (this.#byteLength === 0 && !this.#hasEnded) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
      if (this.#byteLength === 0) return;
      const piece = this.#buffer.subarray(0, this.#byteLength);
      yield piece;
      this.#byteLength = 0;
      this.#socket.resume();
    }
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
