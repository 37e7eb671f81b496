/**
 * Kills the process at its N-th file call: `node --import killer.mjs` loads this before the program, on the main thread
 * and on each worker thread, because these inherit `--import`. PILESHUF_KILL_AT has N. A write at which the process is
 * killed has written half of its bytes.
 */
import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads';
import { replaceFileCalls, systemFileCalls } from '#src/io/file-calls.js';

const KEY = 'count of file calls';
const killAt = Number(process.env['PILESHUF_KILL_AT']);

const inherited = getEnvironmentData(KEY);
/** Shared by all threads: workers inherit it from the thread that starts them. */
const count = inherited instanceof Int32Array ? inherited : new Int32Array(new SharedArrayBuffer(4));
setEnvironmentData(KEY, count);

/** @returns {never} */
function die() {
  process.kill(process.pid, 'SIGKILL');
  // The signal has been sent; nothing more may happen on this thread.
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

const isTheOne = () => Atomics.add(count, 0, 1) + 1 === killAt;

/** @type {typeof systemFileCalls.write} */
function write(fd, bytes, offset, byteLength, position) {
  if (!isTheOne()) return systemFileCalls.write(fd, bytes, offset, byteLength, position);
  systemFileCalls.write(fd, bytes, offset, byteLength >> 1, position);
  return die();
}

/** @type {typeof systemFileCalls} */
const others = new Proxy(systemFileCalls, {
  get: (calls, name) => {
    const call = /** @type {(...given: unknown[]) => unknown} */ (Reflect.get(calls, name));
    return (/** @type {unknown[]} */ ...given) => (isTheOne() ? die() : call(...given));
  },
});

replaceFileCalls(
  new Proxy(systemFileCalls, { get: (_, name) => (name === 'write' ? write : Reflect.get(others, name)) }),
);
