/**
 * Every pair of options beside `unique` gives the unique records as those options say: the first of them, draws from them,
 * in shards, compressed, with a header, resumed, in little memory.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { gunzipSync, gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { type ShuffleOptions, shuffle, type Tuning } from '#src/index.js';
import { checksumTextOf } from '#src/pile-sets/pile-totals.js';
import { sampled } from '../fixtures/scale.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';
import { checksumOf, recordKey } from '../workers/kernel/kernel-twin.js';
import { recordsOf, uniqueOrder } from './reference-order.js';

const directory = useMemoryDirectory();
const SEED = 'pairs';
const HEADER = 'a header\n';

interface Choice {
  readonly name: string;
  readonly options?: Partial<ShuffleOptions>;
  readonly tuning?: Tuning;
}

/** Two of one group contradict each other. */
const GROUPS: readonly (readonly Choice[])[] = [
  [
    { name: 'headCount', options: { headCount: 70 } },
    { name: 'headCount 0', options: { headCount: 0 } },
    { name: 'headCount of more than there are', options: { headCount: 5000 } },
    { name: 'repeat', options: { headCount: 300, repeat: true } },
  ],
  [
    { name: 'shards by count', options: { shards: { by: 'count', shardCount: 5 } } },
    { name: 'shards by records', options: { shards: { by: 'records', recordsPerShard: 40 } } },
    { name: 'shards by bytes', options: { shards: { by: 'bytes', maxShardBytes: 1000 } } },
    { name: 'shards around a long record', options: { shards: { by: 'bytes', maxShardBytes: 700 } } },
  ],
  [{ name: 'compress', options: { compress: { codec: 'gzip' } } }],
  [{ name: 'header', options: { header: { lines: 1 } } }],
  [
    { name: 'zeroTerminated', options: { zeroTerminated: true } },
    { name: 'CSV', options: { records: { by: 'csv' } } },
    { name: 'two lines a record', options: { records: { by: 'lines', linesPerRecord: 2 } } },
  ],
  [{ name: 'resume', options: { resume: true } }],
  [{ name: 'keepTemp', options: { keepTemp: true } }],
  [{ name: 'igzip', options: { igzip: false } }],
  [{ name: 'workers', options: { workers: 3 }, tuning: { inline: false } }],
  [
    { name: 'piles in memory', tuning: { keepInRam: true, pileCount: 3, bufferBytes: 700 } },
    {
      name: 'piles that are too large',
      tuning: {
        keepInRam: false,
        pileCount: 1,
        bufferBytes: 100,
        readBytes: 512,
        outputBytes: 500,
        pass2ArenaBytes: 49_152,
      },
    },
  ],
];

const pairs = GROUPS.flatMap((group, i) =>
  group.flatMap((one) => GROUPS.slice(i + 1).flatMap((others) => others.map((other) => [one, other] as const))),
);

/** Lines of which half come again; the longest is a long record in a small shard. */
function textsOf(ending: string): string[] {
  const line = (i: number) => `${i} ${'x'.repeat((i * 37) % 90)}${i % 50 === 7 ? ',"y"' : ''}${ending}`;
  const lines = (first: number, end: number) => Array.from({ length: end - first }, (_, i) => line(first + i)).join('');
  return [lines(0, 600), lines(300, 900) + lines(0, 300), `${'long '.repeat(60)}${ending}`.repeat(20)];
}

/** The records of the job as it asks for them. */
function recordsUnder({ zeroTerminated, records }: Partial<ShuffleOptions>, texts: readonly string[]): Buffer[] {
  const lines = texts.map((text) => recordsOf(Buffer.from(text), zeroTerminated ? 0 : 0x0a));
  if (records?.by !== 'lines') return lines.flat();
  return lines.flatMap((ofInput) =>
    Array.from({ length: Math.ceil(ofInput.length / 2) }, (_, i) => Buffer.concat(ofInput.slice(2 * i, 2 * i + 2))),
  );
}

function drawsFrom(unique: readonly Buffer[], count: number): Buffer[] {
  const hash = createHash('sha256');
  for (const text of [SEED, 'draws', '']) hash.update(new BigUint64Array([BigInt(text.length)])).update(text);
  const key = hash.digest().readBigUInt64LE();
  return Array.from({ length: count }, (_, place) => {
    return unique[Number((recordKey(BigInt(place), key) * BigInt(unique.length)) >> 64n)] ?? Buffer.of();
  });
}

it.each(sampled(pairs, 40).map(([one, other]) => [one.name, other.name, one, other] as const))(
  '%s and %s',
  async (_, __, one, other) => {
    const options: Partial<ShuffleOptions> = { ...one.options, ...other.options };
    const tuning: Tuning = { inline: true, sliceBytes: 9000, ...one.tuning, ...other.tuning };
    const ending = options.zeroTerminated ? '\0' : '\n';
    const texts = textsOf(ending);
    const header = options.header === undefined ? '' : HEADER.replace('\n', ending);
    const inputs = texts.map((text, i) => {
      const path = directory.path(`in-${i}`);
      writeFileSync(path, i === 1 ? gzipSync(header + text) : header + text);
      return path;
    });
    const output = directory.path('out');
    mkdirSync(directory.path('t'), { recursive: true });
    const memoryBytes = 2 ** 27;
    const places = { inputs, output, tempDirs: [directory.path('t')], memoryBytes, workers: 1 };
    const job = shuffle({ ...places, seed: SEED, unique: true, ...options }, tuning);
    if (options.repeat && (options.resume || options.keepTemp)) {
      await expect(job).rejects.toMatchObject({ code: 'ERR_OPTION' });
      return;
    }
    const report = await job;

    const all = recordsUnder(options, texts);
    const unique = uniqueOrder(all, SEED);
    const expected = options.repeat ? drawsFrom(unique, options.headCount ?? 0) : unique.slice(0, options.headCount);
    const files = options.shards === undefined ? [output] : report.shards;
    const bodies = files.map((path) => {
      const bytes = options.compress === undefined ? readFileSync(path) : gunzipSync(readFileSync(path));
      expect(bytes.subarray(0, header.length).toString()).toBe(header);
      return bytes.subarray(header.length);
    });
    expect(Buffer.concat(bodies).toString('latin1')).toBe(Buffer.concat(expected).toString('latin1'));
    const isRead = options.headCount !== 0;
    expect(report).toMatchObject({
      records: expected.length,
      checksum: checksumTextOf(checksumOf(expected.map((bytes) => ({ key: 0n, bytes })))),
      duplicates: { records: isRead ? all.length - unique.length : 0 },
    });
    if (options.shards?.by === 'count') expect(files).toHaveLength(5);
    if (!options.keepTemp) expect(readdirSync(directory.path('t'))).toEqual([]);
    for (const path of [output, directory.path('t')]) rmSync(path, { recursive: true });
  },
);
