/**
 * The law of sections, one for each value of a field, a column or an expression: a section has the records of its value in
 * the order that they have in the plain shuffle, in a directory that is called as Hive calls it, for any settings. Its manifest
 * says what each has. A task, a killed job and the tasks of a cluster make the same files.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ShuffleOptions, type ShuffleReport, shuffle } from '#src/index.js';
import { runClusterLocally } from '../fixtures/run-cluster.js';
import { IN_TIME, runShell } from '../fixtures/run-shell.js';
import { atScale, fromCi, sampled } from '../fixtures/scale.js';
import { type TextRow, textsOfGroups, writeTable } from '../fixtures/tables.js';
import { useMemoryDirectory, useTestDirectory } from '../fixtures/temp-directory.js';
import { decodeWithTool } from '../formats/decode-with-tool.js';
import { anySettings, plainSettings, type Settings, tightOnThreads } from './any-settings.js';
import { shuffleToFile } from './shuffle-under-test.js';
import {
  bytesOfInputs,
  identitiesIn,
  identityOf,
  NO_BYTES,
  VALUED_INPUTS,
  type ValuedInputs,
} from './valued-records.js';

const directory = useMemoryDirectory();

/** The name of a directory by the rule of Hive. Undefined: the value has none. @param identity as in `Valued`. */
function hiveName(name: string, identity: Buffer): string | undefined {
  const isString = identity[0] === 0x22;
  const text = identity.subarray(isString ? 1 : 0).toString();
  if (text === '' || (!isString && text === 'null')) return `${name}=__HIVE_DEFAULT_PARTITION__`;
  const escaped = [...text].map((each) =>
    each < ' ' || '"#%\'*/:=?\\\x7f{[]^'.includes(each) ? `%${Buffer.from(each).toString('hex').toUpperCase()}` : each,
  );
  const found = `${name}=${escaped.join('')}`;
  return text.includes('\0') || Buffer.byteLength(found) > 255 ? undefined : found;
}

/** The bytes of the shards of each directory, one after the other. */
function readSections(output: string): Map<string, Buffer[]> {
  const names = readdirSync(output).filter((name) => !name.startsWith('.'));
  return new Map(
    names.map((name) => {
      const files = readdirSync(join(output, name)).sort();
      return [name, files.map((file) => readFileSync(join(output, name, file)))];
    }),
  );
}

async function shuffleEach(job: Parameters<typeof shuffleToFile>[1]): Promise<ShuffleReport> {
  const output = directory.path('sections');
  rmSync(output, { recursive: true, force: true });
  const { inputs, settings, ...options } = job;
  const paths = inputs.map((bytes, i) => {
    writeFileSync(directory.path(`each-${i}`), bytes);
    return directory.path(`each-${i}`);
  });
  mkdirSync(directory.path('temp'), { recursive: true });
  const { tuning, memoryBytes, workers, tempCompress } = settings;
  const tempDirs = [directory.path('temp')];
  const asked = { ...options, inputs: paths, output, tempDirs, memoryBytes, workers, tempCompress };
  const report = await shuffle(asked, tuning);
  expect(readdirSync(directory.path('temp'))).toEqual([]);
  return report;
}

