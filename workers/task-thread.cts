/**
 * The file that a worker thread starts with: it loads all tasks at once, so that a task finds its modules loaded, and
 * then says so. CommonJS with `import()`, because piscina would `require` an ES module: Node 20 aborts the whole process
 * when a thread is terminated while it does that.
 */
import type { TaskName, TaskOf } from './tasks.js';

const loading = import('./tasks.js');

/** A promise, for which piscina waits before the thread is ready: a thread that is not ready stops its event loop. */
const runTask = loading.then(
  (tasks) =>
    <Name extends TaskName>(named: { readonly name: Name; readonly task: TaskOf<Name> }) => {
      return tasks.runTask(named.name, named.task);
    },
);

runTask.then(
  () => process.getBuiltinModule('node:worker_threads').parentPort?.postMessage('loaded'),
  // Piscina reports a file that cannot be loaded.
  () => {},
);

module.exports = { runTask };
