/** Entry of the transfer thread. Its `workerData` is a `TransferThreadData`. */
const { parentPort, workerData } = process.getBuiltinModule('node:worker_threads');

import('./transfer-thread.js').then(({ serve }) => {
  if (parentPort !== null) serve(workerData, parentPort);
});
