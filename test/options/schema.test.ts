/** What the compiler cannot see in the schema: names of other options are text. */
import { describe, expect, it } from 'vitest';
import { type CommandName, optionsOf } from '#src/cli/command-table.js';
import { entriesOf, refuseContradictions } from '#src/options/option.js';
import { SHUFFLE_OPTIONS } from '#src/options/shuffle-options.js';

const entries = entriesOf(SHUFFLE_OPTIONS);
const isOption = (path: string) => Object.hasOwn(SHUFFLE_OPTIONS, path.replace(/\..*/, ''));

describe('an option that excludes or needs others', () => {
  it('names options that there are, and itself in the refusal', () => {
    const rules = entries.flatMap(([name, { excludes = [], needs }]) => [
      ...excludes.map(([other, refusal, unless]) => ({ name, refusal, others: [other, unless ?? other] })),
      ...(needs === undefined ? [] : [{ name, refusal: needs[1], others: needs[0] }]),
    ]);
    expect(rules.length).toBeGreaterThan(20);
    for (const { name, refusal, others } of rules) {
      expect(refusal).toContain(`\`${name}\``);
      expect(others.filter((other) => !isOption(other))).toEqual([]);
    }
  });

  it.each([
    [{ repeat: true, records: { by: 'npy' } }, /give `headCount` beside `repeat`/],
    [
      { repeat: true, shards: { by: 'bytes', maxShardBytes: 9 } },
      /`repeat` cannot be combined with `shards.maxShardBytes`/,
    ],
    [{ unique: true, inputIds: [] }, /`inputIds` cannot be combined with `unique`/],
    [{ missing: 'x' }, /`missing` needs `splitBy`, `uniqueBy`, `each`, `groupBy`, `weightBy`, `weightsFrom` or `sum`/],
  ])('is refused: %o', (options, refusal) => {
    expect(() => refuseContradictions(SHUFFLE_OPTIONS, options)).toThrow(refusal);
  });

  it.each([
    {},
    { repeat: false, splits: [] },
    { repeat: true, records: { by: 'npy' }, headCount: 1 },
    { repeat: true, shards: { by: 'count', shardCount: 2 } },
    { unique: true, inputIds: 'ordinal', keys: 'position', weights: [] },
    { uniqueBy: '.a', missing: 'x' },
  ])('is taken: %o', (options) => {
    expect(() => refuseContradictions(SHUFFLE_OPTIONS, options)).not.toThrow();
  });
});

it('a command has the flags of the call that it makes', () => {
  const helpOf = (name: CommandName) => optionsOf(name).find(({ sets }) => sets === 'memoryBytes')?.help;
  expect(helpOf('shuffle')).toBe('memory for records, also as in 50%');
  expect(helpOf('cluster plan')).toBe('memory for records of each task');
  expect(helpOf('cluster slurm')).toBeUndefined();
});
