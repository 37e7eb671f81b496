/**
 * Every command of docs/FORMATS.md and docs/COMPRESSION.md, and of the table in README.md, on an input of its format:
 * the output has all records, unchanged.
 */

import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeEach, describe, expect, it } from 'vitest';
import type { FramingSpec } from '#src/formats/framing-table.js';
import { canWriteZstd } from '../fixtures/can-write-zstd.js';
import { isOnPath, runOn } from '../fixtures/foreign-program.js';
import { runCommand } from '../fixtures/run-command.js';
import { runShell } from '../fixtures/run-shell.js';
import { sampled } from '../fixtures/scale.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';
import { npyHeaderOf } from '../formats/any-headers.js';
import { bgzfOf } from '../formats/codecs/bgzf-file.js';
import { zstdOf } from '../formats/codecs/zstd-file.js';
import { decodeWithTool } from '../formats/decode-with-tool.js';
import { prefixed, splitPlainly, tfrecordOf } from '../formats/plain-framings.js';
import { tarEntry } from '../formats/plain-tar.js';

const directory = useTestDirectory();
const NOTHING = Buffer.alloc(0);
const RECORDS = 200;
const each = (make: (i: number) => string | Buffer) =>
  Buffer.concat(Array.from({ length: RECORDS }, (_, i) => Buffer.from(make(i) as string)));

interface Input {
  readonly spec: FramingSpec;
  /** Of all records. */
  readonly bytes: Buffer;
  /** What stands around them, in the input and in the output. */
  readonly header?: Buffer;
  readonly trailer?: Buffer;
}

const INPUTS: Readonly<Record<string, Input>> = {
  'log.txt': { spec: { kind: 'delimited', value: '0a' }, bytes: each((i) => `line ${i}\n`) },
  'events.jsonl.gz': { spec: { kind: 'delimited', value: '0a' }, bytes: each((i) => `{"event": ${i}}\n`) },
  'sentences.txt.bz2': { spec: { kind: 'delimited', value: '0a' }, bytes: each((i) => `Sentence ${i}.\n`) },
  'clicks.txt.lz4': { spec: { kind: 'delimited', value: '0a' }, bytes: each((i) => `${i}\tclick\n`) },
  'variants.txt.bgz': { spec: { kind: 'delimited', value: '0a' }, bytes: each((i) => `variant ${i}\n`) },
  'pages.jsonl.zst': { spec: { kind: 'delimited', value: '0a' }, bytes: each((i) => `{"page": ${i}}\n`) },
  'dump.jsonl.xz': { spec: { kind: 'delimited', value: '0a' }, bytes: each((i) => `{"id": ${i}}\n`) },
  'archive.jsonl.xz': { spec: { kind: 'delimited', value: '0a' }, bytes: each((i) => `{"number": ${i}}\n`) },
  'names.nul': { spec: { kind: 'delimited', value: '00' }, bytes: each((i) => `a\nname ${i}\0`) },
  'dos.txt': { spec: { kind: 'delimited', value: '0d0a' }, bytes: each((i) => `line\n${i}\r\n`) },
  'records.rs': { spec: { kind: 'delimited', value: '1e' }, bytes: each((i) => `{\n"id": ${i}}\x1e`) },
  'questions.txt': { spec: { kind: 'lines', value: 2 }, bytes: each((i) => `${i}?\nYes.\n`) },
  'genes.fasta': { spec: { kind: 'begins-with', value: '3e' }, bytes: each((i) => `>gene${i}\nACGT\nAC\n`) },
  'variants.vcf': {
    spec: { kind: 'delimited', value: '0a' },
    header: Buffer.from('##fileformat=VCFv4.2\n#CHROM\tPOS\n'),
    bytes: each((i) => `1\t${i}\n`),
  },
  'reads.fastq': { spec: { kind: 'fastq', value: null }, bytes: each((i) => `@read${i}\nACGT\n+\nIIII\n`) },
  'poems.txt': { spec: { kind: 'paragraphs', value: null }, bytes: each((i) => `poem ${i}\nof two lines\n\n`) },
  'table.csv': { spec: { kind: 'csv', value: null }, bytes: each((i) => `${i},"a ""quoted""\nfield",x\n`) },
  'tokens.bin': { spec: { kind: 'fixed', value: 4096 }, bytes: each((i) => Buffer.alloc(4096, `${i},`)) },
  'messages.bin': {
    spec: { kind: 'length-prefixed', value: 'u32le' },
    bytes: each((i) => prefixed(Buffer.from(`message\n${i}`), 'u32le')),
  },
  'train.tfrecord': {
    spec: { kind: 'tfrecord', value: null },
    bytes: each((i) => tfrecordOf(Buffer.from(`example ${i}`))),
  },
  'embeddings.npy': {
    spec: { kind: 'fixed', value: 12 },
    header: npyHeaderOf('<f4', RECORDS, [3]),
    bytes: each((i) => Buffer.from(Float32Array.of(i, 0.5, -i).buffer)),
  },
  'samples.tar': {
    spec: { kind: 'webdataset', value: null },
    bytes: each((i) => Buffer.concat(['jpg', 'txt'].map((type) => tarEntry({ name: `${i}.${type}` })))),
    trailer: Buffer.alloc(1024),
  },
  'scores.tsv': {
    spec: { kind: 'delimited', value: '0a' },
    header: Buffer.from('id\tscore\n'),
    bytes: each((i) => `${i}\t0.5\n`),
  },
  'orders.csv': {
    spec: { kind: 'csv', value: null },
    header: Buffer.from('id,"name\nand address"\n'),
    bytes: each((i) => `${i},"A\nB"\n`),
  },
  'vectors.bin': {
    spec: { kind: 'fixed', value: 8 },
    header: Buffer.from('vectors of bytes'),
    bytes: each((i) => String(i).padStart(8)),
  },
};

