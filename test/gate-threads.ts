/**
 * Real threads around the shared words of one job. Each reports its position, and the test waits for the report
 * instead of a time: `expect(await thread.says()).toBe('inside')`.
 */
import { on } from 'node:events';
import { Worker } from 'node:worker_threads';
import { afterEach } from 'vitest';
import type { JobControl } from '#src/floor/job-control.js';
import { LEDGER_WORDS, RELEASED } from './gate-ledger.mjs';

/** What one thread does (`gate-thread.mjs`); gates are gate 0. */
export type Part =
  | { readonly name: 'stay' | 'knock'; readonly method: GateMethod }
  | {
      readonly name: 'crowd';
      readonly method: GateMethod;
      readonly threads: number;
      readonly rounds: number;
      readonly restMilliseconds: number;
    }
  | { readonly name: 'two calls' }
  | { readonly name: 'take'; readonly threads: number; readonly byteLength: number }
  | { readonly name: 'turns'; readonly threads: number; readonly first: number; readonly rounds: number }
  | { readonly name: 'turn'; readonly turn: number };
export type GateMethod = 'during' | 'duringAsync';

export interface GateThread {
  /** What it says next. */
  says(): Promise<unknown>;
}

export interface GateThreads {
  readonly ledger: Int32Array;
  start(control: JobControl, part: Part): GateThread;
  /** Lets the threads inside leave. */
  release(): void;
}

/** Registers with the surrounding `describe`: no thread outlives its test. */
export function useGateThreads(): GateThreads {
  let ledger = newLedger();
  const workers: Worker[] = [];
  afterEach(async () => {
    await Promise.all(workers.splice(0).map((worker) => worker.terminate()));
    ledger = newLedger();
  });
  return {
    get ledger() {
      return ledger;
    },
    start(control, part) {
      const worker = new Worker(new URL('gate-thread.mjs', import.meta.url), {
        workerData: { part, control: control.buffer, ledger },
      });
      workers.push(worker);
      const words = on(worker, 'message');
      return { says: async () => (await words.next()).value?.[0] };
    },
    release() {
      Atomics.store(ledger, RELEASED, 1);
      Atomics.notify(ledger, RELEASED);
    },
  };
}

function newLedger(): Int32Array {
  return new Int32Array(new SharedArrayBuffer(4 * LEDGER_WORDS));
}
