/**
 * All that changes a store, interrupted at each of its calls on files: the call fails, or the process ends there. The
 * store then has its former content or the new one, reads well, and the same work can be done once more.
 */
import { cpSync, rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { interrupted } from '../fixtures/interrupted-file-calls.js';
import { contentOf } from '../fixtures/store-content.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';
import { expectDoneAgain, STORE_CHANGES, writeFormerStore } from './store-changes.js';

/** @param step every so many-th call is tried. */
export function testInterruptedStores(step: number): void {
  const directory = useTestDirectory();
  const store = () => directory.path('store');

  describe.each(STORE_CHANGES)('$name', (change) => {
    it.each(['fails', 'ends'] as const)('may end at any call: it %s', async (how) => {
      await writeFormerStore(directory.path('before'));
      let reached = 0;
      for (let number = 1; ; number += step) {
        rmSync(store(), { recursive: true, force: true });
        cpSync(directory.path('before'), store(), { recursive: true });
        const { isReached, error } = await interrupted(how, number, () => change.work(store()));
        const content = contentOf(store());
        if (!isReached) {
          expect({ error, content }).toEqual({ error: undefined, content: change.expected() });
          break;
        }
        reached += 1;
        const what = `call ${number}: ${error}`;
        expect([change.former(), change.expected()], what).toContainEqual(content);
        if (error === undefined) expect(content, what).toEqual(change.expected());
        await expectDoneAgain(change, store(), what);
      }
      expect(reached * step).toBeGreaterThan(8);
    });
  });
}
