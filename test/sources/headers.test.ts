/**
 * Reading headers before a job starts: of every file, with any compression, with as few reads as possible; and finding
 * sizes that contradict the headers.
 */
import { writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { HeaderSpec } from '#src/formats/record-format.js';
import { systemFileCalls } from '#src/io/file-calls.js';
import { readInputHeaders, requireWholeRecords } from '#src/sources/headers.js';
import { type Input, type Inputs, isFileInput } from '#src/sources/input.js';
import { listInputs } from '#src/sources/list-inputs.js';
import { useFileCalls } from '../fixtures/replaced-file-calls.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';
import { zstdOf } from '../formats/codecs/zstd-file.js';
import { blockHeader } from '../formats/codecs/zstd-samples.mjs';
import { tarOf } from '../formats/plain-tar.js';

const directory = useTestDirectory();
const fileCalls = useFileCalls();
const twoLines: HeaderSpec = { kind: 'lines', value: { count: 2, lineEnd: '0a', isQuoted: false } };

async function inputsOf(...contents: readonly Uint8Array[]): Promise<Inputs> {
  const paths = contents.map((content, i) => {
    const path = directory.path(`in-${i}`);
    writeFileSync(path, content);
    return path;
  });
  return [...(await listInputs(paths, () => {})).inputs];
}

const read = (inputs: Inputs, header: HeaderSpec | undefined, signal?: AbortSignal) =>
  readInputHeaders(
    inputs,
    { framing: undefined, linesAssumed: false, header, memoryBytes: 2 ** 24, signal },
    (byteLength) => `room for ${byteLength}`,
  );
const bytesOfHeaders = (inputs: Inputs) =>
  inputs.map((input) => (input.kind === 'file' ? input.header.byteLength : undefined));

describe('readInputHeaders', () => {
  it.each([10, 5000, 3_000_000])('knows those of plain and compressed files: of %d bytes', async (byteLength) => {
    // Hardly compressible, so that the first bytes of the file do not hold all of it.
    const header = Buffer.alloc(byteLength);
    for (let i = 0; i < byteLength - 3; i++) header[i] = 97 + (((i * i * 7919) >> 5) % 26);
    header.set(Buffer.from('\nb\n'), byteLength - 3);
    const whole = Buffer.concat([header, Buffer.from('a record\n')]);
    const stream: Input = { kind: 'stream', path: '-', identity: '0:0' };
    const files = await inputsOf(whole, gzipSync(whole), zstdOf(whole, [1000]), header.subarray(0, -1));
    const { inputs, first } = await read([stream, ...files], twoLines);
    expect(bytesOfHeaders(inputs)).toEqual([undefined, byteLength, byteLength, byteLength, byteLength - 1]);
    expect(first?.path).toBe(directory.path('in-0'));
    expect(header.equals(first?.header.bytes ?? new Uint8Array())).toBe(true);
  });

  it('reads the beginning of a file, and of one without a header nothing', async () => {
    const inputs = await inputsOf(Buffer.from(`a\nb\n${'record\n'.repeat(1_000_000)}`));
    let readBytes = 0;
    fileCalls.replace({
      read: (fd, bytes, offset, byteLength, position) => {
        readBytes += byteLength;
        return systemFileCalls.read(fd, bytes, offset, byteLength, position);
      },
    });
    expect(await read(inputs, undefined)).toEqual({ inputs, first: undefined });
    expect(readBytes).toBe(0);
    await read(inputs, twoLines);
    expect(readBytes).toBeGreaterThan(0);
    expect(readBytes).toBeLessThan(10_000);
  });

  it('compares the keys of first samples, and opens no file once more', async () => {
    const framing = { kind: 'webdataset', value: null } as const;
    const request = {
      framing,
      linesAssumed: false,
      header: { kind: 'tar', value: null },
      memoryBytes: 2 ** 24,
      signal: undefined,
    } as const;
    const long = { name: `${'d/'.repeat(3000)}0.x`, dialect: 'gnu' as const };
    const tar = (name: string) => tarOf([{ name: 'd/' }, { name, data: Buffer.alloc(10_000) }, { name: 'same.x' }]);
    // The key of the fourth lies after the bytes that are read.
    const inputs = await inputsOf(tar('d/1.x'), gzipSync(tar('d/2.x')), tarOf([]), tarOf([long]), tarOf([long]));
    let opened = 0;
    fileCalls.replace({
      open: (...call) => {
        opened += 1;
        return systemFileCalls.open(...call);
      },
    });
    await readInputHeaders(inputs, request, () => '');
    expect(opened).toBe(inputs.length);
    const others = await inputsOf(tar('d/1.x'), tar('d/2.x'), zstdOf(tar('d/2.y'), [1000]));
    const warnings: string[] = [];
    await readInputHeaders(others, { ...request, onWarning: (line) => warnings.push(line) }, () => '');
    expect(warnings).toEqual([
      expect.stringContaining(`in-1 and ${directory.path('in-2')}: the first samples of both have the key "d/2"`),
    ]);
  });

  it('says which budget would do for a window that is larger than all of it', async () => {
    // Of 32 MiB, with a first block that the first bytes of the file do not hold.
    const line = Buffer.alloc(9000, 'a');
    const frame = [Buffer.from('28b52ffd0078', 'hex'), Uint8Array.from(blockHeader(line.byteLength, 0, true)), line];
    await expect(read(await inputsOf(Buffer.concat(frame)), twoLines)).rejects.toMatchObject({
      code: 'ERR_MEMORY_BUDGET',
      message: expect.stringContaining(`expected \`memoryBytes\` of at least room for ${2 ** 25}`),
    });
  });
});

describe('requireWholeRecords', () => {
  const withHeader = async (content: Uint8Array, byteLength: number, recordBytes?: number) =>
    (await inputsOf(content)).filter(isFileInput).map((input) => ({ ...input, header: { byteLength, recordBytes } }));

  it('finds what is left behind the last record of a plain file', async () => {
    const fours = { kind: 'size', value: 4 } as const;
    const requireFours = async (size: number, headerBytes: number, recordBytes?: number) =>
      requireWholeRecords(await withHeader(Buffer.alloc(size), headerBytes, recordBytes), fours);
    await requireFours(11, 3);
    await requireFours(3, 3);
    await requireFours(11, 3, 8);
    await expect(requireFours(12, 3)).rejects.toThrow('in-0: byte 11 begins a record of 1 byte');
    await expect(requireFours(11, 3, 12)).rejects.toThrow('in-0: byte 11 is the end of the input; expected 15 bytes');
  });

  it('leaves other inputs and other records to those who read them', async () => {
    requireWholeRecords(await withHeader(gzipSync('abc'), 0), { kind: 'size', value: 4 });
    requireWholeRecords(await withHeader(Buffer.from('abc'), 0), { kind: 'tfrecord', value: null });
    requireWholeRecords(await withHeader(Buffer.from('abc'), 0), undefined);
  });
});
