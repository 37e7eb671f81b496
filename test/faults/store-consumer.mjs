/**
 * A program that reads the records of a store: `store-consumer.mjs STORE RECORDS STATES END_EPOCH`. It appends each
 * record to one file, then the state after the record to another, one line each. When it starts, it continues after the
 * last complete line.
 */
import { appendFileSync, existsSync, readFileSync, writeSync } from 'node:fs';
import { openStore } from '#src/index.js';

const [, , path = '', records = '', states = '', endEpoch = ''] = process.argv;
// So long that it waits for whoever counts them, who may be slow.
const SIGN = '.'.repeat(4096);
const store = openStore(path);
const last = existsSync(states) ? readFileSync(states, 'utf8').split('\n').at(-2) : undefined;
const loader = last === undefined ? store.epoch(0) : store.resume(JSON.parse(last));
while (loader.state().epoch < Number(endEpoch)) {
  for await (const record of loader) {
    appendFileSync(records, record);
    appendFileSync(states, `${JSON.stringify(loader.state())}\n`);
    writeSync(1, SIGN);
  }
}
