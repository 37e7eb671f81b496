/**
 * A process or thread that takes the lock of a directory, reports the result, and keeps the lock until the process
 * ends or the thread gets a message.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { acquireJobLock } from '#src/job-directory/job-lock.js';

/** @param {string} word */
function say(word) {
  if (parentPort === null) process.stdout.write(`${word}\n`);
  else parentPort.postMessage(word);
}

try {
  const lock = acquireJobLock(parentPort === null ? (process.argv[2] ?? '') : workerData);
  say('held');
  if (parentPort === null) setInterval(() => undefined, 1000);
  else {
    parentPort.once('message', () => {
      lock.release();
      say('released');
    });
  }
} catch (error) {
  say(error instanceof Error ? error.message : String(error));
}
