/**
 * The law of duplicates: the file has a line for each record that is dropped, in the order of the inputs, with where it comes
 * from and where the one comes from that stays, for any settings. The output is that of the job without the file.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ShuffleOptions, shuffle, type Tuning } from '#src/index.js';
import { runShell } from '../fixtures/run-shell.js';
import { atScale, fromCi, sampled } from '../fixtures/scale.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';
import { anyInputs } from './any-inputs.js';
import { anySettings, type Settings, tightSettings } from './any-settings.js';
import { encode } from './encodings.js';
import { recordsOf } from './reference-order.js';

const directory = useMemoryDirectory();

interface Job {
  readonly inputs: readonly Buffer[];
  readonly settings: Settings;
  readonly options?: Partial<ShuffleOptions>;
  /** What equal records have in common. */
  readonly identityOf?: (record: Buffer) => string;
  readonly headerBytes?: number;
}

const wholeOf = (record: Buffer) => record.toString('latin1');
const isText = (record: Buffer) => Buffer.from(record.toString()).equals(record);

/** The lines that the file must have. */
function expectedLines({ inputs, identityOf = wholeOf, headerBytes = 0 }: Job, paths: readonly string[]): string {
  const first = new Map<string, object>();
  const lines: string[] = [];
  for (const [i, input] of inputs.entries()) {
    let byte = headerBytes;
    for (const record of recordsOf(input.subarray(headerBytes), 0x0a)) {
      const place = { input: paths[i], byte };
      const kept = first.get(identityOf(record));
      const content = isText(record) ? { record: record.toString() } : { base64: record.toString('base64') };
      if (kept === undefined) first.set(identityOf(record), place);
      else lines.push(`${JSON.stringify({ dropped: place, kept, ...content })}\n`);
      byte += record.byteLength;
    }
  }
  return lines.join('');
}

function decoded(path: string): string {
  const bytes = readFileSync(path);
  return (bytes[0] === 0x1f && bytes[1] === 0x8b ? gunzipSync(bytes) : bytes).toString('latin1');
}

async function expectListed(job: Job): Promise<void> {
  const { inputs, settings, options } = job;
  const paths = inputs.map((bytes, i) => {
    const path = directory.path(`in-${i}`);
    writeFileSync(path, encode(bytes, settings.encodings[i % settings.encodings.length] ?? 'plain'));
    return path;
  });
  const tempDirs = Array.from({ length: settings.tempDirCount }, (_, i) => directory.path('temp', String(i)));
  for (const path of tempDirs) mkdirSync(path, { recursive: true });
  const { workers, memoryBytes, tempCompress, tuning } = settings;
  const common = {
    unique: options?.uniqueBy === undefined,
    ...options,
    inputs: paths,
    tempDirs,
    workers,
    tempCompress,
  };
  const [output, duplicates, alone] = ['out', 'dropped', 'alone'].map((name) => directory.path(name));
  const given = { ...common, seed: 'd', memoryBytes: memoryBytes + 2 ** 24, force: true };
  const report = await shuffle({ ...given, output, duplicates }, tuning);
  const reportAlone = await shuffle({ ...given, output: alone });
  expect(report).toMatchObject({ duplicates: reportAlone.duplicates, checksum: reportAlone.checksum });
  expect(readFileSync(duplicates ?? '', 'utf8')).toBe(expectedLines(job, paths));
  const contentOf = (path = '') =>
    report.shards.length === 0
      ? decoded(path)
      : readdirSync(path).map((name) => readFileSync(`${path}/${name}`, 'latin1'));
  expect(contentOf(output)).toEqual(contentOf(alone));
  expect(tempDirs.flatMap((path) => readdirSync(path))).toEqual([]);
  for (const path of tempDirs) rmSync(path, { recursive: true });
}

/** Lines of which some values come very often. */
function makeSkewed(lines: number, values: number, often: number): Buffer[] {
  const texts = Array.from({ length: lines }, (_, i) => {
    const draw = (Math.imul(i, 0x9e3779b1) >>> 8) / 2 ** 24;
    const value = draw < often ? i % 3 : Math.floor(draw * values);
    return `{"i":${i},"text":"${'"\\t'.repeat((i * 37) % 20).replaceAll('"', '\\"')}","u":"${value.toString(36)}"}\n`;
  });
  const at = Math.floor(lines / 3);
  return [Buffer.from(texts.slice(0, at).join('')), Buffer.from(texts.slice(at).join(''))];
}

const fieldOf = (record: Buffer): string => JSON.stringify(JSON.parse(record.toString()).u);
const PLAIN: Settings = { workers: 1, memoryBytes: 2 ** 26, tempDirCount: 1, encodings: ['plain'], tuning: {} };

