/**
 * All that changes a store, interrupted at each of its calls on files: the call fails, or the process ends there. The
 * store then has its former content or the new one, reads well, and the same work can be done once more.
 */
import { cpSync, readdirSync, rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { collectStore, expireStore, inspectStore } from '#src/index.js';
import { interrupted } from '../fixtures/interrupted-file-calls.js';
import { contentOf, expectedContent } from '../fixtures/store-content.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';
import { inputsOf, linesOf, SEED, writeInput, writeInputs } from '../fixtures/written-store.js';

const directory = useTestDirectory();
const before = () => directory.path('before');
const store = () => directory.path('store');

const former = () => expectedContent(SEED, inputsOf(['old', 'a', 'b']));
const changes = [
  {
    name: 'writing an input',
    work: () => writeInput(store(), 'new', linesOf('new')),
    expected: () => expectedContent(SEED, inputsOf(['old', 'a', 'b', 'new'])),
  },
  {
    name: 'replacing an input',
    work: () => writeInput(store(), 'a', linesOf('changed'), { replace: true }),
    expected: () => expectedContent(SEED, { ...inputsOf(['old', 'b']), a: linesOf('changed') }),
  },
  {
    name: 'expiring a generation',
    work: () => expireStore(store(), { before: '2026-11-01' }, { graceMilliseconds: 0 }),
    expected: () => expectedContent(SEED, inputsOf(['a', 'b'])),
  },
  { name: 'collecting', work: () => collectStore(store(), { graceMilliseconds: 0 }), expected: former },
];

/** A store with two generations, and something to collect. */
async function prepare(): Promise<void> {
  await writeInputs(before(), ['gone'], '2026-09-01');
  await writeInputs(before(), ['old'], '2026-10-01');
  await writeInputs(before(), ['a', 'b'], '2026-11-01');
  await expireStore(before(), { before: '2026-10-01' });
}

/** All that the store does not need is gone: two files of each pile set. */
function expectNothingLeft(pileSets: number): void {
  const files = readdirSync(directory.path('store', 'pile-sets'));
  expect(files.filter((name) => name.startsWith('writing'))).toEqual([]);
  expect(files).toHaveLength(2 * pileSets);
}

/** @param step every so many-th call is tried. */
export function testInterruptedStores(step: number): void {
  describe.each(changes)('$name', ({ work, expected }) => {
    it.each(['fails', 'ends'] as const)('may end at any call: it %s', async (how) => {
      await prepare();
      let reached = 0;
      for (let number = 1; ; number += step) {
        rmSync(store(), { recursive: true, force: true });
        cpSync(before(), store(), { recursive: true });
        const { isReached, error } = await interrupted(how, number, work);
        const content = contentOf(store());
        if (!isReached) {
          expect({ error, content }).toEqual({ error: undefined, content: expected() });
          break;
        }
        reached += 1;
        const what = `call ${number}: ${error}`;
        expect([former(), expected()], what).toContainEqual(content);
        if (error === undefined) expect(content, what).toEqual(expected());
        // Its id may be taken by itself.
        await work().catch((again: unknown) => expect(again, what).toMatchObject({ code: 'ERR_INPUT_ID_TAKEN' }));
        expect(contentOf(store()), what).toEqual(expected());
        await collectStore(store(), { graceMilliseconds: 0 });
        const { pileSets, removedPileSets, verified } = await inspectStore(store(), { verify: true });
        expect({ removedPileSets, verified }, what).toEqual({ removedPileSets: 0, verified: true });
        expectNothingLeft(pileSets);
      }
      expect(reached * step).toBeGreaterThan(8);
    });
  });
}
