/** How the main thread makes objects on other machines: the fetching thread does it (`uploads.ts`). */
import { UsageError } from '../errors.js';
import type { ObjectStore } from './object-store.js';
import { PART_BYTES } from './part-uploads.js';
import { type RemoteRequest, remoteInputs } from './remote-inputs.js';

export interface RemoteOutputs extends ObjectStore {
  /** The part of the memory budget that holds bytes that were fetched, and those that are uploaded. */
  readonly poolBytes: number;
}

/** By the thread that fetches for all jobs of the process that run at the same time. */
export function remoteOutputs(request: Omit<RemoteRequest, 'uploads'>): RemoteOutputs {
  const thread = remoteInputs({ ...request, uploads: true });
  if (thread.poolBytes < PART_BYTES)
    throw new UsageError(
      'another job of this process reads from other machines with too little memory for uploads; start this one after it',
      'ERR_MEMORY_BUDGET',
    );
  thread.beforeEnd.push(() => thread.ask({ ask: 'rest' }));
  const asking = <Call extends keyof ObjectStore>(call: Call) =>
    ((address: string, ...rest: unknown[]) => thread.ask({ ask: 'outputs', call, address, rest })) as ObjectStore[Call];
  return {
    poolBytes: thread.poolBytes,
    begin: asking('begin'),
    head: asking('head'),
    list: asking('list'),
    putFile: asking('putFile'),
    parts: asking('parts'),
    complete: asking('complete'),
    abort: asking('abort'),
    putText: asking('putText'),
    remove: asking('remove'),
    uploads: asking('uploads'),
  };
}
