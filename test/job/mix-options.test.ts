/** Wrong weights and mixes, each refused with one line; and what goes with them. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import { type Mix, type ShuffleOptions, shuffle, UsageError } from '#src/index.js';
import { errorOf } from '../fixtures/error-of.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';

const directory = useMemoryDirectory();
const run = (options: Partial<ShuffleOptions>, tuning = {}) => {
  const inputs = [directory.path('a'), directory.path('b')];
  const base = { inputs, output: directory.path('out'), seed: '1', tempDirs: [directory.temp] };
  return shuffle({ ...base, ...options }, tuning);
};

beforeEach(() => {
  writeFileSync(directory.path('a'), '1\n2\n3\n4\n');
  writeFileSync(directory.path('b'), 'one\ntwo\n');
  writeFileSync(directory.path('empty'), '');
});

async function expectRefusal(options: object, message: RegExp): Promise<void> {
  const refused = await errorOf(run(options));
  expect(refused).toBeInstanceOf(UsageError);
  expect(refused.message).toMatch(message);
}

const LACKED = 'has no field .n; expected a JSON object that has it';
const BROKEN = 'begins as a JSON object and does not end as one';

describe('weights', () => {
  it.each<[unknown, RegExp]>([
    ['a=2', /`weights`: expected an array of objects with `glob` and `factor`/],
    [[{ glob: 'a', weight: 2 }], /an object of `weights` has no option `weight`/],
    [['a'], /an object of `weights`: expected an object with options, got string/],
    [[{ glob: '', factor: 2 }], /`weights`: expected `glob` to be a path or a glob pattern/],
    [[{ glob: 'x'.repeat(5000), factor: 2 }], /of 1 to 4096 characters/],
    ...[-1, Number.NaN, Number.POSITIVE_INFINITY, '', '.', '1,5', '0x2', ' 1', '1e', null, undefined].map(
      (factor): [unknown, RegExp] => [[{ glob: 'a', factor }], /`weights` a=.*: expected a number of at least 0/],
    ),
    [[{ glob: 'a', factor: 1e7 }], /`weights` a=10000000: expected at most 1000000/],
    [[{ glob: 'a', factor: '1e-60' }], /`weights` a=1e-60: expected 0, or a number of at least 1e-19/],
    [[{ glob: 'c', factor: 2 }], /`weights`: c names no input/],
    [[{ glob: 'A', factor: 2 }], /`weights`: A names no input/],
    [
      [
        { glob: 'a', factor: 2 },
        { glob: '*', factor: 3 },
      ],
      /`weights`: a names only inputs that later globs name, too/,
    ],
    [[{ glob: '*', factor: 0 }], /all inputs have the weight 0/],
  ])('%j are refused', (weights, message) => expectRefusal({ weights }, message));

  it('above 1 are refused for samples of tar files', async () => {
    const weights = [{ glob: 'a', factor: 1.5 }];
    await expectRefusal({ records: { by: 'webdataset' }, weights }, /a has the weight 1.5, and samples of tar files/);
  });

  it('leave inputs of the weight 0 unread', async () => {
    const report = await run({
      inputs: [directory.path('a'), '/proc/self/cmdline'],
      weights: [{ glob: 'cmdline', factor: 0 }],
    });
    expect(report).toMatchObject({ records: 4, inputCount: 2 });
    expect(report.groups).toEqual([
      { name: 'cmdline', factor: 0, inputCount: 1, ...sameAmounts(0, 0), epochs: 0, unit: undefined },
      { name: undefined, factor: 1, inputCount: 1, ...sameAmounts(4, 8), epochs: 1, unit: undefined },
    ]);
  });
});

const sameAmounts = (records: number, bytes: number) => {
  const amount = { records, bytes };
  return { read: amount, expected: amount, weighed: amount };
};

const both = (a: object, b: object, rest: object = { unit: 'records' }) => ({
  groups: [
    { name: 'first', inputs: 'a', ...a },
    { name: 'second', inputs: 'b', ...b },
  ],
  ...rest,
});

describe('a mix', () => {
  it.each<[unknown, RegExp]>([
    [7, /`mix`: expected an object with options, got number/],
    [{ groups: 'a' }, /`mix`: expected groups to be a list of at least one group/],
    [{ group: [] }, /`mix` has no option `group`; did you mean `groups`/],
    [{ groups: [null] }, /a group of `mix`: expected an object with options, got null/],
    [{ groups: [{ inputs: 'a', weight: 1 }] }, /expected each group to have a name/],
    [{ groups: [{ name: 'a\nb', inputs: 'a', weight: 1 }] }, /to have a name of 1 to 200 printable characters/],
    [{ groups: [{ name: 'x', weight: 1 }] }, /expected the inputs of the group x to be a path or a glob/],
    [both({ name: 'x', weight: 1 }, { name: 'x', weight: 1 }, {}), /two groups have the name x/],
    [both({ weight: 1 }, { share: 1 }), /some groups have a share and others have none/],
    [both({ weight: 1 }, {}, {}), /the group second has neither a weight nor a share/],
    [both({ weight: 1 }, { weight: 1 }), /unit goes with shares, and no group has one/],
    [both({ weight: 1 }, { weight: 1, max_epochs: 2 }, {}), /the group second has max_epochs, which goes with a share/],
    [both({ weight: 'x' }, { weight: 1 }, {}), /weight x of the group first: expected a number of at least 0/],
    [both({ share: 1 }, { share: 1, weight: 1 }), /the group second has both a weight and a share/],
    [both({ share: 1 }, { share: 0 }), /share 0 of the group second: expected a number of more than 0/],
    [both({ share: 1 }, { share: -1 }), /share -1 of the group second: expected a number of more than 0/],
    [both({ share: 1 }, { share: 1, max_epochs: 0 }), /max_epochs 0: expected a number of more than 0/],
    [both({ share: 1 }, { share: 1 }, {}), /expected unit to be records, bytes or a field/],
    [
      both({ share: 1 }, { share: 1 }, { unit: `.${'n'.repeat(2000)}` }),
      /unit has 2001 characters; expected at most 2000/,
    ],
    [
      both({ share: 1 }, { share: 1 }, { unit: '.n tokens' }),
      /`mix`: unit ".n tokens": expected the keys of a JSON field/,
    ],
    [both({ share: 1 }, { share: 1 }, { unit: 'records', total: 0 }), /total is 0; expected a whole number/],
    [both({ share: 1 }, { share: 1 }, { unit: 'records', total: '3M' }), /expected total to be a whole number/],
    [both({ share: 1 }, { share: 1, inputs: 'zz' }), /the group second names no input/],
    [{ ...both({ share: 1 }, { share: 1 }), groups: [{ name: 'x', inputs: 'a', share: 1 }] }, /b is in no group/],
    [
      both({ share: 1 }, { share: 1 }, { unit: 'records', total: 5 }),
      /the group second has 2 records and its share asks for 2.5, 1.25 times as many; its max_epochs allows 1 times: raise/,
    ],
  ])('%j is refused', (mix, message) => expectRefusal({ mix }, message));

  it.each([{}, { splitBy: '.id' }])('that makes copies has those of a record in one split: %j', async (by) => {
    writeFileSync(directory.path('a'), '{"id":1}\n{"id":2}\n{"id":3}\n');
    writeFileSync(directory.path('b'), '{"id":4}\n');
    const splits = [
      { name: 'train', share: 0.5 },
      { name: 'test', share: 0.5 },
    ];
    const mix = both({ share: 1 }, { share: 1 }, { unit: 'records', max_epochs: 9 }) as Mix;
    const job = { mix, splits, output: directory.path('parts'), ...by };
    await expectRefusal(
      { mix, splits, output: job.output, headCount: 3 },
      /copies that `mix` makes of a record would be in/,
    );
    const { shards } = await run(job);
    const [train, test] = shards.map((path) => new Set(readFileSync(path, 'utf8').split('\n').slice(0, -1)));
    expect([...(train ?? [])].filter((line) => test?.has(line))).toEqual([]);
    expect((train?.size ?? 0) + (test?.size ?? 0)).toBe(4);
  });

  it('with weights beside it is refused', async () => {
    const mix: Mix = { groups: [{ name: 'x', inputs: '*', weight: 1 }] };
    await expectRefusal({ mix, weights: [] }, /`weights` and `mix` contradict each other/);
  });

  it('of an empty group is refused', async () => {
    const inputs = [directory.path('a'), directory.path('empty')];
    const mix = { ...both({ share: 1 }, { share: 1, inputs: 'empty' }) };
    await expectRefusal({ inputs, mix }, /the group second has 0 records and cannot have a share/);
  });

  it.each([
    ['{"n":1}\n{"m":1}\n', 8, LACKED],
    ['{"n":1}\n{"n":-1}\n', 8, '-1'],
    ['{"n":1.5}\n{"n":"12.35"}\n', 10, '"12.35"'],
    ['{"n":1234567890123456}\n', 0, '1234567890123456'],
    ['{"n":NaN}\n', 0, 'NaN'],
    ['{"n":null}\n', 0, LACKED],
    ['{"n":\x7f\xff}\n', 0, BROKEN],
    [`{"n":"${'x'.repeat(99)}"}\n`, 0, `"${'x'.repeat(39)}...`],
    ['{"n":}\n', 0, BROKEN],
    ['\xff\0\n', 0, LACKED],
  ])('by a field that is not a number in %j is refused', async (text, byte, lack) => {
    writeFileSync(directory.path('a'), text, 'latin1');
    writeFileSync(directory.path('b'), '{"n":3}\n');
    const job = run({ mix: both({ share: 1 }, { share: 1 }, { unit: '.n' }) as Mix });
    await expect(job).rejects.toMatchObject({
      code: 'ERR_FIELD_MISSING',
      message: expect.stringContaining(
        `/a: the record at byte ${byte} ${lack.includes(' ') ? lack : `has ${lack} in .n, which \`mix\` counts; expected a number from 0 to less than 10^15: mend it`}`,
      ),
    });
  });

  it('by a field has its sums in the report', async () => {
    writeFileSync(directory.path('a'), '{"n":10}\n{"x":{"n":1},"n":30}\n');
    writeFileSync(directory.path('b'), '{"n": 0}\n{"n":20}');
    const mix = both({ share: 3 }, { share: 1 }, { unit: '.n', total: 40, max_epochs: 1 }) as Mix;
    const { groups } = await run({ mix });
    expect(groups).toMatchObject([
      { factor: 0.75, unit: { read: 40, expected: 30 } },
      { factor: 0.5, unit: { read: 20, expected: 10 } },
    ]);
  });

  it('by a field of decimals has their exact sums in the report', async () => {
    writeFileSync(directory.path('a'), '{"n":0.1}\n{"n":0.2}\n{"n":1e-7}\n{"n":-0.0}\n');
    writeFileSync(directory.path('b'), '{"n":12.35}\n{"n":1.5e3}\n');
    const mix = both({ share: 1 }, { share: 1 }, { unit: '.n', max_epochs: 2.5 }) as Mix;
    const { groups } = await run({ mix });
    const expected = 2.5 * 0.3000001;
    expect(groups).toMatchObject([
      { factor: 2.5, unit: { read: 0.3000001, expected } },
      { unit: { read: 1512.35, expected } },
    ]);
  });

  it('by a field of decimals that are too few is refused with their sum', async () => {
    writeFileSync(directory.path('a'), '{"n":0.1}\n{"n":0.2}\n');
    writeFileSync(directory.path('b'), '{"n":12.35}\n');
    const mix = both({ share: 1 }, { share: 2 }, { unit: '.n', total: 1 });
    const line =
      /the group first has 0.3 .n and its share asks for 0.333333, 1.11 times as many; its max_epochs allows/;
    await expectRefusal({ mix }, line);
  });

  it('of shares cannot have streams', async () => {
    await expectRefusal(
      { inputs: [directory.path('a'), '/proc/self/cmdline'], mix: both({ share: 1 }, { share: 1, inputs: 'cmdline' }) },
      /cmdline cannot be read twice/,
    );
  });

  it('is as large as the epochs of the groups allow', async () => {
    const mix = both({ share: 1 }, { share: 1 }, { unit: 'records', max_epochs: 3 });
    const { groups } = await run({ mix: mix as Mix });
    expect(groups).toMatchObject([{ factor: 1.5 }, { factor: 3, weighed: { records: 6 } }]);
  });

  it('is not counted again by a resumed job, which reports the same', async () => {
    for (const name of ['a', 'b'])
      writeFileSync(directory.path(name), [1.5, 2, 3, 4].map((size) => `{"of":"${name}","size":${size}}\n`).join(''));
    const mix = both({ share: 1 }, { share: 2 }, { unit: '.size' }) as Mix;
    let groups: unknown;
    const phasesOf = async (options: Partial<ShuffleOptions>, tuning: object) => {
      const phases = new Set<string>();
      const onProgress = ({ phase }: { readonly phase: string }) => {
        phases.add(phase);
        if (options.signal !== undefined && phase === 'shuffle') abort.abort();
      };
      const report = await run({ mix, resume: true, ...options, onProgress }, tuning).catch(() => undefined);
      groups = report?.groups;
      return [...phases];
    };
    const abort = new AbortController();
    mkdirSync(directory.path('job'));
    const onDisk = { mayUseRamPool: false, sliceBytes: 4 };
    expect(await phasesOf({ signal: abort.signal }, onDisk)).toEqual(['count', 'scatter', 'shuffle']);
    expect(await phasesOf({}, onDisk)).toEqual(['scatter', 'shuffle', 'commit']);
    expect(groups).toMatchObject([{ unit: { name: '.size', read: 10.5 } }, { unit: { name: '.size', read: 10.5 } }]);
    const sizeIn = (name: string) => {
      const records = readFileSync(directory.path('out'), 'utf8').trim().split('\n');
      return records.reduce((sum, text) => sum + (text.includes(`"${name}"`) ? JSON.parse(text).size : 0), 0);
    };
    // Half of a group, by draws: the sum of the other records was kept, too.
    expect(sizeIn('a')).toBeLessThan(10.5);
    expect(groups).toMatchObject([{ unit: { weighed: sizeIn('a') } }, { unit: { weighed: sizeIn('b') } }]);
    expect(groups).toEqual((await run({ mix, output: directory.path('undisturbed') })).groups);
  });

  it('of shares is refused before it reads if a job of no record asks for it', async () => {
    const report = await run({ mix: both({ share: 1 }, { share: 1 }) as Mix, headCount: 0 });
    expect(report).toMatchObject({ records: 0, groups: undefined });
  });
});
