/**
 * One of many processes that compete for one directory. Whenever it holds the directory, it makes a file that only one
 * process can make; if the file of another living process exists, it ends with exit code 2. Now and then it is killed
 * while it holds the directory.
 *
 * Arguments: the directory, the path of that file, the number of times, the number of times for each kill, and the seed
 * of its waits and kills.
 */
import { appendFileSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import seedrandom from 'seedrandom';
import { PileshufError } from '#src/errors.js';
import { acquireJobLock } from '#src/job-directory/job-lock.js';
import { isRunning } from '#src/machine/file-owner.js';

const [directory = '', witness = '', times = '', killedOnceOf = '', seed = ''] = process.argv.slice(2);
const draw = seedrandom(seed);

for (let done = 0; done < Number(times); ) {
  const lock = tryToAcquire();
  if (lock === undefined) {
    await delay(1 + 30 * draw());
    continue;
  }
  standAlone();
  appendFileSync(`${witness}.log`, `${process.pid} ${lock.staleHolders.length}\n`);
  await delay(3 * draw());
  if (draw() * Number(killedOnceOf) < 1) process.kill(process.pid, 'SIGKILL');
  if (readFileSync(witness, 'utf8') !== String(process.pid)) fail('another one came while it held the directory');
  unlinkSync(witness);
  lock.release();
  done++;
}

function tryToAcquire() {
  try {
    return acquireJobLock(directory);
  } catch (error) {
    if (error instanceof PileshufError && error.code === 'ERR_JOB_LOCKED') return undefined;
    throw error;
  }
}

function standAlone() {
  try {
    writeFileSync(witness, String(process.pid), { flag: 'wx' });
  } catch {
    const other = Number(readFileSync(witness, 'utf8'));
    // One that is waited for while it is looked at seems to run, for once.
    if (isRunning(other, undefined) && isRunning(other, undefined)) fail(`process ${other} holds the directory too`);
    writeFileSync(witness, String(process.pid));
  }
}

/** @param {string} what @returns {never} */
function fail(what) {
  process.stderr.write(`${what}\n`);
  process.exit(2);
}
