// @ts-check
// The reference job of the regression guard, `node reference.mjs FILE...`: computes on every byte, and stores and loads
// words at random places, as a shuffle does. The guard divides the CPU time of pileshuf by its CPU time, so that a slow
// processor or a slow memory makes little difference. It reads short blocks, because Node always compiles a function that
// is called often in the same way; one long loop is sometimes compiled to code that takes half as long again. If you
// change its cost, renew the baseline.

import fs from 'node:fs';

const block = Buffer.alloc(1 << 16);
const words = new Int32Array(block.buffer, block.byteOffset, block.length >> 2);
/** 64 MiB: more than the caches of a processor hold. */
const places = new Int32Array(1 << 24);

let hash = 0;
for (const file of process.argv.slice(2)) {
  const fd = fs.openSync(file, 'r');
  for (;;) {
    const byteLength = fs.readSync(fd, block, 0, block.length, null);
    if (byteLength === 0) break;
    hash = hashOf(byteLength, hash);
    scatter(byteLength >> 2, hash);
    hash ^= gather(byteLength >> 2, hash);
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

/** Stores each second word of the block. @param {number} wordCount @param {number} seed */
function scatter(wordCount, seed) {
  for (let i = 0; i < wordCount; i += 2) places[placeOf(i ^ seed)] = /** @type {number} */ (words[i]);
}

/** The sum of as many words at other places. @param {number} wordCount @param {number} seed */
function gather(wordCount, seed) {
  let sum = 0;
  for (let i = 0; i < wordCount; i += 2) sum = (sum + /** @type {number} */ (places[placeOf(~i ^ seed)])) | 0;
  return sum;
}

/** @param {number} number */
function placeOf(number) {
  return Math.imul(number, 0x9e3779b1) >>> 8;
}
