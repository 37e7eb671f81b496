// @ts-check
// One producer, in its own process: `write-records.mjs WAY PIECES FILE SIZE DIR`. Writes the lines of FILE, repeated up
// to SIZE bytes, to a place in DIR, and prints its measurements as a line of JSON. The clock starts when the lines are
// in memory, and stops when everything is written and, in a store, committed.
//
//   WAY     stream: a plain file, through the stream of Node with its own buffer
//           wide-stream: the same with a buffer of 1 MiB
//           synced-stream: wide-stream, with a sync at the end, as in a commit
//           writer: a PileWriter
//   PIECES  bytes or text: the type of a record in the program

import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';

/** @type {typeof import('../../src/index.js')} */
const { openPileWriter } = await import(new URL('../../dist/bundle/index.js', import.meta.url).href);

/**
 * @typedef {{ seconds: number, writtenSeconds: number, cpuSeconds: number, records: number, bytes: number }} Written
 *   `writtenSeconds`: until the last record is accepted
 */

const wideBufferBytes = 2 ** 20;
const [way = '', pieces = '', file = '', size = '', directory = ''] = process.argv.slice(2);
const lines = linesOf(fs.readFileSync(file));
const records = pieces === 'text' ? lines.map(String) : lines;
const totalBytes = Number(size);
process.stdout.write(`${JSON.stringify(await measure(way === 'writer' ? writeStore : writeStream))}\n`);

/** @param {Buffer} bytes */
function linesOf(bytes) {
  const found = [];
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(10, start) + 1;
    found.push(bytes.subarray(start, end));
    start = end;
  }
  return found;
}

/** @param {(take: () => string | Buffer | undefined) => Promise<void>} write @returns {Promise<Written>} */
async function measure(write) {
  let [count, bytes, takenAt] = [0, 0, 0];
  const take = () => {
    if (bytes >= totalBytes) {
      takenAt = performance.now();
      return undefined;
    }
    const i = count % lines.length;
    count += 1;
    bytes += lines[i]?.length ?? 0;
    return records[i];
  };
  const began = performance.now();
  const cpuBefore = process.cpuUsage();
  await write(take);
  const { user, system } = process.cpuUsage(cpuBefore);
  const secondsUntil = (/** @type {number} */ moment) => (moment - began) / 1000;
  return {
    seconds: secondsUntil(performance.now()),
    writtenSeconds: secondsUntil(takenAt),
    cpuSeconds: (user + system) / 1e6,
    records: count,
    bytes,
  };
}

/** @param {() => string | Buffer | undefined} take */
async function writeStream(take) {
  const stream = fs.createWriteStream(path.join(directory, 'plain'), {
    flush: way === 'synced-stream',
    ...(way === 'stream' ? {} : { highWaterMark: wideBufferBytes }),
  });
  for (let record = take(); record !== undefined; record = take()) {
    if (!stream.write(record)) await once(stream, 'drain');
  }
  stream.end();
  await once(stream, 'close');
}

/** @param {() => string | Buffer | undefined} take */
async function writeStore(take) {
  const writer = await openPileWriter(path.join(directory, 'store'), {
    inputId: 'x',
    seed: '1',
    expectedBytes: totalBytes,
  });
  for (let record = take(); record !== undefined; record = take()) writer.write(record);
  await writer.commit();
}
