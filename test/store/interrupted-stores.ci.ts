/**
 * Every change of a store, with each of its calls on files failing in turn, or the process ending there. The
 * store then has its former content or the new one, can be read, and the same work can be repeated.
 */
import { cpSync, rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { replaceFileCalls } from '#src/io/file-calls.js';
import { type Fault, FaultyFileCalls } from '../faults/faulty-file-calls.js';
import { atScale } from '../fixtures/scale.js';
import { contentOf } from '../fixtures/store-content.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';
import { expectDoneAgain, STORE_CHANGES, writeFormerStore } from './store-changes.js';

/** Every `step`th call is interrupted. */
const step = atScale(13, 3, 1);

const directory = useMemoryDirectory();
const store = () => directory.path('store');

describe.each(STORE_CHANGES)('$name', (change) => {
  it.each<Fault>([
    { kind: 'fails', errno: 'EIO' },
    { kind: 'kills', part: 'nothing' },
    { kind: 'is done and reported as failed', errno: 'EIO' },
    { kind: 'fails from then on', errno: 'ENOSPC' },
    { kind: 'is short', part: 'byte' },
  ])('may have a call that %o', async (fault) => {
    await writeFormerStore(directory.path('before'));
    for (let number = 1; ; number += step) {
      rmSync(store(), { recursive: true, force: true });
      cpSync(directory.path('before'), store(), { recursive: true });
      const faulty = new FaultyFileCalls(fault, number, (path) => path.startsWith(store()));
      const former = replaceFileCalls(faulty.calls);
      const error: unknown = await change.work(store()).then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      const leftOpen = faulty.openPaths;
      await faulty.settle();
      replaceFileCalls(former);
      const what = `call ${number}, ${faulty.struck?.name} ${faulty.struck?.path}: ${error}`;
      if (fault.kind !== 'kills') expect(leftOpen, what).toEqual([]);
      const content = contentOf(store());
      if (error === undefined) expect(content, what).toEqual(change.expected());
      else expect([change.former(), change.expected()], what).toContainEqual(content);
      if (faulty.struck === undefined) {
        expect({ error, isTried: number > 1 }).toEqual({ error: undefined, isTried: true });
        break;
      }
      await expectDoneAgain(change, store(), what);
    }
  });
});
