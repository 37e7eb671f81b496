/**
 * gzip decoded by the program igzip: bytes and errors are those of `node:zlib`, whatever the file and the program are
 * like. Scripts stand in for programs that fail; the cases of the program itself are skipped where it is missing.
 */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter } from 'node:path';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CompressedSource } from '#src/formats/codec.js';
import { gzip } from '#src/formats/codecs/gzip.js';
import { decodeByIgzip, suitsIgzip } from '#src/formats/codecs/igzip.js';
import { isOnPath } from '../../fixtures/foreign-program.js';
import { atScale } from '../../fixtures/scale.js';
import { useTestDirectory } from '../../fixtures/temp-directory.js';
import { bgzfOf } from './bgzf-file.js';

const directory = useTestDirectory();
const noMemory = { reserve: () => false, budgetFor: () => '' };

interface Outcome {
  readonly text: string | undefined;
  readonly error: string | undefined;
  readonly decoders: readonly string[];
}

function sourceOf(stored: Uint8Array, pieceBytes: number, decoders: string[]): CompressedSource {
  let position = 0;
  let reads = 0;
  return {
    path: 'in.gz',
    start: 0,
    onDecoder: (name) => decoders.push(name),
    next: (room) => {
      const bytes = stored.subarray(position, position + Math.min(pieceBytes, room?.byteLength ?? pieceBytes));
      position += bytes.byteLength;
      reads++;
      // Half of the pieces lie in a buffer of their own, which the decoder may free.
      if (room === undefined || reads % 2 === 0) return new Uint8Array(bytes);
      room.set(bytes);
      return room.subarray(0, bytes.byteLength);
    },
  };
}

async function outcomeOf(open: (decoders: string[]) => AsyncIterable<Uint8Array>): Promise<Outcome> {
  const decoders: string[] = [];
  const pieces: Buffer[] = [];
  try {
    for await (const piece of open(decoders)) pieces.push(Buffer.from(new Uint8Array(piece)));
    return { text: Buffer.concat(pieces).toString('latin1'), error: undefined, decoders };
  } catch (error) {
    return { text: undefined, error: error instanceof Error ? error.message : String(error), decoders };
  }
}

const byNode = (stored: Uint8Array, pieceBytes = 4096) =>
  outcomeOf((decoders) => gzip.decode(sourceOf(stored, pieceBytes, decoders), noMemory));

const byIgzip = (stored: Uint8Array, pieceBytes = 4096) =>
  outcomeOf((decoders) => {
    const open = () => sourceOf(stored, pieceBytes, decoders);
    const decodeByNode = async function* (source: CompressedSource) {
      yield* gzip.decode(source, noMemory);
    };
    return decodeByIgzip(open(), { byteLength: stored.byteLength, open }, decodeByNode);
  });

async function expectSame(stored: Uint8Array, pieceBytes?: number): Promise<Outcome> {
  const [expected, found] = [await byNode(stored, pieceBytes), await byIgzip(stored, pieceBytes)];
  expect(found.error).toBe(expected.error);
  expect(found.text === expected.text).toBe(true);
  return found;
}

const textOf = (what: string, lineCount: number) =>
  Buffer.from(Array.from({ length: lineCount }, (_, i) => `${what} ${i} ${'xyz'.repeat(i % 9)}\n`).join(''));
const text = textOf('line', 3000);
const one = gzipSync(text);
const small = gzipSync(textOf('short', 20));
const empty = gzipSync('');

/** A gzip header with these flags and fields, then the content of `member`. */
const withHeader = (flags: number, fields: Uint8Array, member: Buffer) =>
  Buffer.concat([Buffer.from([0x1f, 0x8b, 8, flags, 0, 0, 0, 0, 0, 3]), fields, member.subarray(10)]);
const named = withHeader(8, Buffer.from('a name\0'), small);

const emptyNamed = withHeader(8, Buffer.from('n\0'), empty);

const files: Readonly<Record<string, Buffer>> = {
  'one member': one,
  'several members': Buffer.concat([one, small, small, one]),
  'empty members': Buffer.concat([empty, emptyNamed, one, empty, emptyNamed, small, empty]),
  'named members': Buffer.concat([named, withHeader(8, Buffer.from('b\0'), one), named]),
  'gzip inside gzip': Buffer.concat([gzipSync(Buffer.concat([Buffer.alloc(30), one, small]), { level: 0 }), small]),
  BGZF: bgzfOf(text, [9000, 0, 1, 300]),
  'many tiny members': Buffer.concat(Array.from({ length: 300 }, (_, i) => gzipSync(`${i}\n`))),
};