/** Compresses, if the program is installed. */
const by = (program: string) => (bytes: Buffer) => (isOnPath(program) ? runOn(bytes, [program, '-c']) : bytes);

function whole({ header = NOTHING, bytes, trailer = NOTHING }: Input): Buffer {
  return Buffer.concat([header, bytes, trailer]);
}

/** Inputs that lie there compressed. */
const STORED: Readonly<Record<string, (bytes: Buffer) => Uint8Array>> = {
  'variants.txt.bgz': (bytes) => bgzfOf(bytes, [100]),
  'pages.jsonl.zst': (bytes) => zstdOf(bytes, [1000]),
  'events.jsonl.gz': (bytes) => gzipSync(bytes),
  'sentences.txt.bz2': by('bzip2'),
  'clicks.txt.lz4': by('lz4'),
  'dump.jsonl.xz': by('xz'),
  'archive.jsonl.xz': by('xz'),
};

const FILES = Object.entries(INPUTS).map(
  ([name, input]) => [name, STORED[name]?.(whole(input)) ?? whole(input)] as const,
);

const page = (name: string) => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');
const formatPages = page('docs/FORMATS.md') + page('docs/COMPRESSION.md');
const inBlocks = [...formatPages.matchAll(/^```sh\n(.*?)^```$/gms)].flatMap(([, block = '']) =>
  block.split('\n').filter((line) => line.startsWith('pileshuf ')),
);
const inTable = [...page('docs/INPUTS.md').matchAll(/^\|.*\| `(pileshuf .*)` +\|$/gm)].map(([, line = '']) => line);
const commands = [...new Set([...inBlocks, ...inTable])];

/** Of a file, or of all shards of a directory. */
function contentOf(path: string): Buffer {
  if (!statSync(path).isDirectory()) return readFileSync(path);
  return Buffer.concat(
    readdirSync(path)
      .filter((name) => !name.startsWith('.'))
      .sort()
      .map((name) => readFileSync(join(path, name))),
  );
}

/** The words of a line whose only quotes are single ones. */
function wordsOf(line: string): string[] {
  return [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '').slice(1);
}

