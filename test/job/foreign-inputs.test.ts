/**
 * Inputs that are not lines, in jobs whose caller named no kind of records: refused, with nothing left behind, plain or
 * compressed, from a file or a pipe; and taken as lines where the caller insists.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { beforeEach, describe, expect, it } from 'vitest';
import { appendToStore, InputError, indexFile, type ShuffleOptions, shuffle } from '#src/index.js';
import type { Tuning } from '#src/plan/memory-plan.js';
import { expectRefusal } from '../cli/refusal.js';
import { commandInProcess } from '../fixtures/command-in-process.js';
import { errorOf } from '../fixtures/error-of.js';
import { useFedPipes } from '../fixtures/fed-pipes.js';
import { sampled } from '../fixtures/scale.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';
import { bgzfOf } from '../formats/codecs/bgzf-file.js';
import { zstdOf } from '../formats/codecs/zstd-file.js';
import { foreignSamples } from '../formats/foreign-samples.js';
import { splitPlainly } from '../formats/plain-framings.js';
import { tarOf } from '../formats/plain-tar.js';

const directory = useMemoryDirectory();
const pipeOf = useFedPipes(directory);
const INLINE: Partial<Tuning> = { inline: true };
/** Compressed inputs that are looked at before the job, and one more. */
const MORE_THAN_PEEKED = 17;

const text = Buffer.from('one\ntwo\nthree\n'.repeat(200));
const tar = tarOf([{ name: '0.txt', data: text }]);
const STORED = { plain: tar, gzip: gzipSync(tar), bgzf: bgzfOf(tar, [700]), zstd: zstdOf(tar, [900]) };

function write(name: string, bytes: Uint8Array | string): string {
  writeFileSync(directory.path(name), bytes);
  return directory.path(name);
}

const options = (...inputs: string[]) => ({
  inputs,
  output: directory.path('out'),
  seed: '1',
  memoryBytes: 2 ** 25,
  workers: 1,
  tempDirs: [directory.temp],
});
const refusedTar = (path: string) => ({
  code: 'ERR_INPUT_FORMAT',
  message: `${path} holds a tar archive, not lines; give \`records: { by: 'webdataset' }\` if it consists of samples, extract it if it does not, or give \`records: { by: 'lines' }\` to shuffle it as lines all the same`,
});

const everything = () => readdirSync(directory.path(), { recursive: true, encoding: 'utf8' }).toSorted();

async function expectRefused(job: Promise<unknown>, path: string): Promise<void> {
  const before = everything();
  const error = await errorOf(job);
  expect(error).toBeInstanceOf(InputError);
  expect(error).toMatchObject(refusedTar(path));
  expect(everything()).toEqual(before);
}

beforeEach(() => {
  mkdirSync(directory.path('many'));
  for (let i = 0; i < MORE_THAN_PEEKED; i++) write(`many/${i + 10}.gz`, gzipSync(`line ${i}\n`));
});

describe('a shuffle', () => {
  it.each(Object.entries(STORED))('refuses a tar file, %s, from a file and from a pipe', async (_, stored) => {
    const input = write('in', stored);
    await expectRefused(shuffle(options(input), INLINE), input);
    const pipe = pipeOf(input);
    await expectRefused(shuffle(options(pipe), INLINE), pipe);
  });

  it.each(sampled(Object.entries(STORED), 2, 1))(
    'refuses one behind many inputs, %s, cut or whole',
    async (_, stored) => {
      const input = write('many/zz', stored);
      for (const sliceBytes of [600, 10_000_000]) {
        await expectRefused(shuffle(options(directory.path('many')), { ...INLINE, sliceBytes }), input);
      }
    },
  );

  it.each(
    sampled(
      // Files of Parquet and HDF5 are inputs.
      foreignSamples
        .map(([name, bytes], i) => [i, name, bytes] as const)
        .filter(([, name]) => !['Parquet data', 'HDF5 data'].includes(name)),
      3,
    ),
  )('refuses %i: %s, in one line of the words of the command', async (_, name, bytes) => {
    const input = write('in', bytes);
    const run = () => commandInProcess([input, '-T', directory.temp, '-o', directory.path('out')], { tuning: INLINE });
    const line = `${input} holds ${name}, not lines; `.replace(/[()[\]]/g, '\\$&');
    await expectRefusal(
      directory.path(),
      run,
      3,
      new RegExp(`^pileshuf: ${line}[^\`]+, or give --lines to shuffle it as lines all the same$`),
    );
  });

  const kinds: readonly Partial<ShuffleOptions>[] = [
    { records: { by: 'lines' } },
    { records: { by: 'lines', linesPerRecord: 1 } },
    { records: { by: 'delimiter', delimiter: '\n' } },
  ];
  it.each(sampled(Object.entries(STORED), 2))(
    'takes its lines where the caller says that they are: %s',
    async (_, stored) => {
      const input = write('in', stored);
      for (const kind of kinds) {
        await shuffle({ ...options(input), ...kind, force: true }, INLINE);
        const linesOf = (bytes: Buffer) =>
          splitPlainly({ kind: 'lines', value: 1 }, bytes)
            .map((line) => line.toString('latin1'))
            .toSorted();
        expect(linesOf(readFileSync(directory.path('out')))).toEqual(linesOf(tar));
      }
    },
  );
});

describe('an append', () => {
  it('leaves a store as it was where a task refuses', async () => {
    const store = directory.path('store');
    const { state } = await appendToStore(store, { inputs: [write('a', 'a\n')], workers: 1 }, INLINE);
    write('many/zz', STORED.gzip);
    await expectRefused(
      appendToStore(store, { inputs: [directory.path('many')], workers: 1 }, INLINE),
      directory.path('many', 'zz'),
    );
    const next = await appendToStore(store, { inputs: [write('b', 'b\n')], workers: 1 }, INLINE);
    expect(next.state).toBe(state + 1);
  });
});

describe('an index', () => {
  it.each([
    ['plain', STORED.plain],
    ['bgzf', STORED.bgzf],
    ['zstd', STORED.zstd],
  ])('refuses a tar file, %s', async (_, stored) => {
    const input = write('in', stored);
    await expectRefused(indexFile(input, {}, INLINE), input);
    const { records } = await indexFile(input, { records: { by: 'lines' } }, INLINE);
    expect(records).toBe(splitPlainly({ kind: 'lines', value: 1 }, tar).length);
    rmSync(`${input}.pileshuf-index`);
  });
});