describe.skipIf(!isOnPath('igzip'))('igzip, if it is on PATH', () => {
  it.each(Object.keys(files))('decodes %s alone', async (name) => {
    for (const pieceBytes of [64, 4096, 2 ** 18]) {
      const { text: decoded, decoders } = await expectSame(files[name] ?? empty, pieceBytes);
      expect(decoded).toBeDefined();
      expect(decoders, `pieces of ${pieceBytes} bytes`).toEqual(['igzip']);
    }
  });

  it('accepts and refuses what node:zlib does, however a file is damaged', async () => {
    const change = fc.record({
      kind: fc.constantFrom('flip', 'cut', 'insert', 'remove', 'zero', 'append', 'repeat'),
      place: fc.double({ min: 0, max: 1, noNaN: true }),
      /** Near an end of the file, where headers and trailers are. */
      isNear: fc.constantFrom('start', 'end', 'anywhere'),
      value: fc.nat(255),
      count: fc.integer({ min: 1, max: 12 }),
    });
    const damaged = fc.record({
      name: fc.constantFrom(...Object.keys(files)),
      changes: fc.array(change, { minLength: 1, maxLength: 2 }),
      pieceBytes: fc.constantFrom(100, 4096, 2 ** 18),
    });
    await fc.assert(
      fc.asyncProperty(damaged, async ({ name, changes, pieceBytes }) => {
        const stored = changes.reduce((bytes, { kind, place, isNear, value, count }) => {
          const range = isNear === 'anywhere' ? bytes.byteLength : Math.min(40, bytes.byteLength);
          const offset = Math.floor(place * range);
          const at = isNear === 'end' ? bytes.byteLength - offset : offset;
          const [before, behind] = [bytes.subarray(0, at), bytes.subarray(at)];
          switch (kind) {
            case 'flip':
              return Buffer.concat([before, Buffer.from([(behind[0] ?? 0) ^ (1 << (value % 8))]), behind.subarray(1)]);
            case 'cut':
              return before;
            case 'insert':
              return Buffer.concat([before, Buffer.alloc(count, value), behind]);
            case 'remove':
              return Buffer.concat([before, behind.subarray(count)]);
            case 'zero':
              return Buffer.concat([before, Buffer.alloc(count), behind.subarray(count)]);
            case 'append':
              return Buffer.concat([bytes, Buffer.alloc(count, value % 4 === 0 ? 0 : value)]);
            default:
              return Buffer.concat([before, behind, behind]);
          }
        }, files[name] ?? empty);
        await expectSame(stored, pieceBytes);
      }),
      { numRuns: atScale(15, 150, 5000) },
    );
  });
});

describe('a program of this name', () => {
  const searchPath = process.env['PATH'] ?? '';

  beforeEach(() => {
    mkdirSync(directory.path('bin'));
    process.env['PATH'] = `${directory.path('bin')}${delimiter}${searchPath}`;
  });
  afterEach(() => {
    process.env['PATH'] = searchPath;
  });

  const standIn = (script: string) => {
    writeFileSync(directory.path('bin', 'igzip'), `#!/bin/sh\n${script}\n`);
    chmodSync(directory.path('bin', 'igzip'), 0o755);
  };

  it('is believed when lengths and checksums agree', async () => {
    standIn('exec gzip -dc');
    for (const stored of Object.values(files)) {
      expect((await expectSame(stored)).decoders).toEqual(['igzip']);
    }
  });

  it.each([
    ['fails at once', 'exit 3'],
    ['fails at the end', 'gzip -dc; exit 1'],
    ['ends early with success', 'head -c 100 >/dev/null; exit 0'],
    ['reads nothing and ends with success', 'exit 0'],
    ['leaves out the end', 'gzip -dc | head -c 2000'],
    ['is killed', 'gzip -dc | head -c 2000; kill -9 $$'],
    ['cannot be run', 'exec /no/such/program'],
  ])('that %s is replaced by node:zlib', async (_name, script) => {
    standIn(script);
    for (const stored of [one, Buffer.concat([one, small, one])]) {
      expect((await expectSame(stored)).decoders).toEqual(['igzip', 'node:zlib']);
    }
  });

  it('that cannot be started is replaced by node:zlib', async () => {
    writeFileSync(directory.path('bin', 'igzip'), 'no program');
    chmodSync(directory.path('bin', 'igzip'), 0o755);
    process.env['PATH'] = directory.path('bin');
    expect((await expectSame(one)).decoders.at(-1)).toBe('node:zlib');
  });

  it('that decodes wrongly is found out', async () => {
    standIn('gzip -dc | tr x y');
    const { error } = await byIgzip(one);
    expect(error).toBe(
      'in.gz: igzip and node:zlib decoded it to different bytes; decode it without igzip (`igzip`), and check the memory of this machine',
    );
  });

  it('that decodes damaged bytes in its own way leaves the error to node:zlib', async () => {
    standIn('gzip -dc | tr x y');
    const damaged = Buffer.from(one);
    damaged[damaged.byteLength - 8] = (damaged[damaged.byteLength - 8] ?? 0) ^ 1;
    await expectSame(damaged);
  });

  it('is not started for small inputs', () => {
    standIn('exec gzip -dc');
    const open = () => sourceOf(one, 4096, []);
    expect(suitsIgzip({ byteLength: 2 ** 20 - 1, open })).toBe(false);
    expect(suitsIgzip({ byteLength: 2 ** 20, open })).toBe(true);
  });
});