describe('duplicates', () => {
  it('of whole records are listed, whatever the bytes and the settings', async () => {
    const inputs = anyInputs.map((each) => [...each, ...each.slice(0, 2)]);
    const job = fc.record({ inputs, settings: anySettings });
    await fc.assert(fc.asyncProperty(job, expectListed), { numRuns: atScale(3, 100, 3000) });
  });

  it.runIf(fromCi)(
    'of a field are listed where piles are too large, with very many of one value, and on worker threads',
    async () => {
      const settings = fc.tuple(tightSettings, fc.boolean()).map(([each, inline]) => {
        // Lines are many times as long as records, and would be as many segments of a byte.
        const bufferBytes = 64 + (each.tuning.bufferBytes ?? 0);
        return { ...each, tuning: { ...each.tuning, bufferBytes, inline } };
      });
      const skewed = fc.record({
        lines: fc.integer({ min: 3000, max: 9000 }),
        values: fc.integer({ min: 1, max: 9000 }),
        often: fc.double({ min: 0, max: 1, noNaN: true }),
      });
      await fc.assert(
        fc.asyncProperty(skewed, settings, ({ lines, values, often }, ofJob) =>
          expectListed({
            inputs: makeSkewed(lines, values, often),
            settings: ofJob,
            options: { uniqueBy: '.u' },
            identityOf: fieldOf,
          }),
        ),
        { numRuns: atScale(1, 20, 600) },
      );
    },
  );

  it.each(
    sampled<[string, Partial<ShuffleOptions>]>(
      [
        ['shards', { shards: { by: 'count', shardCount: 3 } }],
        ['shards by bytes', { shards: { by: 'bytes', maxShardBytes: 2000 } }],
        [
          'splits',
          {
            splits: [
              { name: 'a', share: 0.3 },
              { name: 'b', rest: true },
            ],
          },
        ],
        ['the first records', { headCount: 20 }],
        ['no records', { headCount: 0 }],
        ['a compressed output', { compress: { codec: 'gzip' } }],
        ['a record for each that misses the field', { uniqueBy: '.none', missing: 'x' }],
      ],
      2,
    ),
  )('are listed beside %s', async (_, options) => {
    const none = options.headCount === 0;
    const inputs = none ? [] : makeSkewed(1500, 300, 0.4);
    const tunings: Tuning[] = [{}, { pileCount: 5, bufferBytes: 500, sliceBytes: 3000, keepInRam: false }];
    for (const tuning of tunings) {
      await expectListed({
        inputs: none ? [Buffer.from('')] : inputs,
        settings: { ...PLAIN, tuning: { inline: true, ...tuning } },
        options: { uniqueBy: '.u', ...options },
        identityOf: options.missing === undefined ? fieldOf : () => '',
      });
    }
  });

  it('are counted from the beginning of an input, with its header, and of a compressed one when it is decoded', async () => {
    const header = 'a,b\n';
    const inputs = [Buffer.from(`${header}1,2\n3,4\n1,2\n`), Buffer.from(`${header}3,4`)];
    for (const encodings of [['plain'], ['gzip', 'plain']] as const) {
      const settings = { ...PLAIN, encodings };
      await expectListed({ inputs, settings, options: { header: { lines: 1 } }, headerBytes: header.length });
    }
  });

  it.each([['d.gz'], ['d.gzip']])('are compressed by the name of their file: %s', async (name) => {
    const path = directory.path('in');
    writeFileSync(path, 'x\ny\nx\nx\n');
    const file = directory.path(name);
    await shuffle({ inputs: [path], output: directory.path('out'), unique: true, duplicates: file, seed: '1' });
    const lineOf = (byte: number) =>
      `${JSON.stringify({ dropped: { input: path, byte }, kept: { input: path, byte: 0 }, record: 'x\n' })}\n`;
    expect(gunzipSync(readFileSync(file)).toString()).toBe(lineOf(4) + lineOf(6));
    writeFileSync(path, 'x\ny\n');
    await shuffle({
      inputs: [path],
      output: directory.path('out'),
      unique: true,
      duplicates: file,
      seed: '1',
      force: true,
    });
    expect(gunzipSync(readFileSync(file)).toString()).toBe('');
  });

  it.runIf(fromCi)('of long records are listed, and of too long ones refused', async () => {
    const long = Buffer.concat([Buffer.alloc(3_000_000, 1), Buffer.from('\n')]);
    const settings = { ...PLAIN, tuning: { inline: true } };
    const inputs = [Buffer.concat([long, Buffer.from('a\na\n'), long])];
    await expectListed({ inputs, settings: { ...settings, memoryBytes: 2 ** 28 } });
    await expect(expectListed({ inputs, settings: { ...settings, memoryBytes: 2 ** 20 } })).rejects.toMatchObject({
      code: 'ERR_RECORD_TOO_LONG',
    });
    rmSync(directory.path('temp'), { recursive: true });
    mkdirSync(directory.path('temp'));
    const path = directory.path('too-long');
    writeFileSync(path, Buffer.alloc(2 ** 26 + 1, 'x'));
    const job = { inputs: [path], output: directory.path('out2'), unique: true, duplicates: directory.path('d') };
    await expect(shuffle(job)).rejects.toMatchObject({ code: 'ERR_RECORD_TOO_LONG' });
    expect([job.output, job.duplicates].filter((each) => existsSync(each))).toEqual([]);
  });

  it('of standard input are listed', async () => {
    const script = 'printf "b\\na\\nb\\n" | "$@" && cat "$SITE/d"';
    const words = ['-q', '--unique', '-o', directory.path('out'), '--duplicates', directory.path('d')];
    const { exitCode, stderr, stdout } = await runShell(script, words, { SITE: directory.path() });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(stdout.toString()).toBe(
      '{"dropped":{"input":"-","byte":4},"kept":{"input":"-","byte":0},"record":"b\\n"}\n',
    );
  });
});

