/**
 * A stopped job, and later calls for its output: refused if nobody says what becomes of it, resumed if it is the same job,
 * discarded by force. Each difference that decides the bytes or their place has its own words. The tests of faults stop
 * jobs at every call, and damage their files.
 */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import { type ShuffleOptions, shuffle, shuffleStore } from '#src/index.js';
import { seal, splitSealed, unseal } from '#src/io/sealed-file.js';
import type { Tuning } from '#src/plan/memory-plan.js';
import { errorOf } from '../fixtures/error-of.js';
import { makeStore } from '../fixtures/make-store.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';

const directory = useMemoryDirectory();
const path = (...names: string[]) => directory.path(...names);
const LINES = Array.from({ length: 1000 }, (_, i) => `{"u":${i},"v":${i % 7}} ${'.'.repeat(i % 9)}\n`);
const TEXT = LINES.join('').padEnd(25_000, '.');
const SIZE = TEXT.length;
/** Every change of what a file holds is seen by its time. */
const EARLIER = 1e9;
const ON_DISK: Partial<Tuning> = { inline: true, mayUseRamPool: false, pileCount: 8, stripeCount: 2, sliceBytes: 5000 };

beforeEach(() => {
  for (const name of ['out', 'other']) mkdirSync(path(name));
  for (const name of ['a', 'b', 'c']) {
    writeFileSync(path(name), TEXT);
    utimesSync(path(name), EARLIER, EARLIER);
  }
});

type Asked = Partial<ShuffleOptions>;
const job = (more: Asked): ShuffleOptions => ({
  inputs: [path('a'), path('b')],
  output: path('out', 'x'),
  tempDirs: [directory.temp],
  seed: 'seed',
  memoryBytes: 2 ** 26,
  ...more,
});
const run = (more: Asked, tuning = ON_DISK) => shuffle(job(more), tuning);
const resume = (more: Asked = {}, tuning = ON_DISK) => run({ resume: true, ...more }, tuning);

/** Stops a job at the beginning of pass 2. @returns its directory. */
async function stop(more: Asked = {}, tuning = ON_DISK): Promise<string> {
  const stopper = new AbortController();
  const onProgress = (progress: { readonly phase: string }) => {
    if (progress.phase === 'shuffle') stopper.abort();
  };
  const { unfinishedJob, message } = await errorOf(resume({ ...more, signal: stopper.signal, onProgress }, tuning));
  return unfinishedJob?.directory ?? expect.fail(message);
}

const discard = (more: Asked = {}) => run({ force: true, ...more });
const left = () => [directory.temp, path('out'), path('other')].flatMap((name) => readdirSync(name)).sort();

