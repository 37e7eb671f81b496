/**
 * The file with which a worker thread starts. It loads all tasks at once, so that no task waits for a module, and then
 * reports that the thread is ready. It is CommonJS with `import()`, because piscina would `require` an ES module, and
 * Node 20 aborts the whole process when a thread is terminated during that.
 */
import type { CodeCache } from '../src/floor/code-cache.cjs';
import type * as Tasks from './tasks.js';

const { loadCompiled }: CodeCache = require('../src/floor/code-cache.cjs');

const { existsSync } = process.getBuiltinModule('node:fs');
const { join } = process.getBuiltinModule('node:path');

/** It exists only in the bundle. */
const bundled = join(__dirname, 'tasks.cjs');
const loading = existsSync(bundled) ? Promise.resolve(loadCompiled(bundled) as typeof Tasks) : import('./tasks.js');

/** Piscina waits for this promise before the thread is ready; the event loop of a thread that is not ready stands still. */
const runTask = loading.then(
  (tasks) =>
    <Name extends Tasks.TaskName>(named: { readonly name: Name; readonly task: Tasks.TaskOf<Name> }) => {
      return tasks.runTask(named.name, named.task);
    },
);

runTask.then(
  () => process.getBuiltinModule('node:worker_threads').parentPort?.postMessage('loaded'),
  // Piscina reports a file that cannot be loaded.
  () => {},
);

module.exports = { runTask };
