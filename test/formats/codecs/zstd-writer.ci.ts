/**
 * zstd output is one frame with its declared length, and other tools can read it. Packed temp data is restored
 * exactly, or found damaged.
 */
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { openLibzstd } from '#src/formats/codecs/libzstd.js';
import { ZSTD_C_COMPRESSION_LEVEL } from '#src/formats/codecs/zstd-decoders.js';
import { zstdContentBytes } from '#src/formats/codecs/zstd-frames.js';
import {
  openZstdEncoder,
  openZstdPacker,
  openZstdPages,
  usableWriters,
  ZSTD_LEVELS,
  zstdExpander,
  zstdTableLogs,
} from '#src/formats/codecs/zstd-writer.js';
import { isOnPath, runOn } from '../../fixtures/foreign-program.js';
import { decode, encoderCases, packerCases, text } from './zstd-writer-cases.mjs';

const writers = usableWriters().map((writer, i) => [i, writer] as const);

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
  const frames = [1, 3, 4, 5, 9, 15, 19].map((level) => openZstdEncoder(level, usableWriters().at(-1)).encode(text));
  const digest = createHash('sha256').update(Buffer.concat(frames)).digest('hex');
  expect(digest.slice(0, 32)).toBe('46e91bd7619c59374c6d192085609d22');
});

describe('libzstd', () => {
  const MIB = 2 ** 20;

  it.each([1, 3, 9, 12, 15, 17, 19, 20, 21, 22])('has tables at level %i that are no larger than planned', (level) => {
    const libzstd = openLibzstd();
    const context = libzstd.ZSTD_createCCtx();
    const byteLength = 1_500_000;
    const boundBytes = libzstd.ZSTD_compressBound(byteLength);
    const input = libzstd.malloc(byteLength + boundBytes) >>> 0;
    const beforeBytes = libzstd.memory.buffer.byteLength;
    libzstd.ZSTD_CCtx_setParameter(context, ZSTD_C_COMPRESSION_LEVEL, level);
    libzstd.ZSTD_compress2(context, input + byteLength, boundBytes, input, byteLength);
    const tableBytes = zstdTableLogs(level).reduce((sum, log) => sum + 4 * 2 ** Math.min(log, 22), 0);
    const besideTables = libzstd.memory.buffer.byteLength - beforeBytes - tableBytes;
    expect(besideTables).toBeLessThan(2 * MIB);
    if (level > 12) expect(besideTables).toBeGreaterThan(-2 * MIB);
  });

  it('is one instance for all long pages up to the next power of two', () => {
    const { Instance } = WebAssembly;
    let count = 0;
    class Counted extends Instance {
      constructor(...parts: ConstructorParameters<typeof Instance>) {
        super(...parts);
        count += 1;
      }
    }
    Object.assign(WebAssembly, { Instance: Counted });
    const compress = openZstdPages(1, usableWriters().at(-1));
    const page = Buffer.alloc(32 * MIB, 'a page');
    const counts = [17, 31, 1, 24, 32, 0].map((mib) => {
      const compressed = Buffer.from(compress(page.subarray(0, mib * MIB)));
      expect(zstdContentBytes(compressed)).toBe(mib * MIB);
      return count;
    });
    Object.assign(WebAssembly, { Instance });
    expect(counts).toEqual([1, 1, 1, 1, 1, 1]);
  });
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
