/**
 * The law of compressed outputs: they decode to the bytes of the plain output, for every codec, setting and number of
 * workers; and shards are cut at the same records as without compression.
 */
import { spawnSync } from 'node:child_process';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compressionOf, OUTPUT_CODECS, type OutputCodec, openEncoder } from '#src/formats/encoder-table.js';
import type { OutputCompression, ShardRule } from '#src/index.js';
import { runCommand } from '../fixtures/run-command.js';
import { atScale, fromCi, sampled } from '../fixtures/scale.js';
import { anyHeader } from '../formats/any-headers.js';
import { framedInputs, inputsOfJob } from '../formats/any-records.js';
import { decodeWithTool } from '../formats/decode-with-tool.js';
import { anyInputs, largeInputs, makeLargeInputs } from './any-inputs.js';
import { anySettings, type Settings } from './any-settings.js';
import { useFastDirectory } from './fast-directory.js';
import { recordKindOf } from './record-kind-of.js';
import { referenceOrder } from './reference-order.js';
import { expectReport, type Job, shuffleToFile, shuffleToShards } from './shuffle-under-test.js';

const compression = fc.constantFrom<Exclude<OutputCompression, 'none'>>(
  { codec: 'gzip', level: 1 },
  { codec: 'gzip' },
  { codec: 'zstd', level: 1 },
  { codec: 'zstd' },
);

function decoded({ codec }: Exclude<OutputCompression, 'none'>, stored: Buffer): Buffer {
  // The tool takes nothing for an empty file, which is none of its codec.
  expect(stored.byteLength).toBeGreaterThan(0);
  return codec === 'gzip' ? gunzipSync(stored) : decodeWithTool(codec, stored);
}

const ruleOf: fc.Arbitrary<ShardRule> = fc.oneof(
  fc.integer({ min: 1, max: 6 }).map((shardCount) => ({ by: 'count' as const, shardCount })),
  fc.integer({ min: 20, max: 90 }).map((recordsPerShard) => ({ by: 'records' as const, recordsPerShard })),
  fc.integer({ min: 4000, max: 6000 }).map((maxShardBytes) => ({ by: 'bytes' as const, maxShardBytes })),
);

const threads = (memoryBytes: number): Settings => ({
  workers: 3,
  memoryBytes,
  tempDirCount: 1,
  encodings: ['plain'],
  tuning: { pileCount: 12, outputBytes: 700, memberBytes: 3000, inline: false },
});