async function expectSections(given: ValuedInputs, seed: string, settings: Settings): Promise<void> {
  const { header = NO_BYTES } = given;
  const { selector, ...format } = given.job;
  const { missing, ...plain } = format;
  const job = { ...plain, inputs: bytesOfInputs(given), seed };
  const bytesBefore = given.inputs.flat().length === 0 ? NO_BYTES : header;
  // All records in the plain order, one a shard.
  const whole = await shuffle({
    ...plain,
    inputs: job.inputs.map((bytes, i) => {
      writeFileSync(directory.path(`plain-${i}`), bytes);
      return directory.path(`plain-${i}`);
    }),
    seed,
    output: directory.path('plain'),
    shards: { by: 'records', recordsPerShard: 1 },
    force: true,
  });
  const identityIn = identitiesIn(given);
  const expected = new Map<string | undefined, { identity: string; records: Buffer[] }>();
  let isUnfit = false;
  for (const path of whole.records === 0 ? [] : whole.shards) {
    const record = readFileSync(path).subarray(bytesBefore.byteLength);
    const identity = identityIn(record);
    const name = hiveName('value', identity);
    const section = expected.get(name) ?? { identity: identity.toString('latin1'), records: [] };
    isUnfit ||= name === undefined || section.identity !== identity.toString('latin1');
    section.records.push(record);
    expected.set(name, section);
  }
  const asked = { ...job, missing, each: `value=${selector}`, settings };
  if (isUnfit) {
    await expect(shuffleEach(asked)).rejects.toMatchObject({ code: 'ERR_VALUES_UNFIT' });
    return;
  }
  const report = await shuffleEach(asked);
  const found = readSections(directory.path('sections'));
  const texts = [...found].map(([name, [shard = NO_BYTES]]) => [name, shard.toString('latin1')]);
  const wanted = [...expected].map(([name, { records }]) => [
    name,
    Buffer.concat([bytesBefore, ...records]).toString('latin1'),
  ]);
  expect(new Map(texts as [string, string][])).toEqual(new Map(wanted as [string, string][]));
  expect(report).toMatchObject({ records: whole.records, bytes: whole.bytes, checksum: whole.checksum });
  const marker = JSON.parse(readFileSync(join(directory.path('sections'), '.value.complete.json'), 'utf8'));
  const tallies = [...expected].map(([name, { records }]) => [name, records.length, Buffer.concat(records).byteLength]);
  expect(
    new Set(marker.values.map((each: SectionSummary) => JSON.stringify([each.directory, each.records, each.bytes]))),
  ).toEqual(new Set(tallies.map((each) => JSON.stringify(each))));
}

interface SectionSummary {
  readonly directory: string;
  readonly value: string | null;
  readonly records: number;
  readonly bytes: number;
}

const INPUTS = VALUED_INPUTS.slice(0, 3);

