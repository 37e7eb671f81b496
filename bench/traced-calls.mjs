// @ts-check
// The file calls of a command as the kernel sees them, from strace: their number and the bytes that they move. The path
// of a file tells whether it has data or is a module.

import fs from 'node:fs';
import path from 'node:path';

/**
 * @typedef {object} TracedCalls
 * @property {number} opens of any file, failed ones included
 * @property {number} dataReads of files below the directory of the data
 * @property {number} dataWrites
 * @property {number} dataReadBytes
 * @property {number} dataWrittenBytes
 */

const reads = ['read', 'readv', 'pread64', 'preadv'];
const writes = ['write', 'writev', 'pwrite64', 'pwritev'];
const traceFolder = 'trace';

/** @param {string} command @returns {string} the same under strace, which writes its trace into the work directory */
export function traced(command) {
  const calls = ['openat', ...reads, ...writes].join(',');
  // One trace file per thread, so that each call is one line; paths of files, but none of their bytes.
  const options = `-ff -qq -y -s 0 --seccomp-bpf -e signal=none -e trace=${calls} -o ${traceFolder}/thread`;
  return `mkdir ${traceFolder} && strace ${options} ${command}`;
}

/** @param {string} workDir where the command ran @returns {TracedCalls | null} null if it was not traced */
export function readTracedCalls(workDir) {
  const traceDir = path.join(workDir, traceFolder);
  if (!fs.existsSync(traceDir)) return null;
  const texts = fs.readdirSync(traceDir).map((name) => fs.readFileSync(path.join(traceDir, name), 'utf8'));
  return countCalls(texts, fs.realpathSync(workDir));
}

/** @param {string[]} texts one a thread @param {string} dataDir @returns {TracedCalls} */
export function countCalls(texts, dataDir) {
  const counted = { opens: 0, dataReads: 0, dataWrites: 0, dataReadBytes: 0, dataWrittenBytes: 0 };
  for (const line of texts.flatMap((text) => text.split('\n'))) {
    const [, name = '', file = '', result] = /^(\w+)\(\w+<([^>]*)>.* = (-?\d+)/.exec(line) ?? [];
    if (name === 'openat') counted.opens += 1;
    if (!file.startsWith(`${dataDir}/`)) continue;
    const byteLength = Math.max(0, Number(result));
    if (reads.includes(name)) {
      counted.dataReads += 1;
      counted.dataReadBytes += byteLength;
    } else if (writes.includes(name)) {
      counted.dataWrites += 1;
      counted.dataWrittenBytes += byteLength;
    }
  }
  return counted;
}
