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
import { useFedPipes } from '../fixtures/fed-pipes.js';
import { runCommand } from '../fixtures/run-command.js';
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
  ...{ inputs, output: directory.path('out'), seed: '1', memoryBytes: 2 ** 25 },
  ...{ workers: 1, tempDirs: [directory.temp] },
});
const refusedTar = (path: string) => ({
  code: 'ERR_INPUT_FORMAT',
  message: `${path} holds a tar archive, not lines; give \`records: { by: 'webdataset' }\` if it consists of samples, extract it if it does not, or give \`records: { by: 'lines' }\` to shuffle it as lines all the same`,
});

const everything = () => readdirSync(directory.path(), { recursive: true, encoding: 'utf8' }).toSorted();

async function expectRefused(job: Promise<unknown>, path: string): Promise<void> {
  const before = everything();
  const error: unknown = await job.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
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

  it('refuses it below a program that decodes', async () => {
    const input = write('in', tar);
    await expectRefused(shuffle({ ...options(input), decompressProgram: ['cat'] }, INLINE), input);
  });

  it('refuses it behind a header of lines', async () => {
    const input = write('in', tar);
    await expectRefused(shuffle({ ...options(input), header: { lines: 1 } }, INLINE), input);
  });

  it('leaves nothing of a job that could be resumed', async () => {
    const input = write('in.gz', STORED.gzip);
    await expectRefused(shuffle({ ...options(input), resume: true }, INLINE), input);
  });

  it.each(
    sampled(
      foreignSamples.map(([name, bytes], i) => [i, name, bytes] as const),
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
          splitPlainly({ kind: 'delimited', value: '0a' }, bytes)
            .map((line) => line.toString('latin1'))
            .toSorted();
        expect(linesOf(readFileSync(directory.path('out')))).toEqual(linesOf(tar));
      }
    },
  );

  it('takes what is empty, plain and compressed', async () => {
    const inputs = [write('a', ''), write('b.gz', gzipSync('')), write('c', 'c')];
    expect((await shuffle(options(...inputs), INLINE)).records).toBe(1);
  });

  it('warns of names, once', async () => {
    const inputs = ['a_R1.fastq', 'b_R1.fastq', 'c.csv'].map((name) => write(name, 'x\n'));
    const warnings: string[] = [];
    await shuffle({ ...options(...inputs), onWarning: (line) => warnings.push(line) }, INLINE);
    expect(warnings).toEqual([
      expect.stringMatching(/^each line is a record; for CSV .*c\.csv/),
      expect.stringMatching(/^mates in two files do not stay aligned .* and 1 other input/),
    ]);
  });
});

describe('an append', () => {
  it.each(Object.entries(STORED))('refuses a tar file, %s, and makes no store', async (_, stored) => {
    const input = write('in', stored);
    await expectRefused(appendToStore(directory.path('store'), { inputs: [input] }, INLINE), input);
  });

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

  it('warns of names, without a header that no store can keep', async () => {
    const warnings: string[] = [];
    const inputs = [write('a.tsv', 'a\n')];
    await appendToStore(directory.path('store'), { inputs, onWarning: (line) => warnings.push(line) }, INLINE);
    expect(warnings).toEqual([expect.stringContaining('take the header off if it begins with one')]);
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
    expect(records).toBe(splitPlainly({ kind: 'delimited', value: '0a' }, tar).length);
    rmSync(`${input}.pileshuf-index`);
  });
});

describe('the command', () => {
  it('refuses standard input that is a tar file', async () => {
    const argv = ['pile', directory.path('store'), '--input-id', 'a', '-q'];
    const refused = await runCommand(argv, { stdin: STORED.gzip });
    expect({ ...refused, stdout: refused.stdout.toString() }).toMatchObject({
      exitCode: 3,
      stderr:
        'pileshuf: standard input holds a tar archive, not lines; give --webdataset if it consists of samples, extract it if it does not, or give --lines to shuffle it as lines all the same\n',
      stdout: '',
    });
  });
});