describe('the examples of docs/FORMATS.md, docs/COMPRESSION.md and README.md', () => {
  beforeEach(() => {
    for (const [name, bytes] of FILES) writeFileSync(directory.path(name), bytes);
  });

  it('use each of the inputs', () => {
    const named = commands.flatMap(wordsOf);
    for (const name of Object.keys(INPUTS)) expect(named).toContain(name);
  });

  it('are those of the three pages', () => {
    expect(inBlocks.length).toBeGreaterThan(20);
    expect(inTable).toHaveLength(15);
  });

  const writesZstd = (line: string) => /--compress zstd|-o \S+\.zst$/.test(line);
  const PROGRAMS = { xz: 'xz', bz2: 'bzip2', lz4: 'lz4' };
  const hasPrograms = (line: string) =>
    Object.entries(PROGRAMS).every(([ending, program]) => !line.includes(`.${ending} `) || isOnPath(program));
  const isPossible = (line: string) => hasPrograms(line) && (canWriteZstd || !writesZstd(line));

  it.skip.each(commands.filter((line) => !isPossible(line)))('%s, which takes a program that is not here', () => {});

  it.each(sampled(commands.filter(isPossible), 3))('%s', async (line) => {
    const argv = wordsOf(line);
    const [input = expect.fail('it names no input')] = argv.filter((word) => word in INPUTS);
    const known = INPUTS[input] ?? expect.fail(`${input} is no input`);
    const { spec, bytes, header = NOTHING, trailer = NOTHING } = known;
    const { exitCode, stderr, stdout } = await runCommand(['-q', '--seed', '1', ...argv], { cwd: directory.path() });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    const stored = argv.includes('-') ? stdout : contentOf(directory.path(argv[argv.indexOf('-o') + 1] ?? ''));
    const [, codec] = /\b(gzip|zstd)\b/.exec(line.replace(/\.gz$/, '.gzip').replace(/\.zst$/, '.zstd')) ?? [];
    const output = codec === 'gzip' || codec === 'zstd' ? decodeWithTool(codec, stored) : stored;
    const sorted = (records: Buffer) =>
      splitPlainly(spec, records)
        .map((record) => record.toString('latin1'))
        .toSorted();
    const records = output.subarray(header.byteLength, output.byteLength - trailer.byteLength);
    expect(sorted(records)).toEqual(sorted(bytes));
    expect(records.equals(bytes)).toBe(false);
    expect(output.equals(Buffer.concat([header, records, trailer]))).toBe(true);
  });
});

describe('the way to shuffle mates, in docs/FORMATS.md', () => {
  const [, script = expect.fail('there is none')] = /^```sh\n(awk .*?)^```$/ms.exec(page('docs/FORMATS.md')) ?? [];
  const read = (mate: number) => (i: number) => `@${i}/${mate}\n${'ACGT'.repeat(1 + ((i * mate) % 7))}\n+\nIIII\n`;
  const reads = (mate: number, count: number) =>
    Buffer.concat(Array.from({ length: count }, (_, i) => Buffer.from(read(mate)(i))));
  const namesOf = (name: string) =>
    readFileSync(directory.path(name), 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('@'))
      .map((line) => line.slice(1, -2));

  async function runOnMates(first: Buffer, second: Buffer) {
    writeFileSync(directory.path('reads_R1.fastq'), first);
    writeFileSync(directory.path('reads_R2.fastq'), second);
    const prelude = `cd '${directory.path()}'; command=("$@"); pileshuf() { "\${command[@]}" "$@" -q --seed 1; }; set -e\n`;
    return runShell(prelude + script, []);
  }

  it('keeps them aligned', async () => {
    expect(await runOnMates(reads(1, RECORDS), reads(2, RECORDS))).toMatchObject({ exitCode: 0, stderr: '' });
    const order = namesOf('shuffled_R1.fastq');
    expect(namesOf('shuffled_R2.fastq')).toEqual(order);
    expect(order.toSorted()).toEqual(Array.from({ length: RECORDS }, (_, i) => String(i)).toSorted());
    expect(order).not.toEqual(Array.from({ length: RECORDS }, (_, i) => String(i)));
  });

  const counts = [
    [RECORDS, RECORDS - 2],
    [RECORDS, RECORDS - 1],
    [RECORDS - 2, RECORDS],
    [RECORDS - 1, RECORDS],
  ] as const;
  it.each(sampled(counts, 2))('refuses %i reads and %i', async (first, second) => {
    const { exitCode, stderr } = await runOnMates(reads(1, first), reads(2, second));
    expect({ exitCode, stderr }).toMatchObject({
      exitCode: 3,
      stderr: expect.stringContaining('expected 8 lines a record'),
    });
  });
});
