/**
 * SIGUSR1 asks a command how far it is, as it asks dd. The library leaves the signal alone: to a program without a listener
 * Node opens a port for debuggers.
 */

/** @returns stops listening. */
export function watchStatusSignal(onStatus: () => void): () => void {
  process.on('SIGUSR1', onStatus);
  return () => process.off('SIGUSR1', onStatus);
}