describe('sections', () => {
  it.each(INPUTS)(
    'by %s have the records of their value in the plain order, whatever the settings',
    async (_, cases) => {
      await fc.assert(fc.asyncProperty(cases, fc.string(), anySettings, expectSections), {
        numRuns: atScale(1, 6, 1500),
      });
    },
  );

  it.runIf(fromCi)('are the same where piles are scattered again, and on worker threads', async () => {
    const check = async (count: number, valueCount: number, seed: string, settings: Settings) => {
      // One value has half of the records.
      const nameOf = (i: number) => (i % 2 === 0 ? 'most' : `s${(i * i) % valueCount}`);
      const records = Array.from({ length: count }, (_, i) => {
        const text = `{"i":${i},"v":"${nameOf(i)}"}\n`;
        return { record: Buffer.from(text), identity: identityOf(nameOf(i)) };
      });
      const halves = [records.slice(0, count / 3), records.slice(count / 3)];
      const inputs = halves.map((half) => Buffer.concat(half.map(({ record }) => record)));
      const { bytes } = await shuffleToFile(directory, { inputs, seed, settings: plainSettings() });
      const lines = bytes.toString().split(/(?<=\n)/);
      await shuffleEach({ inputs, seed, settings, each: '.v', shards: { by: 'records', recordsPerShard: 17 } });
      for (const [name, shards] of readSections(directory.path('sections'))) {
        const own = lines.filter((line) => line.includes(`"v":"${name.slice('v='.length)}"`));
        expect(
          shards
            .map((shard) => shard.toString().split('\n').length - 1)
            .slice(0, -1)
            .every((each) => each === 17),
        ).toBe(true);
        expect(Buffer.concat(shards).toString()).toBe(own.join(''));
      }
    };
    const counts = [fc.integer({ min: 1500, max: 6000 }), fc.integer({ min: 1, max: 60 })] as const;
    await fc.assert(fc.asyncProperty(...counts, fc.string(), tightOnThreads, check), { numRuns: atScale(1, 2, 200) });
  });

  it('multiply with weights, and do so by ordinals', async () => {
    const inputs = [
      Buffer.from(Array.from({ length: 300 }, (_, i) => `{"i":${i},"v":${i % 7},"w":${(i % 5) / 2}}\n`).join('')),
    ];
    for (const options of [{ weightBy: '.w' }, { keys: 'ordinal' }] as const) {
      const job = { inputs, seed: 'weighed', settings: plainSettings(), ...options };
      const { bytes } = await shuffleToFile(directory, job);
      await shuffleEach({ ...job, each: '.v' });
      for (const [name, shards] of readSections(directory.path('sections'))) {
        const own = bytes
          .toString()
          .split(/(?<=\n)/)
          .filter((line) => line.includes(`"v":${name.slice('v='.length)},`));
        expect(Buffer.concat(shards).toString()).toBe(own.join(''));
      }
    }
  });

  it('have rows of Parquet', async () => {
    const rows = Array.from(
      { length: 400 },
      (_, i): TextRow => ({ text: `t${i}`, number: i % 9 === 0 ? undefined : i % 4 }),
    );
    writeTable(directory.path('in.parquet'), rows, 70);
    const job = {
      inputs: [directory.path('in.parquet')],
      seed: 'rows',
      parquetCodec: 'none',
    } as const;
    const plain = { ...job, output: directory.path('all.parquet'), force: true };
    await shuffle(plain as ShuffleOptions, { inline: true });
    const order = textsOfGroups(directory.path('all.parquet')).flat();
    rmSync(directory.path('sections'), { recursive: true, force: true });
    const asked = { ...job, output: directory.path('sections'), each: '.number', missing: '' };
    await shuffle(asked as ShuffleOptions, { inline: true });
    const names = readdirSync(directory.path('sections'))
      .filter((name) => !name.startsWith('.'))
      .sort();
    expect(names).toEqual(['number=0', 'number=1', 'number=2', 'number=3', 'number=__HIVE_DEFAULT_PARTITION__']);
    for (const [i, name] of names.entries()) {
      const [file = ''] = readdirSync(directory.path('sections', name));
      const own = order.filter((text) => (rows[Number(text.slice(1))]?.number ?? 4) === i);
      expect(textsOfGroups(directory.path('sections', name, file)).flat()).toEqual(own);
    }
  });
});

