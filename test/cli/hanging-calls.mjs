/** Lets the promise that a thread ends hang for ever. `node --import hanging-calls.mjs` loads this before the program. */
import { Worker } from 'node:worker_threads';

const { terminate } = Worker.prototype;
Worker.prototype.terminate = function () {
  void terminate.call(this);
  this.unref();
  return new Promise(() => {});
};
