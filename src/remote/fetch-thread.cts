/** The file with which the fetching thread starts. Its `workerData` is a `FetcherTask`. */
const { parentPort, workerData } = process.getBuiltinModule('node:worker_threads');

import('./fetcher.js').then(({ serve }) => {
  if (parentPort !== null) serve(workerData, parentPort);
});
