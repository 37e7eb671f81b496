// @ts-check
// One consumer of a store, in its own process: `consume.mjs STORE HOW EPOCH`. Prints its measurements as a line of
// JSON; the clock starts after Node has started.
//
//   read       reads the data files of the store from the first to the last byte, and does nothing with them
//   batches    takes all records of the epoch from the loader, 256 at a time
//   records    takes them one by one
//   training   takes some thousand batches and computes for a millisecond with each

import fs from 'node:fs';
import path from 'node:path';

/** @type {typeof import('../../src/index.js')} */
const { openStore } = await import(new URL('../../dist/bundle/index.js', import.meta.url).href);

const batchSize = 256;
/** Batches of a training, which need not reach the end of the epoch. */
const mostTrainingBatches = 4000;
const computeMilliseconds = 1;
const pieceBytes = 2 ** 20;

/** @typedef {{ seconds: number, bytes: number, records: number, firstSeconds: number, waitSeconds: number }} Consumed */

const [directory = '', how = '', epoch = '0'] = process.argv.slice(2);
process.stdout.write(`${JSON.stringify(how === 'read' ? readFiles() : await consume())}\n`);

/** @returns {Consumed} */
function readFiles() {
  const began = performance.now();
  const folder = path.join(directory, 'pile-sets');
  const piece = Buffer.allocUnsafe(pieceBytes);
  let bytes = 0;
  let firstSeconds = 0;
  for (const name of fs.readdirSync(folder).filter((each) => each.endsWith('.pile'))) {
    const file = fs.openSync(path.join(folder, name), 'r');
    for (let count = fs.readSync(file, piece); count > 0; count = fs.readSync(file, piece)) {
      firstSeconds ||= since(began);
      bytes += count;
    }
    fs.closeSync(file);
  }
  return { seconds: since(began), bytes, records: 0, firstSeconds, waitSeconds: 0 };
}

/** @returns {Promise<Consumed>} */
async function consume() {
  const began = performance.now();
  const store = openStore(directory);
  const loader = store.epoch(Number(epoch));
  let [bytes, records, firstSeconds, waitSeconds] = [0, 0, 0, 0];
  if (how === 'records') {
    for await (const record of loader) {
      firstSeconds ||= since(began);
      records += 1;
      bytes += record.byteLength;
    }
  } else {
    let asked = performance.now();
    for await (const batch of loader.batches(batchSize)) {
      // The time before the first batch is measured separately.
      if (firstSeconds === 0) firstSeconds = since(began);
      else waitSeconds += since(asked);
      records += batch.length;
      bytes += batch.bytes.byteLength;
      if (how === 'training') {
        if (records >= batchSize * mostTrainingBatches) break;
        compute();
      }
      asked = performance.now();
    }
  }
  const seconds = since(began);
  await store.close();
  return { seconds, bytes, records, firstSeconds, waitSeconds };
}

/** Keeps this thread busy, like a training program. */
function compute() {
  const end = performance.now() + computeMilliseconds;
  while (performance.now() < end);
}

/** @param {number} began */
function since(began) {
  return (performance.now() - began) / 1000;
}
