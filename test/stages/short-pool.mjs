// Opens pools of threads, as many as the first argument says, and ends them at all moments while the threads load their
// tasks.
import { existsSync, readdirSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { openTaskPool } from '#src/stages/task-pool.js';

const POOLS = Number(process.argv[2]);
/** A thread has loaded its tasks after about 40 ms. */
const LONGEST_MILLISECONDS = 50;

const countOpenFiles = () => (existsSync('/proc/self/fd') ? readdirSync('/proc/self/fd').length : 0);

let openBefore = 0;
for (let i = 0; i < POOLS; i++) {
  const pool = await openTaskPool({ threadCount: 4, startCount: 4 }, `short-${i}`, () => {});
  await pause((i * LONGEST_MILLISECONDS) / POOLS);
  await pool.destroy();
  // What the first one opens may stay.
  if (i === 0) openBefore = countOpenFiles();
}
process.stdout.write(`all ended, ${countOpenFiles() - openBefore} files left open\n`);
