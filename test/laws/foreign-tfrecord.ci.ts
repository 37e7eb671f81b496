/**
 * TFRecords from elsewhere: the bytes in TensorFlow's own test of its event files, and those in a test of the package
 * tensorboard_logger, which has its own code to write them.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { shuffle } from '#src/index.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';
import { splitPlainly, tfrecordOf } from '../formats/plain-framings.js';
import { orderRecords } from './reference-order.js';

const directory = useMemoryDirectory();

const PUBLISHED: readonly (readonly [writer: string, hex: string])[] = [
  ['TensorFlow', '1800000000000000a37f4b22090000c025dd75d5411a0d627261696e2e4576656e743a31ecf3328d'],
  ['tensorboard_logger', '1800000000000000a37f4b220900000000000870401a0d627261696e2e4576656e743a32bc98212b'],
  ['tensorboard_logger', '19000000000000008bf1082809000000000008704010012a0c0a0a0a03762f31150000c03f2cecc087'],
  ['tensorboard_logger', '1a00000000000000129bd82d09000000000008704010022a0d0a0b0a04762f323215000080418fa3b688'],
];
const records = PUBLISHED.map(([, hex]) => Buffer.from(hex, 'hex'));

describe('TFRecords by others', () => {
  it.each(PUBLISHED)('are what the tests write of the same data: %s %s', (_, hex) => {
    const record = Buffer.from(hex, 'hex');
    expect(tfrecordOf(record.subarray(12, -4)).toString('hex')).toBe(hex);
  });

  it('are taken, and carried byte for byte', async () => {
    const input = Buffer.concat([...records, ...records]);
    writeFileSync(directory.path('in'), input);
    const options = { inputs: [directory.path('in')], output: directory.path('out'), seed: 's' };
    const report = await shuffle({ ...options, records: { by: 'tfrecord' }, tempDirs: [directory.temp] });
    expect(report.records).toBe(8);
    const expected = orderRecords([splitPlainly({ kind: 'tfrecord', value: null }, input)], 's');
    expect(readFileSync(directory.path('out'))).toEqual(Buffer.concat(expected));
  });
});
