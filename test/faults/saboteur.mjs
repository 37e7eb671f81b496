/**
 * Damages the command from outside. `node --import saboteur.mjs` loads it before the program, on the main thread and on
 * each worker thread, because worker threads inherit `--import`. PILESHUF_SABOTAGE names the fault (see `sabotage.ts`); it
 * strikes at the N-th occasion, counted over all threads. It changes `fs` and WebAssembly; the shipped code has no hooks
 * for it.
 */
import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads';
import { sabotageFiles } from './sabotage-files.mjs';
import { sabotageKernel } from './sabotage-kernel.mjs';
import { sabotageProcess } from './sabotage-process.mjs';

const KEY = 'words of sabotage';

/** @type {import('./sabotage.js').Sabotage} */
const sabotage = JSON.parse(process.env['PILESHUF_SABOTAGE'] ?? '{}');

const inherited = getEnvironmentData(KEY);
/** Shared by all threads: workers inherit it from the thread that starts them. */
const words = inherited instanceof Int32Array ? inherited : new Int32Array(new SharedArrayBuffer(3 * 4));
setEnvironmentData(KEY, words);
const meeting = words.subarray(1, 3);
const isTheOne = () => {
  const { nth = 1, ever = false } = sabotage;
  const count = Atomics.add(words, 0, 1) + 1;
  return count === nth || (ever && count > nth);
};

sabotageKernel(sabotage, isTheOne);
sabotageFiles(sabotage, isTheOne);
sabotageProcess(sabotage, isTheOne, meeting);
