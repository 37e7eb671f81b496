/** Which paths a glob names: by whole paths, by names, and below directories. */
import { describe, expect, it } from 'vitest';
import { pathMatcher } from '#src/io/list-files.js';

describe('a glob', () => {
  it.each([
    ['wiki', 'wiki', true],
    ['wiki', 'corpus/wiki/a', true],
    ['wiki', 'corpus/wiki.txt', false],
    ['wiki*', 'corpus/wiki.txt', true],
    ['*.txt', 'corpus/deep/.hidden.txt', true],
    ['corpus', './corpus/a', true],
    ['corpus/', 'corpus/a', true],
    ['./corpus/a', 'corpus/a', true],
    ['corpus/a', './corpus//a', true],
    ['corpus/*', 'corpus/wiki/a', true],
    ['corpus/*.txt', 'corpus/wiki/a.txt', false],
    ['corpus/**/*.txt', 'corpus/wiki/b/a.txt', true],
    ['corpus/wiki', 'data/corpus/wiki', false],
    ['**/corpus/wiki', 'data/corpus/wiki', true],
    ['/data/*', '/data/a', true],
    ['data/*', '/data/a', false],
    ['a[1].txt', 'x/a[1].txt', true],
    ['a[1].txt', 'x/a1.txt', true],
    ['{a,b}', 'x/b', true],
    ['a(1)', 'a(1)', true],
    ['-', '-', true],
    ['*', 'any/thing', true],
    ['Wiki', 'wiki', false],
  ])('%s names %s: %s', async (glob, path, expected) => {
    expect((await pathMatcher(glob))(path)).toBe(expected);
  });
});
