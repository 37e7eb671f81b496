/**
 * Sends a signal to the process when it first opens or removes a file whose path has a given ending. `node --import
 * signal-at-open.mjs` loads this before the program. PILESHUF_SIGNAL_AT names both: `SIGINT .pile`.
 */
import { replaceFileCalls, systemFileCalls } from '#src/io/file-calls.js';

const [signal = '', end = ''] = (process.env['PILESHUF_SIGNAL_AT'] ?? '').split(' ');
let isSent = false;

/** @param {string} path */
function see(path) {
  if (isSent || !path.endsWith(end)) return;
  isSent = true;
  process.kill(process.pid, signal);
  // The system may give the signal to another thread, which needs a moment.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
}

replaceFileCalls({
  ...systemFileCalls,
  open: (path, ...rest) => {
    see(path);
    return systemFileCalls.open(path, ...rest);
  },
  unlink: (path) => {
    see(path);
    systemFileCalls.unlink(path);
  },
});
