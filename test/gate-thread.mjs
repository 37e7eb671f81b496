/**
 * A thread of the tests of a job's shared words: plays the part that it is given, and says where it is
 * (see `gate-threads.ts`). What all threads of a test count lies in the ledger.
 *
 * @typedef {import('./gate-threads.js').Part} Part
 */
import { setTimeout as delay } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { AbortError } from '#src/errors.js';
import { JobControl } from '#src/floor/job-control.js';
import { INSIDE, LOG, MOST_INSIDE, NEGATIVE, READY, RELEASED, TAKEN } from './gate-ledger.mjs';

/** @type {{ part: Part, control: SharedArrayBuffer, ledger: Int32Array }} */
const { part, control: words, ledger } = workerData;
const control = new JobControl(words);
const GATE = 0;
const TURNS_MILLISECONDS = 20;

/** @param {string} word */
function say(word) {
  parentPort?.postMessage(word);
}

/** @param {() => void} call */
async function gated(call) {
  if ('method' in part && part.method === 'duringAsync') await control.duringAsync(GATE, async () => call());
  else control.during(GATE, call);
}

/** Waits until all `count` threads have arrived. @param {number} count */
function meet(count) {
  Atomics.add(ledger, READY, 1);
  Atomics.notify(ledger, READY);
  for (let ready = Atomics.load(ledger, READY); ready < count; ready = Atomics.load(ledger, READY)) {
    Atomics.wait(ledger, READY, ready);
  }
}

switch (part.name) {
  // Stays inside until the test lets all out.
  case 'stay':
    await gated(() => {
      say('inside');
      Atomics.wait(ledger, RELEASED, 0);
    });
    say('left');
    break;

  case 'knock':
    say('knocking');
    try {
      await gated(() => say('inside'));
      say('left');
    } catch (error) {
      say(error instanceof AbortError ? 'aborted' : String(error));
    }
    break;

  // Begins a second call while the first one, which takes some turns of the event loop, is under way.
  case 'two calls':
    await Promise.all([
      control.duringAsync(GATE, async () => {
        await delay(TURNS_MILLISECONDS);
        say('first');
      }),
      control.duringAsync(GATE, () => say('second')),
    ]);
    break;

  // Goes in and out; with a rest inside, the threads meet there when they can.
  case 'crowd':
    meet(part.threads);
    for (let round = 0; round < part.rounds; round++) {
      await gated(() => {
        const inside = Atomics.add(ledger, INSIDE, 1) + 1;
        for (let most = Atomics.load(ledger, MOST_INSIDE); inside > most; ) {
          most = Atomics.compareExchange(ledger, MOST_INSIDE, most, inside);
        }
        if (part.restMilliseconds > 0) Atomics.wait(ledger, RELEASED, 0, part.restMilliseconds);
        Atomics.sub(ledger, INSIDE, 1);
      });
    }
    say('left');
    break;

  // Takes spare memory until there is none, and gives some of it back on the way.
  case 'take':
    meet(part.threads);
    for (let i = 1; control.takeSpare(part.byteLength); i++) {
      if (control.spareBytes < 0) Atomics.store(ledger, NEGATIVE, 1);
      if (i % 3 === 0) control.giveSpare(part.byteLength);
      else Atomics.add(ledger, TAKEN, 1);
    }
    say('refused');
    break;

  // Writes its turns into the log; the first word of the log counts them.
  case 'turns':
    meet(part.threads);
    for (let round = 0; round < part.rounds; round++) {
      const turn = round * part.threads + part.first;
      control.waitForTurn(turn);
      const place = Atomics.add(ledger, LOG, 1) + 1;
      Atomics.store(ledger, LOG + place, turn);
      control.passTurn();
    }
    say('left');
    break;

  case 'turn':
    say('waiting');
    try {
      control.waitForTurn(part.turn);
      say('its turn');
    } catch (error) {
      say(error instanceof AbortError ? 'aborted' : String(error));
    }
    break;
}
