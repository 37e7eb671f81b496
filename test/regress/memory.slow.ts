/**
 * Peak memory stays near --memory: budget, 150 MiB for Node itself, 30 MiB a worker, and 200 MiB a worker if outputs
 * are compressed with zstd above level 9. With the sizes of the plan, on inputs that are much larger than the budget.
 */
import { spawn } from 'node:child_process';
import { createReadStream, existsSync, readFileSync, statfsSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { openZstdEncoder } from '#src/formats/codecs/zstd-writer.js';
import { cgroupUnavailable, makeMemoryCgroup } from '../../bench/cgroup.mjs';
import { drawsFor } from '../fixtures/draws.js';
import { isOnPath, runOn } from '../fixtures/foreign-program.js';
import { column, writeParquet } from '../fixtures/parquet/parquet-file.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

const MIB = 2 ** 20;
const main = fileURLToPath(new URL('../../dist/bundle/main.cjs', import.meta.url));
const reporter = new URL('report-peak-memory.mjs', import.meta.url).href;

const directory = useTestDirectory();

/** Inputs, temp data with 12 bytes a record on top, and the output, all at one time. */
function reasonNotToWrite(inputBytes: number, recordBytes: number): string | undefined {
  if (process.platform !== 'linux') return '(peak memory is read from /proc)';
  const neededBytes = inputBytes * (3 + 12 / recordBytes) * 1.05;
  const { bavail, bsize } = statfsSync(tmpdir());
  if (bavail * bsize >= neededBytes) return undefined;
  return `(${Math.ceil(neededBytes / MIB)} MiB are needed in ${tmpdir()}, ${Math.floor((bavail * bsize) / MIB)} MiB are free)`;
}

/** Writes a file of `byteLength` bytes, `block` again and again. */
async function writeInput(name: string, block: Buffer, byteLength: number): Promise<string> {
  const path = directory.path(name);
  const file = await open(path, 'wx');
  try {
    for (let written = 0; written < byteLength; ) {
      written += (await file.write(block, 0, Math.min(block.byteLength, byteLength - written))).bytesWritten;
    }
  } finally {
    await file.close();
  }
  return path;
}

/** About a mebibyte of different lines of one length. */
function linesOf(recordBytes: number): Buffer {
  const count = Math.floor(MIB / recordBytes);
  return Buffer.from(
    Array.from(
      { length: count },
      (_, i) =>
        `${String(i)
          .padStart(recordBytes - 1, '.')
          .slice(1 - recordBytes)}\n`,
    ).join(''),
  );
}

interface Measured {
  readonly exitCode: number | null;
  readonly stderr: string;
  readonly peakBytes: number;
  readonly outputBytes: number;
}

interface Run {
  readonly standardInput?: string;
  readonly output?: string;
  /** The process enters this memory cgroup. */
  readonly cgroup?: string;
}

async function pileshuf(argv: readonly string[], { standardInput, cgroup, ...run }: Run = {}): Promise<Measured> {
  const output = run.output ?? directory.path('out');
  const peakFile = directory.path('peak');
  const words = [process.execPath, '--import', reporter, main, ...argv, '-q', '-T', directory.temp, '-o', output];
  // Node's 'ignore' looks like a closed stream, to which no record is written.
  const start = 'exec "$@" > /dev/null';
  const entering = ['sh', '-c', cgroup === undefined ? start : `echo $$ > ${cgroup}/cgroup.procs; ${start}`, 'sh'];
  const [name = '', ...others] = [...entering, ...words];
  const child = spawn(name, others, {
    stdio: ['pipe', 'ignore', 'pipe'],
    env: { ...process.env, PEAK_MEMORY_FILE: peakFile },
  });
  child.stdin.on('error', () => {
    // The command may end before it has read everything.
  });
  if (standardInput === undefined) child.stdin.end();
  else createReadStream(standardInput).pipe(child.stdin);
  const [stderr] = await Promise.all([text(child.stderr), new Promise((resolve) => child.on('close', resolve))]);
  // One that is killed notes nothing.
  const peakBytes = existsSync(peakFile) ? Number(readFileSync(peakFile, 'utf8')) : Number.POSITIVE_INFINITY;
  const outputBytes = child.exitCode === 0 && existsSync(output) ? statSync(output).size : 0;
  return { exitCode: child.exitCode, stderr, peakBytes, outputBytes };
}

function allowedBytes(budgetBytes: number, workers: number, workerMebibytes = 30): number {
  return budgetBytes + (150 + workerMebibytes * workers) * MIB;
}

const DEFAULT_WORKERS = availableParallelism();

describe('many records', () => {
  const cases = [
    { size: '2 GB', recordBytes: 105, inputBytes: 2e9, memory: '256M', budgetBytes: 256 * MIB },
    { size: '300 MB', recordBytes: 2, inputBytes: 3e8, memory: '64M', budgetBytes: 64 * MIB },
    { size: '4 GB', recordBytes: 105, inputBytes: 4e9, memory: '64M', budgetBytes: 64 * MIB },
  ];
  for (const { size, recordBytes, inputBytes, memory, budgetBytes } of cases) {
    const reason = reasonNotToWrite(inputBytes, recordBytes);
    it.skipIf(reason)(`of ${recordBytes} bytes, ${size} in all, with -S ${memory} ${reason ?? ''}`, async () => {
      const block = linesOf(recordBytes);
      const wholeBytes = Math.floor(inputBytes / recordBytes) * recordBytes;
      const input = await writeInput('in', block, wholeBytes);
      const { exitCode, stderr, peakBytes, outputBytes } = await pileshuf([input, '-S', memory]);
      expect({ exitCode, stderr, outputBytes }).toEqual({ exitCode: 0, stderr: '', outputBytes: wholeBytes });
      expect(peakBytes).toBeLessThan(allowedBytes(budgetBytes, DEFAULT_WORKERS));
    });
  }
});

describe('compressed inputs', () => {
  const DECODED_BYTES = 6e7;
  const cases = [
    { workers: 8, memory: '32M', budgetBytes: 32 * MIB },
    { workers: 8, memory: '256M', budgetBytes: 256 * MIB },
    { workers: 16, memory: '64M', budgetBytes: 64 * MIB },
    { workers: 2, memory: '1G', budgetBytes: 1024 * MIB },
  ];
  const reason = reasonNotToWrite(16 * DECODED_BYTES, 100);
  it.skipIf(reason).each(cases)(`stay in it with $workers workers and -S $memory ${reason ?? ''}`, async (test) => {
    const { workers, memory, budgetBytes } = test;
    const block = linesOf(100);
    const whole = Buffer.concat(Array.from({ length: Math.round(DECODED_BYTES / block.byteLength) }, () => block));
    const compressed = gzipSync(whole, { level: 1 });
    const inputs = await Promise.all(
      Array.from({ length: workers }, (_, i) => writeInput(`${i}.gz`, compressed, compressed.byteLength)),
    );
    const { exitCode, stderr, peakBytes, outputBytes } = await pileshuf([
      ...inputs,
      ...['-S', memory, '--workers', `${workers}`],
    ]);
    expect({ exitCode, stderr, outputBytes }).toEqual({
      exitCode: 0,
      stderr: '',
      outputBytes: workers * whole.byteLength,
    });
    expect(peakBytes).toBeLessThan(allowedBytes(budgetBytes, workers));
  });
});

describe('compression', () => {
  const DECODED_BYTES = 6e7;
  const [gzipped, inFrame] = [(bytes: Buffer) => gzipSync(bytes, { level: 1 }), compressWithZstd];
  const farBack = (bytes: Buffer) => runOn(bytes, ['zstd', '-q', '-c', '-1', '--long=27']);
  const asItIs = (bytes: Buffer) => bytes;
  const cases = [
    { what: 'zstd in', workers: 8, mebibytes: 64, store: inFrame, words: [], needs: ['zstd'] },
    { what: 'zstd --long=27 in', workers: 2, mebibytes: 1024, store: farBack, words: [], needs: ['zstd'] },
    {
      what: 'zstd --long=27 in, with a header',
      workers: 2,
      mebibytes: 1024,
      store: farBack,
      words: ['--header', '1'],
      needs: ['zstd'],
    },
    { what: 'zstd in, zstd out', workers: 4, mebibytes: 64, store: inFrame, words: ['--compress', 'zstd:3'] },
    { what: 'gzip in, gzip out', workers: 4, mebibytes: 64, store: gzipped, words: ['--compress', 'gzip'] },
    { what: 'packed temp data', workers: 4, mebibytes: 64, store: asItIs, words: ['--temp-compress', 'zstd:9'] },
  ];
  const reason = reasonNotToWrite(8 * DECODED_BYTES, 100);
  const isPossible = (needs: readonly string[]) => reason === undefined && needs.every(isOnPath);
  for (const { what, workers, mebibytes, store, words, needs = [] } of cases) {
    it.skipIf(!isPossible(needs))(`stays in it: ${what} ${reason ?? ''}`, async () => {
      const block = linesOf(100);
      const blocks = Array.from({ length: Math.floor(DECODED_BYTES / block.byteLength) }, () => block);
      const stored = store(Buffer.concat(blocks));
      const inputs = await Promise.all(
        Array.from({ length: workers }, (_, i) => writeInput(`in-${i}`, stored, stored.byteLength)),
      );
      const argv = [...inputs, '-S', `${mebibytes}M`, '--workers', `${workers}`, ...words];
      const { exitCode, stderr, peakBytes } = await pileshuf(argv);
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
      expect(peakBytes).toBeLessThan(allowedBytes(mebibytes * MIB, workers));
    });
  }
});

describe('pages of long values', () => {
  const reason = reasonNotToWrite(4e8, 3e7);
  it.skipIf(reason)(`are compressed in it at the highest level of zstd ${reason ?? ''}`, async () => {
    const words = linesOf(1000).toString();
    const valueAt = (i: number) => `${i} ${words.repeat(24 + (i % 7))}`;
    const columns = [column('i', 'INT32', (i) => i), column('text', 'BYTE_ARRAY', valueAt)];
    const input = writeParquet(directory.path('in.parquet'), { rows: 14, rowsPerGroup: 1, columns });
    const argv = [input, '-S', '1G', '--workers', '4', '--parquet-codec', 'zstd:22', '--row-group-rows', '1'];
    const { exitCode, stderr, peakBytes } = await pileshuf(argv, { output: directory.path('out.parquet') });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(peakBytes).toBeLessThan(allowedBytes(1024 * MIB, 4));
  });
});

/** About 32 MiB of different lines of 50 to 10,000 bytes, in words: a third is left when they are compressed. */
function documents(): Buffer {
  const random = drawsFor('documents');
  const vocabulary = Array.from({ length: 20_000 }, () => Math.floor(random() * 36 ** 6).toString(36));
  const word = () => vocabulary[Math.floor(random() ** 3 * vocabulary.length)];
  const lines: string[] = [];
  for (let byteLength = 0; byteLength < 32 * MIB; ) {
    const line = `${Array.from({ length: 7 + Math.floor(random() * 1400) }, word).join(' ')}\n`;
    lines.push(line);
    byteLength += line.length;
  }
  return Buffer.from(lines.join(''));
}

describe('compressed output, in a cgroup of just the promised size', async () => {
  const WORKERS = 2;
  // Levels that compress some MB a second take less data.
  const gigabytesOf = { 'zstd:1': 4, 'zstd:3': 4, 'zstd:9': 4, 'zstd:19': 0.5, 'gzip:1': 4, 'gzip:6': 4, 'gzip:9': 1 };
  const inputs = { plain: (bytes: Buffer) => bytes, gzip: (bytes: Buffer) => gzipSync(bytes), zstd: compressWithZstd };
  const outputs = { '32 shards': ['--shards', '32'], 'one file': [], 'a stream': [] };
  const kinds = Object.entries(inputs);
  const cases = Object.entries(gigabytesOf).flatMap(([compress, gigabytes], row) =>
    Object.entries(outputs).flatMap(([layout, words], column) => {
      const [kind, store] = kinds[(row + column) % kinds.length] ?? expect.fail();
      return [{ compress, gigabytes, layout, words, kind, store }];
    }),
  );
  const reason = reasonNotToWrite(4e9, 5000) ?? (await cgroupUnavailable());

  for (const { compress, gigabytes, layout, words, kind, store } of cases) {
    it.skipIf(reason)(`${gigabytes} GB, ${kind} in, ${compress} to ${layout} ${reason ?? ''}`, async () => {
      const block = documents();
      const stored = store(block);
      const copies = Math.round((gigabytes * 1e9) / block.byteLength);
      const paths = await Promise.all(
        [0, 1].map((i) => writeInput(`in-${i}`, stored, Math.ceil(copies / 2) * stored.byteLength)),
      );
      const allowed = allowedBytes(256 * MIB, WORKERS, compress === 'zstd:19' ? 200 : undefined);
      const cgroup = makeMemoryCgroup(allowed);
      try {
        const output = layout === 'a stream' ? '-' : directory.path(layout === 'one file' ? 'out' : 'out/');
        const argv = [...paths, '--compress', compress, ...words, '-S', '256M', '--workers', `${WORKERS}`];
        const { exitCode, stderr, peakBytes } = await pileshuf(argv, { output, cgroup: cgroup.dir });
        expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
        expect(peakBytes).toBeLessThan(allowed);
      } finally {
        await cgroup.remove();
      }
    });
  }
});

/** As one frame that says its size. */
function compressWithZstd(bytes: Buffer): Buffer {
  return Buffer.from(openZstdEncoder(3).encode(bytes));
}

describe('one record of 200 MB among short ones, with -S 1G', () => {
  const LONG_BYTES = 2e8;
  const reason = reasonNotToWrite(LONG_BYTES + 2 * MIB, 1000);

  it.skipIf(reason).each([
    ['a file', undefined],
    ['a file', 8],
    ['standard input', undefined],
    ['standard input', 8],
  ])(`in %s, with %s workers ${reason ?? ''}`, async (source, workers) => {
    const short = linesOf(100);
    const input = directory.path('in');
    const file = await open(input, 'wx');
    await file.write(short);
    const long = Buffer.alloc(MIB, 'x');
    for (let left = LONG_BYTES; left > 0; left -= MIB) await file.write(long, 0, Math.min(MIB, left));
    await file.write('\n');
    await file.write(short);
    await file.close();

    const options = ['-S', '1G', ...(workers === undefined ? [] : ['--workers', `${workers}`])];
    const measured =
      source === 'a file' ? await pileshuf([input, ...options]) : await pileshuf(options, { standardInput: input });
    const { exitCode, stderr, peakBytes, outputBytes } = measured;
    expect({ exitCode, stderr, outputBytes }).toEqual({ exitCode: 0, stderr: '', outputBytes: statSync(input).size });
    expect(peakBytes).toBeLessThan(allowedBytes(1024 * MIB, workers ?? DEFAULT_WORKERS));
  });
});
