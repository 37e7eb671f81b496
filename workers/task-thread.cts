/**
 * What a worker thread begins with: it loads all tasks at once, so that a task finds its modules loaded. CommonJS with
 * `import()`, because piscina would `require` an ES module: Node 20 aborts the whole process when a thread is
 * terminated while it does.
 */
type Tasks = typeof import('./tasks.js');
type TaskName = Exclude<keyof Tasks, 'forgetJob'>;

const loading: Promise<Tasks> = import('./tasks.js');
// Told by the task that needs it.
loading.catch(() => {});

function taskNamed<Name extends TaskName>(name: Name) {
  return async (task: never): Promise<unknown> => await (await loading)[name](task);
}

module.exports = {
  count: taskNamed('count'),
  measure: taskNamed('measure'),
  readBack: taskNamed('readBack'),
  scatter: taskNamed('scatter'),
  shuffle: taskNamed('shuffle'),
} satisfies Record<TaskName, unknown>;
