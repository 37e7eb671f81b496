import { describe, expect, test } from 'vitest';
import { readOpenFileLimit } from '#src/machine/open-file-limit.js';

describe('readOpenFileLimit', () => {
  const limits = (soft: string) =>
    [
      'Limit                     Soft Limit           Hard Limit           Units     ',
      'Max processes             96365                96365                processes ',
      `Max open files            ${soft.padEnd(20)} 1048576              files     `,
    ].join('\n');

  test.each([
    ['the soft limit', limits('1024'), 1024],
    ['unlimited', limits('unlimited'), Infinity],
    ['no /proc', undefined, 256],
    ['a text without the line', 'Limit Soft Limit\n', 256],
  ])('%s', (_, text, limit) => {
    expect(readOpenFileLimit((path) => (path === '/proc/self/limits' ? text : undefined))).toBe(limit);
  });

  test('of this process allows at least the standard streams', () => {
    expect(readOpenFileLimit()).toBeGreaterThan(3);
  });
});
