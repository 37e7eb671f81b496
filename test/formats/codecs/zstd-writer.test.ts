/**
 * zstd output is one frame with its declared length, and other tools can read it. Packed temp data is restored
 * exactly, or found damaged.
 */
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
const missing = 'nothing on this machine can write zstd: install the package zstd-napi';

describe.each(writers)('library %i of this machine', (_, writer) => {
  it.each(Object.entries(encoderCases))('%s', async (_name, run) => {
    await run(writer);
  });

  it.each(Object.entries(packerCases))('%s', (_name, run) => {
    run(writer);
  });

  it.skipIf(!isOnPath('zstd'))('writes what zstd reads, if it is on PATH', () => {
    const encode = writer.openEncoder(ZSTD_LEVELS.usual);
    const stored = Buffer.concat([text, Buffer.alloc(0), text].map((content) => encode(content)));
    expect(runOn(stored, ['zstd', '-dc']).equals(Buffer.concat([text, text]))).toBe(true);
  });
});

describe('openZstdEncoder', () => {
  it.each([0, 23, -1, 2.5, Number.NaN])('refuses level %f', (level) => {
    expect(() => openZstdEncoder(level)).toThrow(`the zstd level must be a whole number from 1 to 22, not ${level}`);
  });

  it.skipIf(writers.length === 0)('opens one of those on this machine', async () => {
    const frame = openZstdEncoder(22).encode(text);
    expect(frame.byteLength).toBe(frame.buffer.byteLength);
    expect((await decode(frame)).equals(text)).toBe(true);
  });

  it.skipIf(writers.length > 0)('says what to do where there is none', () => {
    expect(() => openZstdEncoder(3)).toThrow(missing);
  });
});

describe('openZstdPacker', () => {
  it.each([0, 23, 1.5])('refuses level %f', (level) => {
    expect(() => openZstdPacker(level)).toThrow(`the zstd level must be a whole number from 1 to 22, not ${level}`);
  });

  it.skipIf(writers.length === 0)('opens one of those on this machine, and the expander knows what it wrote', () => {
    const target = Buffer.alloc(text.byteLength);
    zstdExpander.expand(openZstdPacker(5).compress(text) ?? expect.fail(), target);
    expect(target.equals(text)).toBe(true);
  });

  it.skipIf(writers.length > 0)('says what to do where there is none', () => {
    expect(() => openZstdPacker(3)).toThrow(missing);
    expect(() => zstdExpander.expand(text, text)).toThrow(missing);
  });
});
