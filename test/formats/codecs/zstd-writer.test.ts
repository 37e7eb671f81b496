/**
 * zstd output is one frame with its declared length, and other tools can read it. Packed temp data is restored
 * exactly, or found damaged.
 */
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  openZstdEncoder,
  openZstdPacker,
  writersHere,
  ZSTD_LEVELS,
  zstdExpander,
} from '#src/formats/codecs/zstd-writer.js';
import { isOnPath, runOn } from '../../fixtures/foreign-program.js';
import { decode, encoderCases, packerCases, text } from './zstd-writer-cases.mjs';

const writers = writersHere().map((writer, i) => [i, writer] as const);

describe.each(writers)('library %i of this machine', (_, writer) => {
  it.each(Object.entries(encoderCases))('%s', async (_name, run) => {
    await run(writer);
  });

  it.each(Object.entries(packerCases))('%s', (_name, run) => {
    run(writer);
  });

  it.skipIf(!isOnPath('zstd'))('writes what zstd reads, if it is on PATH', () => {
    const { encode } = openZstdEncoder(ZSTD_LEVELS.usual, writer);
    const stored = Buffer.concat([text, Buffer.alloc(0), text].map((content) => encode(content)));
    expect(runOn(stored, ['zstd', '-dc']).equals(Buffer.concat([text, text]))).toBe(true);
  });
});

it('WebAssembly writes the bytes of libzstd 1.5.7', () => {
  const frames = [1, 3, 4, 5, 9, 15, 19].map((level) => openZstdEncoder(level, writersHere().at(-1)).encode(text));
  const digest = createHash('sha256').update(Buffer.concat(frames)).digest('hex');
  expect(digest.slice(0, 32)).toBe('46e91bd7619c59374c6d192085609d22');
});

describe('openZstdEncoder', () => {
  it.each([0, 23, -1, 2.5, Number.NaN])('refuses level %f', (level) => {
    expect(() => openZstdEncoder(level)).toThrow(`the zstd level must be a whole number from 1 to 22, not ${level}`);
  });

  it('opens one of those on this machine', async () => {
    const frame = openZstdEncoder(22).encode(text);
    expect(frame.byteLength).toBe(frame.buffer.byteLength);
    expect((await decode(frame)).equals(text)).toBe(true);
  });
});

describe('openZstdPacker', () => {
  it.each([0, 23, 1.5])('refuses level %f', (level) => {
    expect(() => openZstdPacker(level)).toThrow(`the zstd level must be a whole number from 1 to 22, not ${level}`);
  });

  it('opens one of those on this machine, and the expander knows what it wrote', () => {
    const target = Buffer.alloc(text.byteLength);
    zstdExpander.expand(openZstdPacker(5).compress(text) ?? expect.fail(), target);
    expect(target.equals(text)).toBe(true);
  });
});
