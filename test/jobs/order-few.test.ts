/** A few records, ordered without passes: the same order as that of the definition. */
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { cutIntoRecords, joinRecords } from '#src/formats/record-list.js';
import { shuffle } from '#src/index.js';
import { areFew, orderFew } from '#src/jobs/order-few.js';
import { drawsFor, noiseOf } from '../fixtures/draws.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';
import { referenceOrder } from '../laws/reference-order.js';

const NEWLINE = 0x0a;

const directory = useMemoryDirectory();

describe('orderFew', () => {
  it.each([
    ['', 0],
    ['a', 1],
    ['\n', 1],
    ['a\nb\n', 2],
    ['a\n\n\nb', 4],
    ['\0\xff\n\xff\0', 2],
  ])('gives the records of %j in the order of the definition', (text, count) => {
    const bytes = Buffer.from(text, 'latin1');
    for (const seed of ['', '1', 'x', 'é']) {
      const expected = referenceOrder([bytes], seed);
      expect(expected).toHaveLength(count);
      expect(Buffer.from(orderFew(cutIntoRecords(bytes, NEWLINE), seed))).toEqual(Buffer.concat(expected));
    }
  });

  it('orders many records, short and long ones', () => {
    const draw = drawsFor('order few');
    const records = Array.from({ length: 3000 }, () => Buffer.alloc(Math.floor(draw() ** 4 * 300), 'abc'));
    const text = Buffer.concat(records.map((record) => Buffer.concat([record, Buffer.from('\n')])));
    const expected = Buffer.concat(referenceOrder([text], 'many'));
    expect(Buffer.from(orderFew(cutIntoRecords(text, NEWLINE), 'many')).equals(expected)).toBe(true);
  });

  it('orders by all of the key where the upper halves are equal', async () => {
    // Of so many, ten pairs have equal upper halves, and five of them are in another order than by their positions.
    const text = Buffer.from(Array.from({ length: 300_000 }, (_, i) => `${i.toString(36)}\n`).join(''));
    writeFileSync(directory.path('in'), text);
    const output = directory.path('out');
    await shuffle({ inputs: [directory.path('in')], output, seed: 'halves', tempDirs: [directory.temp] });
    expect(readFileSync(output).equals(orderFew(cutIntoRecords(text, NEWLINE), 'halves'))).toBe(true);
  });

  it('gives the first ones of the order', () => {
    const text = noiseOf(5000);
    const list = cutIntoRecords(text, NEWLINE);
    const expected = referenceOrder([text], 's');
    for (const count of [0, 1, 2, expected.length - 1, expected.length, expected.length + 1]) {
      expect(Buffer.from(orderFew(list, 's', count))).toEqual(Buffer.concat(expected.slice(0, count)));
    }
  });

  it('has room for the ordinals of as many records as it takes', () => {
    const listOf = (count: number) => ({ bytes: new Uint8Array(), ends: new Float64Array(count) });
    expect([areFew(listOf(2 ** 21)), areFew(listOf(2 ** 21 + 1))]).toEqual([true, false]);
  });
});

describe('record lists', () => {
  it('have each record with its delimiter', () => {
    const list = joinRecords(['a\nb', '', Uint8Array.of(0, 255)], Buffer.from('||'));
    expect(Buffer.from(list.bytes).toString('latin1')).toBe('a\nb||||\0\xff||');
    expect([...list.ends]).toEqual([5, 7, 11]);
  });

  it('may be empty', () => {
    expect(joinRecords([], Buffer.from('\n'))).toEqual({ bytes: new Uint8Array(), ends: new Float64Array() });
    expect(cutIntoRecords(new Uint8Array(), NEWLINE)).toEqual({ bytes: new Uint8Array(), ends: new Float64Array() });
  });

  it('leave the bytes of a file as they are', () => {
    const file = Buffer.from('a\nb');
    expect([...cutIntoRecords(file, NEWLINE).ends]).toEqual([2, 4]);
    expect(file.toString()).toBe('a\nb');
  });
});