describe('a compressed output', () => {
  const directory = useFastDirectory();

  async function expectLaws(job: Job, compress: Exclude<OutputCompression, 'none'>): Promise<void> {
    const ordered = referenceOrder(job.inputs, job.seed);
    const { bytes, report } = await shuffleToFile(directory, { ...job, compress });
    expect(decoded(compress, bytes).equals(Buffer.concat(ordered))).toBe(true);
    expectReport(report, ordered);
  }

  async function expectShardLaws(job: Job, compress: Exclude<OutputCompression, 'none'>, rule: ShardRule) {
    const plain = await shuffleToShards(directory, job, rule);
    const { shards, report } = await shuffleToShards(directory, { ...job, compress }, rule);
    expect(shards.map((shard) => decoded(compress, shard).toString('latin1'))).toEqual(
      plain.shards.map((shard) => shard.toString('latin1')),
    );
    const suffix = compress.codec === 'gzip' ? '.gz' : '.zst';
    expect(report.shards).toEqual(plain.report.shards.map((path) => path + suffix));
    const { records, bytes, checksum } = plain.report;
    expect(report).toMatchObject({ records, bytes, checksum });
  }

  it('decodes to the bytes of the plain one, whatever the settings', async () => {
    const job = fc.record({ inputs: anyInputs, seed: fc.string(), settings: anySettings });
    await fc.assert(
      fc.asyncProperty(job, compression, (each, compress) => expectLaws(each, compress)),
      { numRuns: atScale(2, 6, 60) },
    );
  });

  it('decodes to the plain shards, one by one, whatever the settings', async () => {
    const job = fc.record({ inputs: anyInputs, seed: fc.string(), settings: anySettings });
    await fc.assert(fc.asyncProperty(job, compression, ruleOf, expectShardLaws), { numRuns: atScale(3, 5, 40) });
  });

  const withHeaders = fc.constantFrom(...Object.values(framedInputs)).chain((framed) =>
    framed.chain((one) =>
      anyHeader(one.spec).map(({ options, header }) => ({
        inputs: inputsOfJob([one]).map((input) => Buffer.concat([header(input.byteLength), input])),
        options: { records: recordKindOf(one.spec), ...options },
      })),
    ),
  );

  it('has the headers and trailers of the plain one, in each shard those of its records', async () => {
    const job = fc.record({ framed: withHeaders, seed: fc.string(), settings: anySettings });
    await fc.assert(
      fc.asyncProperty(job, compression, fc.option(ruleOf), async ({ framed, seed, settings }, compress, rule) => {
        const each = { inputs: framed.inputs, ...framed.options, seed, settings };
        if (rule !== null) {
          // Room for the longest record, whatever stands around it.
          const maxShardBytes = Buffer.concat(framed.inputs).byteLength + 2048;
          return expectShardLaws(each, compress, rule.by === 'bytes' ? { by: 'bytes', maxShardBytes } : rule);
        }
        const plain = await shuffleToFile(directory, each);
        const { bytes } = await shuffleToFile(directory, { ...each, compress });
        expect(decoded(compress, bytes).equals(plain.bytes)).toBe(true);
      }),
      { numRuns: atScale(2, 6, 60) },
    );
  });

  it.runIf(fromCi).each([16, 64])('is appended to by threads in turns, with %d MiB', async (mebibytes) => {
    const settings = threads(mebibytes * 2 ** 20);
    await fc.assert(
      fc.asyncProperty(
        largeInputs,
        compression,
        fc.integer({ min: 1, max: 7 }),
        async (large, compress, shardCount) => {
          const job = { inputs: makeLargeInputs(large), seed: 's', settings };
          await expectLaws(job, compress);
          await expectShardLaws(job, compress, { by: 'count', shardCount });
        },
      ),
      { numRuns: atScale(1, 1, 4) },
    );
  });

  const tools: readonly (readonly [OutputCodec, string, readonly string[]])[] = [
    ['gzip', 'gzip', ['-dc']],
    ['gzip', 'zcat', []],
    ['gzip', 'pigz', ['-dc']],
    ['gzip', 'igzip', ['-dc']],
    ['gzip', 'bgzip', ['-dc']],
    ['gzip', 'python3', ['-c', 'import gzip, sys; sys.stdout.buffer.write(gzip.open(sys.stdin.buffer).read())']],
    ['zstd', 'zstd', ['-dc']],
    ['zstd', 'zstdcat', []],
    ['zstd', 'pzstd', ['-q', '-dc']],
  ];
  const isThere = (tool: string) => !('error' in spawnSync(tool, ['--version'], { stdio: 'ignore' }));

  it.each(sampled(tools, 6).filter(([, tool]) => isThere(tool)))('of %s is read by %s', async (codec, tool, argv) => {
    const inputs = makeLargeInputs({ lines: 5000, longest: 30, factor: 7 });
    const job = { inputs, seed: 's', settings: threads(2 ** 25), compress: { codec } };
    const { shards } = await shuffleToShards(directory, job, { by: 'count', shardCount: 3 });
    const { stdout, status } = spawnSync(tool, argv, { input: Buffer.concat(shards), maxBuffer: 2 ** 26 });
    expect(status).toBe(0);
    expect(stdout.equals(Buffer.concat(referenceOrder(inputs, 's')))).toBe(true);
  });

  it.each(sampled(OUTPUT_CODECS, 2, 1))(
    'of no records is an empty file of its codec, in each place: %s',
    async (codec) => {
      const nothing = openEncoder(compressionOf(codec)).encode(new Uint8Array());
      const job = { inputs: [Buffer.alloc(0)], seed: 's', settings: threads(2 ** 24), compress: { codec } };
      expect((await shuffleToFile(directory, job)).bytes).toEqual(Buffer.from(nothing));
      const { shards } = await shuffleToShards(directory, job, { by: 'count', shardCount: 3 });
      expect(shards).toEqual([nothing, nothing, nothing].map((bytes) => Buffer.from(bytes)));
      const { stdout } = await runCommand(['-q', '-T', directory.temp, '--compress', codec], { stdin: '' });
      expect(stdout).toEqual(Buffer.from(nothing));
    },
  );
});
