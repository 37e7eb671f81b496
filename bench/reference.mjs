// @ts-check
// The reference job of the regression guard, `node reference.mjs FILE...`: a fixed loop over every byte, by whose CPU
// time that of pileshuf is divided, so that a slow processor is no finding. Short blocks, because a function that is
// called often is always compiled in the same way; one long loop may be, or may not, and then takes half as long again.
// Changing what it costs takes a new baseline.

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
 * Each step waits for the one before it, and that takes as long whatever the neighbour on the same core does.
 *
 * @param {number} byteLength
 * @param {number} start
 */
function hashOf(byteLength, start) {
  let next = start;
  for (let i = 0; i < byteLength; i++) next = Math.imul(next ^ /** @type {number} */ (block[i]), 0x01000193);
  return next;
}