describe('duplicates are refused', () => {
  const job = (): ShuffleOptions => {
    writeFileSync(directory.path('in'), 'a\na\n');
    return { inputs: [directory.path('in')], output: directory.path('out'), unique: true, seed: '1' };
  };

  it.each<[Partial<ShuffleOptions>, string]>([
    [{ unique: false }, '`duplicates` lists what `unique` or `uniqueBy` drops: give one of them'],
    [
      { repeat: true, headCount: 3 },
      '`duplicates` does not go with `repeat`: list them by a job that writes each record once',
    ],
    [
      { output: '-' },
      '`duplicates` appears together with the output, or not at all: name a file with each of `output` and `duplicates`',
    ],
    [
      { duplicates: '-' },
      '`duplicates` appears together with the output, or not at all: name a file with each of `output` and `duplicates`',
    ],
    [
      { output: '/dev/null' },
      '`duplicates` appears together with the output, or not at all, and /dev/null is a stream: name a file with `output`',
    ],
    [{ duplicates: '/dev/null' }, 'the file of duplicates /dev/null is no regular file; name a file'],
    [{ duplicates: '' }, '`duplicates`: expected the path of a file'],
    [
      { maxRecordBytes: 2 ** 30 },
      '`maxRecordBytes` is 1073741824; expected at most 67108864 with `duplicates`, whose records are lines of JSON',
    ],
    [
      { memoryBytes: 2 ** 21 },
      'a memory budget of 2097152 bytes is too small for `duplicates`: expected at least 8M; give more with `memoryBytes`',
    ],
  ])('with %j', async (options, message) => {
    const duplicates = directory.path('d');
    await expect(shuffle({ ...job(), duplicates, ...options })).rejects.toMatchObject({ kind: 'usage', message });
    expect(readdirSync(directory.path()).filter((name) => name !== 'temp')).toEqual(['in']);
  });

  it.each([
    ['out', 'is the output; name another file'],
    ['in', 'is one of the inputs; name another file'],
    ['shards/d', 'lies among the shards, whose readers would take it for one; name a file elsewhere'],
  ])('in the place %s', async (name, reason) => {
    const isAmong = name.includes('/');
    if (isAmong) mkdirSync(directory.path('shards'));
    const shards = { by: 'count', shardCount: 2 } as const;
    const duplicates = directory.path(name);
    const more = isAmong ? { shards, output: directory.path('shards') } : { force: true };
    await expect(shuffle({ ...job(), ...more, duplicates })).rejects.toMatchObject({
      kind: 'usage',
      message: `the file of duplicates ${duplicates} ${reason}`,
    });
  });

  it('in the job directory, whose files go', async () => {
    mkdirSync(directory.path('job'));
    const [jobDir, duplicates] = [directory.path('job'), directory.path('job', 'cuts')];
    await expect(shuffle({ ...job(), jobDir, tempDirs: [], duplicates })).rejects.toMatchObject({
      kind: 'usage',
      message: `the file of duplicates ${duplicates} is the job directory or lies in it, whose files go with the job; name a file elsewhere`,
    });
    expect(readdirSync(jobDir)).toEqual([]);
  });

  it('where a file is, unless it may be replaced', async () => {
    const duplicates = directory.path('d');
    writeFileSync(duplicates, 'former', { mode: 0o600 });
    await expect(shuffle({ ...job(), duplicates })).rejects.toMatchObject({ code: 'ERR_OUTPUT_EXISTS' });
    expect(existsSync(directory.path('out'))).toBe(false);
    expect(readFileSync(duplicates, 'utf8')).toBe('former');
    await shuffle({ ...job(), duplicates, force: true });
    expect(readFileSync(duplicates, 'utf8')).toContain('"record":"a\\n"');
  });
});
