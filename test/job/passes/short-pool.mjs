// Opens pools of threads and ends them at all moments while the threads load their tasks.
import { setTimeout as pause } from 'node:timers/promises';
import { openTaskPool } from '#src/job/passes/task-pool.js';

const POOLS = 80;
/** A thread has loaded its tasks after about 40 ms. */
const LONGEST_MILLISECONDS = 50;

for (let i = 0; i < POOLS; i++) {
  const pool = await openTaskPool({ threadCount: 4, startCount: 4 }, `short-${i}`, () => {});
  await pause((i * 1.7) % LONGEST_MILLISECONDS);
  await pool.destroy();
}
process.stdout.write('all ended\n');
