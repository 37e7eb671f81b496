/**
 * Gives the memory of large buffers back at once. The garbage collector is slow with them: it sees small objects, and
 * without this each thread held some 32 MiB of decoded pieces that nobody used.
 */
import { MessageChannel, type MessagePort } from 'node:worker_threads';

let nowhere: MessagePort | undefined;

function closedPort(): MessagePort {
  const { port1, port2 } = new MessageChannel();
  port2.close();
  port1.close();
  return port1;
}

/**
 * Frees the memory behind `bytes`; every view of the same buffer is empty from now on. A buffer that Node shares among
 * small pieces stays as it is, and so does the memory of WebAssembly.
 */
export function freeBytes(bytes: Uint8Array): void {
  const { buffer } = bytes;
  if (!(buffer instanceof ArrayBuffer)) return;
  try {
    // A transfer takes the memory along, and a message to a closed port is dropped.
    nowhere ??= closedPort();
    nowhere.postMessage(null, [buffer]);
  } catch (error) {
    if (!(error instanceof DOMException && error.name === 'DataCloneError')) throw error;
  }
}

/**
 * Frees the buffer of a piece that a stream of zlib gave, if the piece is the last in it: zlib cuts pieces from a
 * buffer until it is full, and then takes another one.
 */
export function freeLastPiece(piece: Uint8Array): void {
  if (piece.byteOffset + piece.byteLength === piece.buffer.byteLength) freeBytes(piece);
}

/**
 * Returns the bytes in a buffer of exactly their length, so that bytes that wait hold no more memory than they count.
 * @param bytes nobody else may need them: a larger buffer behind them is freed.
 */
export function shrinkToFit(bytes: Uint8Array): Uint8Array {
  if (bytes.byteLength === bytes.buffer.byteLength) return bytes;
  // `slice` of a Buffer gives another view, which is empty as soon as the buffer is freed.
  const own = new Uint8Array(bytes);
  freeBytes(bytes);
  return own;
}
