/** Every kind of change of a store, as work on a small one, for tests that interrupt it at any moment. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { collectStore, expireStore, inspectStore } from '#src/index.js';
import { contentOf, expectedContent } from '../fixtures/store-content.js';
import { inputsOf, linesOf, SEED, writeInput, writeInputs } from '../fixtures/written-store.js';

export interface StoreChange {
  readonly name: string;
  readonly work: (store: string) => Promise<unknown>;
  /** What the store has before and afterwards. */
  readonly former: () => string[];
  readonly expected: () => string[];
}

const former = () => expectedContent(SEED, inputsOf(['old', 'a', 'b']));

export const STORE_CHANGES: readonly StoreChange[] = [
  {
    name: 'writing an input',
    work: (store) => writeInput(store, 'new', linesOf('new')),
    former,
    expected: () => expectedContent(SEED, inputsOf(['old', 'a', 'b', 'new'])),
  },
  {
    name: 'replacing an input',
    work: (store) => writeInput(store, 'a', linesOf('changed'), { replace: true }),
    former,
    expected: () => expectedContent(SEED, { ...inputsOf(['old', 'b']), a: linesOf('changed') }),
  },
  {
    name: 'expiring a generation',
    work: (store) => expireStore(store, { before: '2026-11-01' }, { graceMilliseconds: 0 }),
    former,
    expected: () => expectedContent(SEED, inputsOf(['a', 'b'])),
  },
  { name: 'collecting', work: (store) => collectStore(store, { graceMilliseconds: 0 }), former, expected: former },
];

/** Writes a store with two generations, and something to collect. */
export async function writeFormerStore(store: string): Promise<void> {
  await writeInputs(store, ['gone'], '2026-09-01');
  await writeInputs(store, ['old'], '2026-10-01');
  await writeInputs(store, ['a', 'b'], '2026-11-01');
  await expireStore(store, { before: '2026-10-01' });
}

/** Repeats the work on a store in which it stopped at any point, and checks the whole result. */
export async function expectDoneAgain({ work, expected }: StoreChange, store: string, what: string): Promise<void> {
  // Its id may be taken by itself.
  await work(store).catch((error: unknown) => expect(error, what).toMatchObject({ code: 'ERR_INPUT_ID_TAKEN' }));
  expect(contentOf(store), what).toEqual(expected());
  await collectStore(store, { graceMilliseconds: 0 });
  const { pileSets, removedPileSets, writers } = await inspectStore(store, { verify: true });
  expect({ removedPileSets, writers }, what).toEqual({ removedPileSets: 0, writers: 0 });
  // Nothing else: two files of each pile set.
  expect(readdirSync(join(store, 'pile-sets')), what).toHaveLength(2 * pileSets);
}
