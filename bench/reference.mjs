// @ts-check
// The reference job of the regression guard, `node reference.mjs FILE...`: a fixed loop over every byte. The guard
// divides the CPU time of pileshuf by its CPU time, so that a slow processor makes no difference. It reads short
// blocks, because Node always compiles a function that is called often in the same way; one long loop is sometimes
// compiled to code that takes half as long again. If you change its cost, renew the baseline.

import fs from 'node:fs';

const block = Buffer.alloc(1 << 16);
let hash = 0;
for (const file of process.argv.slice(2)) {
  const fd = fs.openSync(file, 'r');
  for (;;) {
    const byteLength = fs.readSync(fd, block, 0, block.length, null);
    if (byteLength === 0) break;
    hash = hashOf(byteLength, hash);
  }
  fs.closeSync(fd);
}
process.stdout.write(`${hash}\n`);

/**
 * Each step depends on the one before it, so other load on the same core does not slow it down.
 *
 * @param {number} byteLength
 * @param {number} start
 */
function hashOf(byteLength, start) {
  let next = start;
  for (let i = 0; i < byteLength; i++) next = Math.imul(next ^ /** @type {number} */ (block[i]), 0x01000193);
  return next;
}