describe('a job with sections', () => {
  const files = useTestDirectory();

  function writeInput(lines: readonly string[]): ShuffleOptions {
    writeFileSync(files.path('in'), lines.map((line) => `${line}\n`).join(''));
    return { inputs: [files.path('in')], output: files.path('out'), seed: '7', each: '.v' };
  }

  it.each([
    [
      'a string and a number',
      ['{"v":1}', '{"v":"1"}'],
      /the values (?:1 and "1"|"1" and 1) of .* would both have the directory v=1/,
    ],
    ['half of a character', ['{"v":"a\\ud800"}'], /has \\ud800, which is half of a character/],
    ['a long value with escapes', [`{"v":"${'\\n'.repeat(85)}"}`], /can name no directory: it has 257 bytes/],
    ['a value that is too long', [`{"v":"${'x'.repeat(300)}"}`], /can name no directory: it has 302 bytes/],
    ['a NUL', ['{"v":"a\\u0000"}'], /can name no directory: it has a NUL/],
    [
      'values that take more than a thread has for them',
      Array.from({ length: 4000 }, (_, i) => `{"v":"${String(i).padStart(240, 'x')}"}`),
      /`each` \.v has found 31\d\d different values; expected at most 10000, which together take at most 400 kB: /,
    ],
  ])('refuses %s', async (_, lines, message) => {
    const done = shuffle(writeInput(lines));
    await expect(done).rejects.toMatchObject({ code: 'ERR_VALUES_UNFIT', message: expect.stringMatching(message) });
    expect(readdirSync(files.path('.')).filter((name) => name !== 'temp')).toEqual(['in']);
  });

  it('takes a value for one, however it is written, and characters for those that they are', async () => {
    const lines = ['"a/b"', '"a\\/b"', '"a\\u002fb"', '"\\u0061/b"', '"a\\\\/b"', '"\\ud83d\\ude00"', '"😀"', '""'].map(
      (value, i) => `{"v":${value},"i":${i}}`,
    );
    const job = writeInput([...lines, '{"i":8}', '{"v":"a\\nb"}']);
    // It has no escape: a backslash, and a letter.
    const { sections } = await shuffle({ ...job, missing: 'a\\nb' });
    expect(sections?.map(({ name, records }) => [name, records])).toEqual([
      ['v=__HIVE_DEFAULT_PARTITION__', 1],
      ['v=a%0Ab', 1],
      ['v=a%2Fb', 4],
      ['v=a%5C%2Fb', 1],
      ['v=a%5Cnb', 1],
      ['v=😀', 2],
    ]);
  });

  const CODECS = [
    ['gzip', '.gz'],
    ['zstd', '.zst'],
  ] as const;
  it.each(sampled(CODECS, 2, 1))('of compressed inputs compresses its shards: %s', async (codec, suffix) => {
    const job = writeInput(Array.from({ length: 900 }, (_, i) => `{"v":"v${i % 7}","i":${i}}`));
    const shards = { by: 'count', shardCount: 2 } as const;
    const plain = await shuffle({ ...job, shards });
    const expected = readSections(files.path('out'));
    execFileSync(codec, ['-k', files.path('in')], { stdio: 'pipe' });
    const inputs = [files.path(`in${suffix}`)];
    const packed = await shuffle({ ...job, inputs, shards, output: files.path('packed'), compress: { codec } });
    const found = readSections(files.path('packed'));
    expect(
      new Map([...found].map(([name, parts]) => [name, parts.map((part) => decodeWithTool(codec, part))])),
    ).toEqual(expected);
    expect(packed.shards).toEqual(plain.shards.map((path) => path.replace(/out/, 'packed').concat(suffix)));
    expect(packed).toMatchObject({ records: 900, checksum: plain.checksum });
  });

  it('needs a new or empty directory', async () => {
    const job = writeInput(['{"v":"a"}']);
    mkdirSync(files.path('out'));
    await shuffle(job);
    expect(readdirSync(files.path('out')).sort()).toEqual(['.v.complete.json', 'v=a']);
    await expect(shuffle({ ...job, force: true })).rejects.toMatchObject({ code: 'ERR_OUTPUT_EXISTS' });
  });

  it.runIf(fromCi)('gives the same files as tasks of a cluster', async () => {
    const job = writeInput(Array.from({ length: 900 }, (_, i) => `{"v":"v${i % 11}","i":${i}}`));
    await shuffle({ ...job, shards: { by: 'bytes', maxShardBytes: 500 } });
    const alone = readSections(files.path('out'));
    const shards = { by: 'bytes', maxShardBytes: 500 } as const;
    await runClusterLocally({ ...job, shards, output: files.path('tasks'), jobDir: files.path('job'), tasks: 3 });
    expect(readSections(files.path('tasks'))).toEqual(alone);
  });

  it.runIf(fromCi)('takes 10,000 values with few open files, and no more values', async () => {
    const lines = Array.from({ length: 10_000 }, (_, i) => `{"v":${i}}\n`);
    const [input, output] = [directory.path('many'), directory.path('of-many')];
    const run = () => runShell(`ulimit -n 256; ${IN_TIME} "$@"`, [input, '-o', output, '--each', '.v', '-S', '8M']);
    writeFileSync(input, lines.join(''));
    expect(await run()).toMatchObject({ exitCode: 0 });
    expect(readSections(output).size).toBe(10_000);
    rmSync(output, { recursive: true });
    writeFileSync(input, `${lines.join('')}{"v":-1}\n`);
    const more = await run();
    expect(more).toMatchObject({ exitCode: 3, stderr: expect.stringContaining('has found 10001 different values') });
  });
});
