/** What the rules together say of the records of an output. */
import { describe, expect, it } from 'vitest';
import { contentRuleOf } from '#src/keep/content-rule.js';
import { isMeasuredBefore } from '#src/keep/distinct.js';
import { planHead, withoutHead } from '#src/keep/head.js';
import {
  isEndless,
  KEEP_ALL,
  mayLimitPass1,
  missingRecords,
  recordsOfOutput,
  requireEnd,
} from '#src/keep/keep-spec.js';
import { expectSplits, splitBounds, UNCUT } from '#src/keep/splits.js';

const DISTINCT = { ...KEEP_ALL, unique: { by: undefined } };
const HEAD = { ...KEEP_ALL, headCount: 10 };
const DRAWN = { ...HEAD, repeat: true };
const ENDLESS = { ...KEEP_ALL, repeat: true };

const amount = (records: number) => ({ records, bytes: 100 * records });

describe('the records of an output', () => {
  it.each([
    ['all', KEEP_ALL, 7, 700],
    ['the first', HEAD, 7, 700],
    ['of more, the first', HEAD, 10, 1000, 70],
    ['draws', DRAWN, 10, 1000],
    ['draws without end', ENDLESS, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY],
  ])('are %s', (_, keep, records, bytes, all = 7) => {
    expect(recordsOfOutput(keep, all)).toBe(records);
    expect(recordsOfOutput(keep, 100 * all, 100)).toBe(bytes);
  });

  it('have no end where they are drawn and nobody says how many', () => {
    expect([KEEP_ALL, HEAD, DRAWN, ENDLESS].map(isEndless)).toEqual([false, false, false, true]);
    expect(() => requireEnd(ENDLESS)).toThrow(/^an output without end must be a stream/);
    expect(isEndless(withoutHead(DRAWN))).toBe(true);
  });

  it('lack what pass 1, equal records and the head leave out', () => {
    const kept = { all: amount(50), leftOut: amount(4), distinct: amount(40), written: amount(10) };
    expect(missingRecords(KEEP_ALL, kept)).toEqual({ leftOut: undefined, duplicates: undefined });
    expect(missingRecords(HEAD, kept)).toEqual({ leftOut: amount(44), duplicates: undefined });
    expect(missingRecords(DISTINCT, kept)).toEqual({ leftOut: undefined, duplicates: amount(14) });
    expect(missingRecords({ ...HEAD, ...DISTINCT, headCount: 10 }, kept)).toEqual({
      leftOut: amount(30),
      duplicates: amount(14),
    });
    expect(missingRecords(DRAWN, kept)).toEqual({ leftOut: undefined, duplicates: undefined });
  });

  it('of a head are limited in pass 1, unless records are drawn or equal ones count as one', () => {
    expect([HEAD, DRAWN, { ...DISTINCT, headCount: 10 }, KEEP_ALL].map(mayLimitPass1)).toEqual([
      true,
      false,
      false,
      false,
    ]);
    const known = { isKnown: true, mayReadAgain: true };
    expect(planHead(HEAD, { records: 15, ...known })).toBeUndefined();
    expect(planHead(HEAD, { records: 2 ** 20, ...known })).toMatchObject({ records: 10, zeroBits: 11 });
    expect(planHead(KEEP_ALL, { records: 2 ** 20, ...known })).toBeUndefined();
  });

  it('are measured before where the plan of the output needs their number', () => {
    const spec = { read: { header: undefined }, keep: DISTINCT, cut: UNCUT };
    expect(isMeasuredBefore(spec)).toBe(false);
    expect(isMeasuredBefore({ ...spec, keep: { ...DISTINCT, headCount: 1 } })).toBe(true);
    expect(isMeasuredBefore({ ...spec, cut: { shards: { by: 'count', shardCount: 2 } } })).toBe(true);
    expect(isMeasuredBefore({ ...spec, keep: HEAD })).toBe(false);
  });
});

describe('the content of records', () => {
  const value = {
    selector: { text: '.id', kind: 'field', path: ['id'] },
    missing: undefined,
    framing: undefined,
  } as const;
  const splits = [
    { rule: { name: 'a', share: 0.25 }, shards: { by: 'count', shardCount: 1 } },
    { rule: { name: 'b', rest: true }, shards: { by: 'count', shardCount: 1 } },
  ] as const;
  const cut = { ...UNCUT, splits };
  const spec = { key: { seed: 'seed' }, keep: KEEP_ALL, cut };

  it('decides nothing unless values choose splits or equal records go', () => {
    expect(contentRuleOf(spec)).toBeUndefined();
    expect(contentRuleOf({ ...spec, keep: { ...KEEP_ALL, unique: { by: value } } })).toMatchObject({
      isDistinct: true,
      values: [{ purpose: 'equal', rule: value }],
      splits: undefined,
    });
    const byValue = contentRuleOf({ ...spec, keep: DISTINCT, cut: { ...cut, splitBy: value } });
    expect(byValue).toMatchObject({ isDistinct: true, values: [{ purpose: 'split', rule: value }] });
    expect(byValue?.splits?.bounds).toEqual(BigUint64Array.of(2n ** 62n));
  });

  it('or a rank cuts splits, and says how large they are', () => {
    expect(splitBounds(splits, 100, KEEP_ALL)).toEqual({ by: 'key', bounds: [2n ** 62n] });
    expect(splitBounds(splits, 100, HEAD)).toEqual({ by: 'rank', bounds: [25] });
    const all = { least: 100, expected: 100, most: 100 };
    expect(expectSplits(HEAD, cut, all)).toEqual([
      { name: 'a', records: { least: 24, expected: 25, most: 26 } },
      { name: 'b', records: { least: 74, expected: 75, most: 76 } },
    ]);
    expect(expectSplits(KEEP_ALL, cut, all)?.[0]?.records).toEqual({ least: 6, expected: 25, most: 44 });
    expect(expectSplits(KEEP_ALL, { ...cut, splitBy: value }, all)).toEqual([{ name: 'a' }, { name: 'b' }]);
  });
});
