/**
 * Gives the memory of large buffers back at once. The garbage collector takes its time over them: it
 * sees small objects, and some 32 MiB of decoded pieces a thread were dead and still held.
 */
import { MessageChannel } from 'node:worker_threads';

const { port1: nowhere, port2 } = new MessageChannel();
port2.close();
nowhere.close();

/**
 * Frees the memory behind `bytes`; it and every other view of the same buffer are empty from now on.
 * What lies in a buffer that Node shares among small pieces stays as it is.
 */
export function freeBytes(bytes: Uint8Array): void {
  const { buffer } = bytes;
  if (!(buffer instanceof ArrayBuffer)) return;
  try {
    // A transfer takes the memory along, and a message to a closed port is dropped.
    nowhere.postMessage(null, [buffer]);
  } catch (error) {
    if (!(error instanceof DOMException && error.name === 'DataCloneError')) throw error;
  }
}
