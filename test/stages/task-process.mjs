// Does the one task that its parent sends, and sends the outcome back. The two processes share no memory: the control
// words come as a copy.
import { runTask } from '#workers/tasks.js';

process.once('message', async (/** @type {any} */ { name, task, controlBytes }) => {
  const control = new SharedArrayBuffer(controlBytes.byteLength);
  new Uint8Array(control).set(controlBytes);
  const outcome = await runTask(name, { ...task, job: { ...task.job, control } });
  process.send?.(outcome, () => process.disconnect());
});