describe('an unfinished job', () => {
  it('is refused and left as it is, unless somebody says what becomes of it', async () => {
    const kept = await stop();
    const before = left();
    expect(await errorOf(run({}))).toMatchObject({
      kind: 'usage',
      code: 'ERR_JOB_UNFINISHED',
      message: `an unfinished or kept job of ${path('out', 'x')} exists in ${kept}: give \`resume\` to resume it, or \`force\` to discard it`,
    });
    for (const more of [
      {},
      { resume: true },
      { force: true },
      { resume: true, force: true },
      { jobDir: path('named') },
    ])
      expect(await errorOf(run({ tempDirs: [path('other')], ...more }))).toMatchObject({
        code: 'ERR_JOB_UNFINISHED',
        message: expect.stringContaining(`exists in ${kept}: give the \`tempDirs\` or \`jobDir\` of that job, and`),
      });
    await makeStore(path('store'), { seed: 's', pileCount: 1, inputs: { a: ['x'] } });
    const { message } = await errorOf(
      shuffleStore(path('store'), { output: path('out', 'x'), tempDirs: [directory.temp] }),
    );
    expect(message).toBe(
      `an unfinished or kept job of ${path('out', 'x')} exists in ${kept}: give \`force\` to discard it`,
    );
    expect(left()).toEqual(before);
    await discard();
    expect(left()).toEqual(['x']);
  });

  it('is nobody else’s while a process is at it, whatever is said', async () => {
    const refused: unknown[] = [];
    let others: Promise<void> | undefined;
    const tryOthers = async () => {
      for (const more of [{}, { resume: true }, { force: true }, { tempDirs: [path('other')], force: true }])
        refused.push((await errorOf(run(more))).code);
    };
    const onProgress = () => {
      others ??= tryOthers();
    };
    await resume({ onProgress }, { ...ON_DISK, inline: false });
    await others;
    expect(refused).toEqual(Array(4).fill('ERR_JOB_LOCKED'));
  });

  it('is the same with other memory, threads, seeds that are left out, and names of its inputs', async () => {
    await run({ output: path('out', 'whole') });
    const whole = readFileSync(path('out', 'whole'), 'utf8');
    const { seed: _, ...drawn } = job({});
    for (const more of [
      { memoryBytes: 2 ** 25, workers: 3, ioLimits: { [directory.temp]: 3 }, maxRecordBytes: 5000, force: true },
      { inputs: [{ path: path('a') }, `${path()}/./b`], inputIds: 'ordinal' as const, seed: undefined },
      { inputs: [path('[ab]')] },
    ]) {
      await stop();
      const { resumed, piles } = await resume(more, { mayUseRamPool: true, pileCount: 3, sliceBytes: 999 });
      expect({ resumed, piles }).toEqual({ resumed: { pileSets: 10, outputBytes: expect.any(Number) }, piles: 8 });
      expect(readFileSync(path('out', 'x'), 'utf8')).toBe(whole);
      rmSync(path('out', 'x'));
    }
    await stop({ seed: undefined });
    expect((await errorOf(resume())).message).toMatch(/another seed /);
    expect((await shuffle({ ...drawn, resume: true }, ON_DISK)).resumed).toBeDefined();
  });

  it.each([true, false])('leaves its directory if a user had made that: %s', async (wasThere) => {
    const named = path('named');
    for (const end of [resume, (more: Asked) => discard(more)]) {
      if (wasThere) mkdirSync(named);
      await stop({ jobDir: named, tempDirs: undefined });
      await end({ jobDir: named, tempDirs: undefined });
      expect(existsSync(named)).toBe(wasThere);
      for (const gone of [named, path('out', 'x')]) rmSync(gone, { recursive: true, force: true });
    }
  });

  it('says when there is too little memory for its piles', async () => {
    await stop({ memoryBytes: 2 ** 30 }, { ...ON_DISK, pileCount: 20_000, bufferBytes: 64 });
    expect(await errorOf(resume({ memoryBytes: 2 ** 23 }))).toMatchObject({
      code: 'ERR_MEMORY_BUDGET',
      message: expect.stringMatching(/too small for the 20000 existing piles: expected at least \d+M/),
    });
    await discard();
  });

  const shards = { by: 'count', shardCount: 3 } as const;
  const splits = [
    { name: 'a', share: 0.5 },
    { name: 'b', rest: true },
  ] as const;
  const byField = { output: 'out', splits, splitBy: '.v', missing: 'x' } as const;
  const byValue = { uniqueBy: '.u', missing: 'x' };

  const DIFFERENCES: readonly (readonly [Asked, readonly (readonly [Asked, RegExp])[]])[] = [
    [
      {},
      [
        [{ seed: 'other' }, /another seed \("seed", now "other"\); /],
        [{ zeroTerminated: true }, /another kind of records \(.*0a.*, now .*00.*\); /],
        [{ compress: { codec: 'gzip', level: 9 } }, /compression \(null, now "gzip 9"\); /],
        [{ decompressProgram: ['cat', '-u'] }, /program to decompress \(null, now \["cat","-u"\]\); /],
        [{ unique: true }, /another rule for equal records \("all are kept", now "one is kept"\); /],
        [{ keys: 'ordinal' }, /another kind of keys \("position", now "ordinal"\); /],
        [{ headCount: 5 }, /another number of records \("all", now 5\); /],
        [
          { weightBy: '.n', missing: '1' },
          /another selector of weights \("none", now {"field":".n","missing":"1"}\); /,
        ],
        [{ sum: '.n' }, /another selector of sums \("none", now {"field":".n"}\); /],
        [{ weights: [{ glob: '*', factor: 2 }] }, /another list of weights \("none", now \["\*=2"\]\); /],
        [{ inputIds: 'path' }, /another list of input ids \(null, now "[0-9a-f]{64}"\); /],
        [{ inputs: ['a'] }, /another number of inputs \(2, now 1\); /],
      ],
    ],
    [{ inputIds: ['a', 'b'] }, [[{ inputIds: ['b', 'a'] }, /another list of input ids /]]],
    [
      { jobDir: 'named' },
      [
        [{ tempDirs: ['other', 'temp'] }, /another list of temp directories \(\[".*\/temp"\], now/],
        [
          { output: 'out/y' },
          /holds an unfinished job of another output, \S+x: resume or discard that job with its own/,
        ],
      ],
    ],
    [
      byField,
      [
        [{ splitBy: '.u' }, /another selector of splits \({"field":".v","missing":"x"}, now {"field":/],
        [{ missing: 'y' }, /another selector of splits /],
        [{ splitBy: undefined, missing: undefined }, /another selector of splits \(.*, now "none"\)/],
      ],
    ],
    [
      byValue,
      [
        [{ uniqueBy: '.v' }, /selector of equal records \({"field":".u","missing":"x"}, now {"field":".v"/],
        [{ missing: undefined }, /another selector of equal records /],
        [{ uniqueBy: undefined, missing: undefined, unique: true }, /now "none"\); /],
      ],
    ],
    [
      { output: 'out', shards },
      [
        [{ shards: { by: 'count', shardCount: 4 } }, /another cut into shards \(.*"shardCount":3}, now /],
        [{ shards: { by: 'bytes', maxShardBytes: 3000 } }, /another cut into shards \(.*"shardCount":3}, now /],
      ],
    ],
    [
      { output: 'out', splits },
      [[{ splits: [{ name: 'a', share: 0.4 }, splits[1]] }, /list of splits \(.*"share":0.5.*, now .*"share":0.4.*\)/]],
    ],
  ];

  /** With whole paths in place of names. */
  function placed({ inputs, output, jobDir, tempDirs, ...more }: Asked): Asked {
    return {
      ...more,
      ...(inputs && { inputs: inputs.map((name) => path(String(name))) }),
      ...(output !== undefined && { output: path(output) }),
      ...(jobDir !== undefined && { jobDir: path(jobDir) }),
      ...(tempDirs && { tempDirs: tempDirs.map((name) => path(name)) }),
    };
  }

  it.each(DIFFERENCES)('of %j is another with other options', async (given, differences) => {
    const asked = placed(given);
    await stop(asked);
    for (const [changed, line] of differences) {
      const error = await errorOf(resume({ ...asked, ...placed(changed) }));
      expect(error.message).toMatch(line);
      if (error.code === 'ERR_JOB_UNFINISHED') continue;
      expect(error).toMatchObject({ kind: 'usage', code: 'ERR_JOB_DIFFERS' });
      expect(error.message).toMatch(
        /^the unfinished job in \S+ started with .*; give the same to resume it, or `force` without `resume` to discard it$/,
      );
    }
    expect((await resume(asked)).resumed?.pileSets).toBeGreaterThan(5);
  });
});

describe('an input that changed since', () => {
  const overwrite = (at: number) => {
    const bytes = Buffer.from(TEXT);
    bytes[at] = 0x21;
    writeFileSync(path('b'), bytes);
    utimesSync(path('b'), EARLIER, EARLIER);
  };

  it('ends a resumed job with its name and what changed', async () => {
    await stop();
    const keep = () => {
      writeFileSync(path('b'), TEXT);
      utimesSync(path('b'), EARLIER, EARLIER);
    };
    const changes: readonly (readonly [() => void, string])[] = [
      [() => truncateSync(path('b'), SIZE + 1), `its size was ${SIZE} bytes and is ${SIZE + 1}`],
      [() => truncateSync(path('b'), SIZE - 1), `its size was ${SIZE} bytes and is ${SIZE - 1}`],
      [() => utimesSync(path('b'), 1, 2), 'the time of its last change differs'],
      ...[0, 4095, SIZE - 4096, SIZE - 1].map((at) => [() => overwrite(at), 'its first or last bytes differ'] as const),
    ];
    for (const [change, what] of changes) {
      change();
      expect(await errorOf(resume())).toMatchObject({ kind: 'input', code: 'ERR_INPUT_CHANGED' });
      expect((await errorOf(resume())).message).toMatch(
        new RegExp(
          `^${path('b')}: the input changed since the unfinished job in \\S+ started \\(${what}\\); give \`force\``,
        ),
      );
      keep();
    }
    for (const names of [
      ['b', 'c'],
      ['a', 'c'],
    ]) {
      if (names.includes('c')) utimesSync(path('c'), 1, 2);
      expect((await errorOf(resume({ inputs: names.map((name) => path(name)) }))).code).toBe('ERR_INPUT_CHANGED');
    }
    // What lies between is not read twice.
    overwrite(10_000);
    expect((await resume()).resumed?.pileSets).toBe(10);
  });
});

describe('a manifest', () => {
  it('that is damaged is told of where nothing had been done, and the job starts anew', async () => {
    const named = { jobDir: path('named'), tempDirs: undefined };
    for (const [more, byteLength] of [
      [{}, 50],
      [named, 5],
      [named, 0],
    ] as const) {
      const kept = await stop(more);
      for (const name of readdirSync(kept).filter((name) => name !== 'manifest'))
        rmSync(`${kept}/${name}`, { recursive: true });
      truncateSync(`${kept}/manifest`, byteLength);
      // The note beside the output proves whose it is.
      if ('jobDir' in more)
        expect((await errorOf(run({ ...more, output: path('out', 'y') }))).message).toMatch(
          /: it holds manifest, which is damaged, or is not from a job; name one that is empty or does not exist$/,
        );
      const lines: string[] = [];
      await run({ ...more, onWarning: (line) => lines.push(line) });
      expect(lines.join('\n')).toMatch(
        / is damaged: .*; nothing was done yet, and the job starts anew, with a new seed if/,
      );
      rmSync(path('out', 'x'));
    }
  });

  it('of another version or of another spec, or that is missing, is discarded by force alone', async () => {
    const kept = await stop();
    const file = `${kept}/manifest`;
    const { sealed, rest } = splitSealed(readFileSync(file));
    const version = Number(Buffer.from(sealed).toString('latin1').split(' ')[2]);
    const value = Object(unseal(sealed, 'job', version, file));
    const layout = { ...value.layout, slicesDigest: 'other' };
    const changed = rest.map((byte) => byte ^ 1);
    for (const [bytes, code, fingerprints = rest] of [
      [seal('job', 99, value), 'ERR_JOB_VERSION'],
      [seal('job', version, { ...value, layout }), 'ERR_JOB_VERSION'],
      [seal('job', version, { ...value, spec: { ...value.spec, key: {} } }), 'ERR_VERIFICATION'],
      // Other fingerprints than the sealed part tells.
      [sealed, 'ERR_VERIFICATION', changed],
      [sealed, 'ERR_VERIFICATION', rest.subarray(1)],
      [undefined, 'ERR_VERIFICATION'],
    ] as const) {
      if (bytes === undefined) renameSync(file, path('away'));
      else writeFileSync(file, Buffer.concat([bytes, fingerprints]));
      expect((await errorOf(resume())).code).toBe(code);
      expect(existsSync(path('out', 'x'))).toBe(false);
    }
    expect(statSync(kept).isDirectory()).toBe(true);
    await discard();
    expect(left()).toEqual(['x']);
  });
});
