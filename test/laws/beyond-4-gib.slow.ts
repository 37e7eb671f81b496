/**
 * Positions beyond 2^32: 80 records of 64 MiB in one input of 5 GiB, on disk because they do not fit
 * the memory. Every byte of the output is looked at. The key of record 64 differs from that of record 0
 * by the upper word of its position alone. The same bytes in gzip, in two members a record, come out
 * the same.
 */
import { appendFileSync, closeSync, ftruncateSync, openSync, readSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, type TestContext } from 'vitest';
import { shuffle } from '#src/index.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';
import { recordKey } from '../workers/kernel/kernel-twin.js';
import { keyOf } from './reference-order.js';

const MIB = 2 ** 20;
const RECORD_BYTES = 64 * MIB;
const RECORDS = 80;
const NAME_BYTES = 8;
/** 5 GiB each of temp data and output, and the compressed input. */
const NEEDED_BYTES = 2 * RECORDS * RECORD_BYTES + 512 * MIB;

/** The first bytes of a record; zeros follow, and a newline at the end. */
const nameOf = (record: number) => String(record).padStart(NAME_BYTES, '0');

/** Ordinals of the records in the order of the seed. */
function expectedOrder(seed: string): number[] {
  const ofInput = keyOf(seed, '0');
  const keys = Array.from({ length: RECORDS }, (_, i) => recordKey(BigInt(i * RECORD_BYTES), ofInput));
  expect(new Set(keys).size).toBe(RECORDS);
  const key = (record: number) => keys[record] ?? 0n;
  return keys.map((_, record) => record).sort((a, b) => (key(a) < key(b) ? -1 : 1));
}

describe('an input of 5 GiB', () => {
  const directory = useTestDirectory();

  function requireSpace(context: TestContext): void {
    const { bavail, bsize } = statfsSync(tmpdir());
    const freeMib = Math.floor((bavail * bsize) / MIB);
    if (freeMib * MIB < NEEDED_BYTES) {
      context.skip(`${NEEDED_BYTES / MIB} MiB are needed in ${tmpdir()} and ${freeMib} MiB are free`);
    }
  }

  function writeSparse(path: string): void {
    const fd = openSync(path, 'w');
    ftruncateSync(fd, RECORDS * RECORD_BYTES);
    for (let record = 0; record < RECORDS; record++) {
      writeSync(fd, nameOf(record), record * RECORD_BYTES);
      writeSync(fd, '\n', (record + 1) * RECORD_BYTES - 1);
    }
    closeSync(fd);
  }

  function writeMembers(path: string): void {
    const rest = Buffer.alloc(RECORD_BYTES - NAME_BYTES);
    rest[rest.byteLength - 1] = 0x0a;
    const member = gzipSync(rest, { level: 1 });
    for (let record = 0; record < RECORDS; record++) {
      appendFileSync(path, Buffer.concat([gzipSync(nameOf(record)), member]));
    }
  }

  /** Names of the records of a file, in their order; every other byte must be what it was. */
  function readOrder(path: string): number[] {
    const fd = openSync(path, 'r');
    const record = Buffer.alloc(RECORD_BYTES);
    const rest = Buffer.alloc(RECORD_BYTES - NAME_BYTES);
    rest[rest.byteLength - 1] = 0x0a;
    const order: number[] = [];
    for (let position = 0; ; position += RECORD_BYTES) {
      let filled = 0;
      for (let count = -1; count !== 0 && filled < RECORD_BYTES; filled += count) {
        count = readSync(fd, record, filled, RECORD_BYTES - filled, position + filled);
      }
      if (filled === 0) break;
      expect(filled).toBe(RECORD_BYTES);
      expect(record.subarray(NAME_BYTES).equals(rest), `bytes behind the name of record ${order.length}`).toBe(true);
      order.push(Number(record.toString('latin1', 0, NAME_BYTES)));
    }
    closeSync(fd);
    return order;
  }

  it.for([
    ['plain, cut into slices', writeSparse],
    ['gzip, decoded as one stream', writeMembers],
  ] as const)('keeps every byte and has the order of the seed: %s', async ([, write], context) => {
    requireSpace(context);
    const input = directory.path('in');
    const output = directory.path('out');
    write(input);
    const report = await shuffle({
      inputs: [input],
      output,
      seed: '5 GiB',
      tempDirs: [directory.temp],
      memoryBytes: 640 * MIB,
      workers: 2,
    });
    expect(report).toMatchObject({ records: RECORDS, bytes: RECORDS * RECORD_BYTES });
    expect(report.tempBytes).toBeGreaterThan(0);
    rmSync(input);
    expect(readOrder(output)).toEqual(expectedOrder('5 GiB'));
  });
});
