/** Bytes that were compressed are again what they were, or the place that they come from is found damaged. */
import { describe, expect, it } from 'vitest';
import { openZstdPacker, packersHere, zstdExpander } from '#src/formats/codecs/zstd-packer.js';
import { packerCases, text } from './zstd-packer-cases.mjs';

const kinds = packersHere().map((kind, i) => [i, kind] as const);

describe.each(kinds)('packer %i of this machine', (_, kind) => {
  it.each(Object.entries(packerCases))('%s', (_name, run) => {
    run(kind);
  });
});

describe('openZstdPacker', () => {
  it.each([0, 23, 1.5])('refuses level %f', (level) => {
    expect(() => openZstdPacker(level)).toThrow(`the zstd level must be a whole number from 1 to 22, not ${level}`);
  });

  it.skipIf(kinds.length === 0)('opens one of those on this machine, and the expander knows what it wrote', () => {
    const target = Buffer.alloc(text.byteLength);
    zstdExpander.expand(openZstdPacker(5).compress(text) ?? expect.fail(), target);
    expect(target.equals(text)).toBe(true);
  });

  it.skipIf(kinds.length > 0)('says what to do where there is none', () => {
    const message = 'nothing on this machine can write zstd: install the package zstd-napi';
    expect(() => openZstdPacker(3)).toThrow(message);
    expect(() => zstdExpander.expand(text, text)).toThrow(message);
  });
});
