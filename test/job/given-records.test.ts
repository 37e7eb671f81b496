/** Inputs in memory: each record stays one, whatever it holds, and the order is that of a file with the same bytes. */
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { appendToStore, type ShuffleOptions, shuffle, shuffleStore } from '#src/index.js';
import type { Tuning } from '#src/plan/memory-plan.js';
import { drawsFor } from '../fixtures/draws.js';
import { useFedPipes } from '../fixtures/fed-pipes.js';
import { atScale, sampled } from '../fixtures/scale.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';
import { TINY_BUFFERS } from '../fixtures/tiny-buffers.js';

const directory = useMemoryDirectory();
const pipeOf = useFedPipes(directory);

async function shuffled(options: Omit<ShuffleOptions, 'output'>, tuning: Partial<Tuning> = {}) {
  const output = directory.path('out');
  const report = await shuffle(
    { seed: 'words', tempDirs: [directory.temp], memoryBytes: 32 * 2 ** 20, force: true, ...options, output },
    tuning,
  );
  return { report, output: readFileSync(output).toString('latin1') };
}

const draw = drawsFor('given records');
const words = Array.from({ length: 2000 }, (_, i) => `${i} ${'x'.repeat(Math.floor(draw() ** 3 * 200))}`);

/** Threads, or the calling thread; records stay in memory, or go to piles on disk. */
const allWays: readonly (readonly [string, Partial<Tuning>])[] = [
  ['on the calling thread', { inline: true }],
  ['on threads', { inline: false }],
  ['on piles, with tiny buffers', { ...TINY_BUFFERS, inline: true }],
];
const ways = sampled(allWays, 2, 1);

describe('records that are given', () => {
  it.each(ways)('come in the order of a file with the same bytes, %s', async (_, tuning) => {
    writeFileSync(directory.path('in'), words.map((word) => `${word}\n`).join(''));
    const ofFile = await shuffled({ inputs: [directory.path('in')] });
    const { report, output } = await shuffled({ inputs: [{ records: words }] }, tuning);
    expect(output === ofFile.output).toBe(true);
    expect(report).toMatchObject({ records: words.length, checksum: ofFile.report.checksum, inputCount: 1 });
  });

  it.each(ways)('stay one though they hold the delimiter, %s', async (_, tuning) => {
    const records = words.map((word, i) => (i % 3 === 0 ? `${word}\n\n${i}` : word));
    const { report, output } = await shuffled({ inputs: [{ records }] }, tuning);
    expect(report.records).toBe(records.length);
    for (const record of records.slice(0, 30)) expect(output).toContain(`${record}\n`);
    expect(output).toHaveLength(records.join('\n').length + 1);
  });

  it.each([
    [{}, '\n'],
    [{ zeroTerminated: true }, '\0'],
    [{ records: { by: 'delimiter', delimiter: '\r\n' } }, '\r\n'],
    [{ records: { by: 'lines' } }, '\n'],
  ] as const)('end as those of %j do', async (options, delimiter) => {
    const records = ['', 'a', Uint8Array.of(0xff, 0x00), 'é'];
    const { output } = await shuffled({ ...options, inputs: [{ records }] });
    const expected = ['', 'a', '\xff\0', '\xc3\xa9'].map((record) => record + delimiter);
    expect(output).toHaveLength(expected.join('').length);
    for (const record of expected) expect(output).toContain(record);
  });

  it('are more than a window of the reader takes', async () => {
    // The ends of many lie at, or one byte behind, the end of a window.
    const records = Array.from({ length: atScale(12_000, 40_000) }, (_, i) => String(i).padEnd(60 + (i % 97), '.'));
    writeFileSync(directory.path('in'), `${records.join('\n')}\n`);
    const ofFile = await shuffled({ inputs: [directory.path('in')] }, { inline: true });
    for (const [, tuning] of ways) {
      const { report, output } = await shuffled({ inputs: [{ records }] }, tuning);
      expect(report.checksum).toBe(ofFile.report.checksum);
      expect(output === ofFile.output).toBe(true);
    }
  });

  it('stand beside files, with the ordinal of their place', async () => {
    writeFileSync(directory.path('a'), '1\n2\n3\n');
    writeFileSync(directory.path('b'), '4\n5\n6\n');
    const [a, b] = [directory.path('a'), directory.path('b')];
    const files = await shuffled({ inputs: [a, b, a] });
    expect(await shuffled({ inputs: [a, { records: ['4', '5', '6'] }, a] })).toMatchObject({ output: files.output });
    expect(
      await shuffled({ inputs: [{ records: [1, 2, 3].map(String) }, b, { records: ['1', '2', '3'] }] }),
    ).toMatchObject({ output: files.output });
  });

  it('go to a store, under a given id', async () => {
    const store = directory.path('store');
    await appendToStore(store, { inputs: [{ records: words }], inputIds: ['words'], seed: 's', piles: 3 });
    const report = await shuffleStore(store, { output: directory.path('out'), tempDirs: [directory.temp] });
    expect(report.records).toBe(words.length);
    await expect(appendToStore(store, { inputs: [{ records: ['a'] }] })).rejects.toThrow(
      'the given records have no names for an input id',
    );
  });

  it.each([
    [{ records: 'a' }, 'expected `records` to be an array'],
    [{ records: [1] }, 'expected `records` to be an array'],
    [{ records: ['a'], path: 'b' }, 'has no option `path`'],
    [{ path: 'a', begin: 'b' }, 'has no option `begin`'],
    [{ path: '' }, 'expected an array of paths'],
    [null, 'expected an array of paths'],
    [7, 'expected an array of paths'],
  ])('refuse %j', async (input, message) => {
    const inputs = [input] as unknown as ShuffleOptions['inputs'];
    await expect(shuffled({ inputs })).rejects.toThrow(message);
  });
});

describe('inputs that are not decoded', () => {
  it('are taken as they are stored, whatever they begin with', async () => {
    const stored = Buffer.from('\x1f\x8b\x08 b\na\n\x28\xb5\x2f\xfd', 'latin1');
    writeFileSync(directory.path('in.gz'), stored);
    const options = { decompressProgram: 'none', records: { by: 'lines' } } as const;
    const sorted = (text: string) => text.split('\n').sort();
    const { output } = await shuffled({ ...options, inputs: [directory.path('in.gz')] });
    expect(sorted(output)).toEqual(sorted(`${stored.toString('latin1')}\n`));
    const ofPipe = await shuffled({ ...options, inputs: [pipeOf(directory.path('in.gz'))] }, { inline: true });
    expect(ofPipe.output).toBe(output);
  });
});
