/**
 * The expiry of generations. After any sequence of writing, replacing and expiring, a store equals a new store of the
 * remaining records.
 */
import { rmSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { collectStore, type ExpireRule, expireStore } from '#src/index.js';
import { openSnapshot } from '#src/store/store-snapshot.js';
import { contentOf, expectedContent } from '../fixtures/store-content.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';
import { inputsOf, linesOf, SEED, writeInput, writeInputs } from '../fixtures/written-store.js';

const directory = useMemoryDirectory();
const store = () => directory.path('store');
const DAY = 24 * 3600 * 1000;
const dateOf = (daysAgo: number) => new Date(Date.now() - daysAgo * DAY).toISOString().slice(0, 10);

describe('expireStore', () => {
  it.each<[string, ExpireRule, string[]]>([
    ['before a date', { before: '2026-11-02' }, ['2026-10-31', '2026-11-01']],
    ['before a time', { before: '2026-11-02T00:01Z' }, ['2026-10-31', '2026-11-01', '2026-11-02']],
    ['all but the last', { keepLast: 1 }, ['2026-10-31', '2026-11-01']],
    ['all but more than there are', { keepLast: 9 }, []],
    ['all', { keepLast: 0 }, ['2026-10-31', '2026-11-01', '2026-11-02']],
  ])('takes out those %s', async (_, rule, expected) => {
    for (const name of ['2026-11-01', '2026-10-31', '2026-11-02']) await writeInputs(store(), [`of ${name}`], name);
    const { expired } = await expireStore(store(), rule);
    expect(expired.map(({ name }) => name)).toEqual(expected);
    const left = ['2026-10-31', '2026-11-01', '2026-11-02'].filter((name) => !expected.includes(name));
    expect(contentOf(store())).toEqual(expectedContent(SEED, inputsOf(left.map((name) => `of ${name}`))));
  });

  it('takes out those that are older than so long', async () => {
    for (const daysAgo of [0, 2, 40]) await writeInputs(store(), [`${daysAgo}`], dateOf(daysAgo));
    await writeInputs(store(), ['new'], 'nightly');
    expect(await expireStore(store(), { keepMilliseconds: 30 * DAY })).toEqual({
      expired: [
        {
          name: dateOf(40),
          time: `${dateOf(40)}T00:00:00.000Z`,
          commits: 1,
          inputs: 1,
          records: 3,
          bytes: 15,
          checksum: expect.stringMatching(/^[0-9a-f]{16}$/),
          pileSets: 1,
          diskBytes: 15 + 3 * 12,
        },
      ],
      deleted: { pileSets: 0, bytes: 0, manifests: 0, unowned: { pileSets: 0, bytes: 0, newest: null } },
    });
    const { commits } = openSnapshot(store()).manifest;
    expect(commits.map(({ inputIds }) => inputIds.join())).toEqual(['0', '2', 'new']);
  });

  it('goes by time, not by name', async () => {
    // Ten in the morning of the first, and noon.
    const names = ['2026-11-02T00:00+14:00', '2026-11-01T12:00Z'];
    for (const name of names) await writeInputs(store(), [`of ${name}`], name);
    const { expired } = await expireStore(store(), { keepLast: 1 });
    expect(expired.map(({ name }) => name)).toEqual(names.slice(0, 1));
  });

  it('changes nothing when nothing expires', async () => {
    await writeInputs(store(), ['a'], '2026-11-01');
    const before = openSnapshot(store());
    await expireStore(store(), { before: '2026-11-01' });
    expect(openSnapshot(store())).toEqual(before);
  });

  it.each<[ExpireRule, RegExp]>([
    [{ before: '2026-02-31' }, /^`rule.before` 2026-02-31: expected a date, alone or with a time, such as /],
    [{ before: 'yesterday' }, /^`rule.before` yesterday: expected a date/],
    [{ keepLast: -1 }, /^`rule.keepLast` is -1; expected a whole number from 0 to \d+$/],
    [{ keepMilliseconds: Number.NaN }, /^`rule.keepMilliseconds` is NaN; expected a number of at least 0$/],
  ])('refuses %o', async (rule, message) => {
    await writeInputs(store(), ['a'], 'g');
    await expect(expireStore(store(), rule)).rejects.toEqual(
      expect.objectContaining({ code: 'ERR_OPTION', message: expect.stringMatching(message) }),
    );
  });

  it('leaves what a store would have that was made afresh of what is left, whatever came before', async () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('write'), id: fc.nat(5), day: fc.integer({ min: 1, max: 5 }), count: fc.nat(40) }),
      fc.record({ kind: fc.constant('expire'), keepLast: fc.nat(3) }),
      fc.record({ kind: fc.constant('collect') }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        // Inputs as they should be there: their generations, and records.
        const model = new Map<string, { generation: string; records: string[] }>();
        await writeInput(store(), 'first', linesOf('first'), { generation: '2026-11-09' });
        model.set('first', { generation: '2026-11-09', records: linesOf('first') });
        for (const [number, taken] of steps.entries()) {
          if ('id' in taken) {
            const [id, generation] = [`input ${taken.id}`, `2026-11-0${taken.day}`];
            const records = linesOf(`${id} of step ${number}`, taken.count);
            await writeInput(store(), id, records, { generation, replace: true });
            model.set(id, { generation, records });
          } else if ('keepLast' in taken) {
            const generations = [...new Set([...model.values()].map(({ generation }) => generation))].sort();
            const gone = generations.slice(0, Math.max(0, generations.length - taken.keepLast));
            await expireStore(store(), { keepLast: taken.keepLast }, { graceMilliseconds: 0 });
            for (const [id, { generation }] of model) if (gone.includes(generation)) model.delete(id);
          } else await collectStore(store(), { graceMilliseconds: 0 });
        }
        const left = Object.fromEntries([...model].map(([id, { records }]) => [id, records]));
        expect(contentOf(store())).toEqual(expectedContent(SEED, left));
        rmSync(store(), { recursive: true });
      }),
      { numRuns: 30 },
    );
  });
});
