import { describe, expect, it } from 'vitest';
import { RecentlyUsed } from '#src/record-index/open-index.js';

const keeperOf = (mostBytes: number) => new RecentlyUsed<string, string>(mostBytes, (text) => text.length);

describe('RecentlyUsed', () => {
  it('keeps values while they fit, and drops the least recently used first', () => {
    const kept = keeperOf(6);
    kept.keep('a', 'aa');
    kept.keep('b', 'bb');
    kept.keep('c', 'cc');
    expect(kept.get('a')).toBe('aa');
    kept.keep('d', 'dddd');
    expect(['a', 'b', 'c', 'd'].map((key) => kept.get(key))).toEqual(['aa', undefined, undefined, 'dddd']);
  });

  it('counts a value once, even if it is kept again', () => {
    const kept = keeperOf(4);
    for (let i = 0; i < 5; i++) kept.keep('a', 'aa');
    kept.keep('b', 'bb');
    expect([kept.get('a'), kept.get('b')]).toEqual(['aa', 'bb']);
  });

  it('does not keep a value that is too large by itself', () => {
    const kept = keeperOf(4);
    kept.keep('a', 'aaaaa');
    expect(kept.get('a')).toBeUndefined();
    kept.keep('b', 'bbbb');
    expect(kept.get('b')).toBe('bbbb');
  });
});
