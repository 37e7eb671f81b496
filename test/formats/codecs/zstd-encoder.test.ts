/** What the encoders write is one frame that says its length, and the tools of others read it. */
import { describe, expect, it } from 'vitest';
import { encodersHere, openZstdEncoder, ZSTD_LEVELS } from '#src/formats/codecs/zstd-encoder.js';
import { isOnPath, runOn } from '../../fixtures/foreign-program.js';
import { decode, encoderCases, text } from './zstd-encoder-cases.mjs';

const openers = encodersHere().map((open, i) => [i, open] as const);

describe.each(openers)('encoder %i of this machine', (_, open) => {
  it.each(Object.entries(encoderCases))('%s', async (_name, run) => {
    await run(open);
  });

  it.skipIf(!isOnPath('zstd'))('writes what zstd reads, if it is on PATH', () => {
    const encoder = open(ZSTD_LEVELS.usual);
    const stored = Buffer.concat([text, Buffer.alloc(0), text].map((content) => encoder.compressFrame(content)));
    expect(runOn(stored, ['zstd', '-dc']).equals(Buffer.concat([text, text]))).toBe(true);
  });
});

describe('openZstdEncoder', () => {
  it.each([0, 23, -1, 2.5, Number.NaN])('refuses level %f', (level) => {
    expect(() => openZstdEncoder(level)).toThrow(`the zstd level must be a whole number from 1 to 22, not ${level}`);
  });

  it.skipIf(openers.length === 0)('opens one of those on this machine', async () => {
    expect((await decode(openZstdEncoder(22).compressFrame(text))).equals(text)).toBe(true);
  });

  it.skipIf(openers.length > 0)('says what to do where there is none', () => {
    expect(() => openZstdEncoder(3)).toThrow('nothing on this machine can write zstd: install the package zstd-napi');
  });
});
