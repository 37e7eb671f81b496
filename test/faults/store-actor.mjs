/**
 * One of several processes that use a store at the same time: `store-actor.mjs ROLE STORE NAME`. It works until its standard
 * input ends; a producer also ends when its work is done. It prints one line for each finished step.
 */
import { openPileWriter, openStore } from '#src/index.js';
import { verifyStore } from '#src/job/inspect-store.js';
import { completeCallbacks } from '#src/job/request.js';
import { collectGarbage } from '#src/store/collect-garbage.js';
import { expireGenerations } from '#src/store/generations.js';
import { openSnapshot } from '#src/store/store-snapshot.js';

const HOUR = 3_600_000;
const [, , role, store = '', name = ''] = process.argv;
let isStopped = false;
process.stdin.on('end', () => {
  isStopped = true;
});
process.stdin.resume();

/** @param {string} line */
const say = (line) => {
  process.stdout.write(`${line}\n`);
};

/** Six inputs, each in the next generation; `committed ID` when it is. */
async function produce() {
  for (let number = 1; number <= 6; number++) {
    const inputId = `${name}-${number}`;
    const generation = `2026-11-0${number}`;
    const options = { inputId, seed: '42', piles: 5, generation, memoryBytes: 500_000 };
    // Some give up the first time.
    if (number % 3 === 0) (await openPileWriter(store, options)).abort();
    const writer = await openPileWriter(store, options);
    for (let i = 0; i < 3000; i++) writer.write(`${inputId} ${i}\n`);
    await writer.commit();
    say(`committed ${inputId}`);
  }
}

/** The state that is there reads well to its last record, whatever happens meanwhile; `read` when it does. */
async function read() {
  while (!isStopped) {
    const snapshot = openSnapshot(store);
    await new Promise((resolve) => setTimeout(resolve, 20));
    await verifyStore(snapshot, completeCallbacks({}), {});
    say(`read ${snapshot.manifest.commits.length}`);
  }
}

/** A loader gives each record that was there when it began, once an epoch, whatever happens meanwhile. */
async function load() {
  for (let epoch = 0; !isStopped; epoch++) {
    const opened = openStore(store);
    const loader = opened.epoch(epoch, { prefetchPiles: 0 });
    const seen = new Set();
    let count = 0;
    for await (const batch of loader.batches(1000)) {
      for (const record of batch) seen.add(Buffer.from(record).toString());
      count += batch.length;
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    await opened.close();
    if (count !== opened.records || seen.size !== count) {
      throw new Error(`${opened.records} records, got ${count}, of which ${seen.size} are different`);
    }
    say(`loaded ${count}`);
  }
}

/** Keeps the last three generations; `expired ID` for each input that goes. */
async function expire() {
  while (!isStopped) {
    const snapshot = openSnapshot(store);
    for (const { commits } of await expireGenerations(snapshot, { keepLast: 3 })) {
      for (const { inputIds } of commits) say(`expired ${inputIds.join()}`);
    }
    await collectGarbage(snapshot, HOUR);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

await { produce, read, load, expire }[/** @type {'produce' | 'read' | 'load' | 'expire'} */ (role)]();
process.stdin.destroy();
