/** Times as people write them. */
import { describe, expect, it } from 'vitest';
import { parseDuration } from '#src/cli/duration.js';

describe('parseDuration', () => {
  it('reads a whole number and a unit', () => {
    const read = ['90s', '10m', '12h', '30d', '4w', '0', '0d'].map((text) => parseDuration(text, '--keep'));
    expect(read).toEqual([90e3, 600e3, 43_200e3, 2_592_000e3, 2_419_200e3, 0, 0]);
  });

  it.each(['', '5', '-1d', '1.5h', '1y', '1 d', 'd', '1e3d', '1234567890s', '1D'])('refuses %j', (text) => {
    expect(() => parseDuration(text, '--keep')).toThrow(
      `--keep ${text}: expected a whole number and a unit, such as 90s, 12h, 30d or 4w`,
    );
  });
});
