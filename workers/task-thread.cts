/**
 * What a worker thread begins with: it loads all tasks at once, so that a task finds its modules loaded, and says so.
 * CommonJS with `import()`, because piscina would `require` an ES module: Node 20 aborts the whole process when a thread
 * is terminated while it does.
 */

type Tasks = typeof import('./tasks.js');
type TaskName = Exclude<keyof Tasks, 'forgetJob'>;

const loading: Promise<Tasks> = import('./tasks.js');

/** Promises, for which piscina waits before a thread is ready: one that is not stops its event loop, and never loads. */
async function taskNamed<Name extends TaskName>(name: Name): Promise<Tasks[Name]> {
  return (await loading)[name];
}

const tasks = {
  count: taskNamed('count'),
  load: taskNamed('load'),
  measure: taskNamed('measure'),
  note: taskNamed('note'),
  readBack: taskNamed('readBack'),
  scatter: taskNamed('scatter'),
  shuffle: taskNamed('shuffle'),
} satisfies Record<TaskName, unknown>;

// What fails is told by the one that piscina asks for.
for (const task of Object.values(tasks)) task.catch(() => {});
loading.then(
  () => process.getBuiltinModule('node:worker_threads').parentPort?.postMessage('loaded'),
  () => {},
);

module.exports = tasks;
