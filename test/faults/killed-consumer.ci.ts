/**
 * A program that reads a store is killed again and again, and continues each time from the last state that it wrote.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { appendToStore, collectStore, openStore } from '#src/index.js';
import { drawsFor } from '../fixtures/draws.js';
import { makeStore, someRecords } from '../fixtures/make-store.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

const directory = useTestDirectory();
const program = fileURLToPath(new URL('store-consumer.mjs', import.meta.url));
const EPOCHS = 2;
const KILLS = 6;
/** What the program says of a record. */
const SIGN_BYTES = 4096;

/** @param records after which it is killed; undefined: it is let be. @returns how it ended. */
async function consume(argv: readonly string[], records?: number): Promise<unknown> {
  const child = spawn(process.execPath, [program, ...argv], { stdio: ['ignore', 'pipe', 'inherit'], timeout: 300_000 });
  let taken = 0;
  child.stdout.on('data', (piece: Buffer) => {
    taken += piece.byteLength / SIGN_BYTES;
    if (records !== undefined && taken >= records) child.kill('SIGKILL');
  });
  const [exitCode, signal] = await once(child, 'close');
  return signal ?? exitCode;
}

describe('a consumer that is killed at any record', () => {
  it('gets exactly the next record, even if the store was appended to and collected meanwhile', async () => {
    const path = directory.path('store');
    await makeStore(path, { seed: 's', pileCount: 4, inputs: { a: someRecords('a', 1500), b: ['', 'no newline'] } });
    const expected: string[] = [];
    for (let epoch = 0; epoch < EPOCHS; epoch++) {
      for await (const record of openStore(path).epoch(epoch)) expected.push(Buffer.from(record).toString());
    }
    const [records, states] = [directory.path('records'), directory.path('states')];
    const argv = [path, records, states, String(EPOCHS)];
    const stateCount = () => (existsSync(states) ? readFileSync(states, 'utf8').split('\n').length - 1 : 0);

    const draw = drawsFor('kills');
    const endings: unknown[] = [];
    for (let kill = 0; kill < KILLS; kill++) {
      const before = stateCount();
      endings.push(await consume(argv, 1 + Math.floor(200 * draw())));
      const count = stateCount();
      expect(count).toBeGreaterThan(before);
      // It may have been killed between a record and its state: then that one comes again.
      const due = expected.slice(0, count).join('');
      const found = readFileSync(records, 'utf8');
      expect([due, due + expected[count]]).toContain(found);
      truncateSync(records, Buffer.byteLength(due));
      const text = readFileSync(states, 'utf8');
      writeFileSync(states, text.slice(0, text.lastIndexOf('\n') + 1));

      const input = directory.path(`more-${kill}`);
      writeFileSync(input, `more ${kill}\n`);
      await appendToStore(path, { inputs: [input] }, { inline: true });
      await collectStore(path, { graceMilliseconds: 0 });
    }
    endings.push(await consume(argv));
    expect(endings).toEqual([...Array.from({ length: KILLS }, () => 'SIGKILL'), 0]);
    expect(readFileSync(records, 'utf8')).toBe(expected.join(''));
    expect(stateCount()).toBe(expected.length);
  });
});
