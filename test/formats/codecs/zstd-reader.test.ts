/** Windows count against the memory budget, and beginnings of files are decoded as far as they go. */
import { describe, expect, it } from 'vitest';
import type { DecoderMemory } from '#src/formats/codec.js';
import { decodeZstd, decodeZstdHead } from '#src/formats/codecs/zstd.js';
import { type SynchronousZstdDecoder, wasmDecoder, type ZstdDecoder } from '#src/formats/codecs/zstd-decoders.js';
import { blockHeader, declared, severalBlocks, skippable, undeclared } from './zstd-samples.mjs';

const MIB = 2 ** 20;
/** Takes any window; none of the frames here makes use of it. */
const roomy: SynchronousZstdDecoder = {
  name: 'roomy',
  mostWindowBytes: 2 ** 31,
  open: () => ({ decode: () => [], close: () => {} }),
};

/** A frame without content that declares a window of 2 ^ (10 + exponent) bytes, and maybe its length. */
function windowed(exponent: number, contentBytes?: number): Uint8Array {
  const size =
    contentBytes === undefined
      ? []
      : [contentBytes & 255, (contentBytes >> 8) & 255, (contentBytes >> 16) & 255, contentBytes >>> 24];
  const descriptor = contentBytes === undefined ? 0 : 0x80;
  return Uint8Array.of(0x28, 0xb5, 0x2f, 0xfd, descriptor, 8 * exponent, ...size, ...blockHeader(0, 0, true));
}

/** A budget of some bytes, and the reservations requested from it. */
class Budget implements DecoderMemory {
  readonly asked: number[] = [];
  readonly #byteLength: number;

  constructor(byteLength: number) {
    this.#byteLength = byteLength;
  }

  reserve(byteLength: number): boolean {
    this.asked.push(byteLength);
    return byteLength <= this.#byteLength;
  }

  budgetFor(byteLength: number): string {
    return `room for ${byteLength}`;
  }
}

async function decode(decoder: ZstdDecoder, memory: DecoderMemory, ...frames: Uint8Array[]): Promise<number> {
  const given = [Uint8Array.from(Buffer.concat(frames))];
  let decodedBytes = 0;
  const source = { path: 'in.zst', start: 0, next: () => given.shift() ?? new Uint8Array() };
  for await (const piece of decodeZstd(decoder, source, memory)) decodedBytes += piece.byteLength;
  return decodedBytes;
}

describe('decodeZstd', () => {
  it('asks for no memory for windows that every decoder takes', async () => {
    const budget = new Budget(0);
    await decode(wasmDecoder, budget, windowed(0), windowed(13), severalBlocks.stored);
    expect(budget.asked).toEqual([]);
  });

  it('reserves no more than the frame can fill', async () => {
    const budget = new Budget(100 * MIB);
    await expect(decode(roomy, budget, windowed(21, 9 * MIB))).rejects.toThrow('says that it holds 9437184 bytes');
    expect(budget.asked).toEqual([9 * MIB]);
    await expect(decode(roomy, budget, windowed(21, 8 * MIB))).rejects.toThrow('says that it holds 8388608 bytes');
    expect(budget.asked).toEqual([9 * MIB]);
  });

  it('says which frame needs how much, and which budget has it', async () => {
    await expect(decode(roomy, new Budget(1023 * MIB), declaredEmpty, windowed(20))).rejects.toMatchObject({
      name: 'UsageError',
      code: 'ERR_MEMORY_BUDGET',
      message: `in.zst: the zstd frame at byte ${declaredEmpty.byteLength} (compressed) has a window of 1073741824 bytes, which does not fit the memory budget; expected \`memoryBytes\` of at least room for 1073741824`,
    });
    expect(await decode(roomy, new Budget(1024 * MIB), windowed(20))).toBe(0);
  });

  it('says that a window is too large for the decoder, and which one takes it', async () => {
    expect(await decode(wasmDecoder, new Budget(1024 * MIB), windowed(20))).toBe(0);
    await expect(decode(wasmDecoder, new Budget(2 ** 32), windowed(21))).rejects.toMatchObject({
      name: 'InputError',
      code: 'ERR_INPUT_UNREADABLE',
      message: expect.stringContaining(
        'in.zst: the zstd frame at byte 0 (compressed) has a window of 2147483648 bytes, more than the 1073741824 that the decoder of this Node takes; use Node 22.15',
      ),
    });
  });

  it('says of a decoder that has no memory what it says', async () => {
    const poor: SynchronousZstdDecoder = {
      ...roomy,
      open: () => ({
        decode: () => {
          throw new Error('Allocation error : not enough memory');
        },
        close: () => {},
      }),
    };
    await expect(decode(poor, new Budget(0), declared.stored)).rejects.toMatchObject({
      name: 'SystemError',
      code: 'ERR_OUT_OF_MEMORY',
      message: expect.stringContaining('in.zst: no memory to decode the zstd data at byte 0 (compressed): Allocation'),
    });
  });
});

const declaredEmpty = windowed(0, 0);

describe('decodeZstdHead', () => {
  const headOf = (stored: Uint8Array, mostBytes: number, mostReturnedBytes = Number.POSITIVE_INFINITY) => {
    const { bytes, decodedBytes } = decodeZstdHead(wasmDecoder, stored, { mostBytes, mostReturnedBytes });
    return { bytes: new Uint8Array(bytes), decodedBytes };
  };

  it('decodes as far as the head goes', () => {
    const bytes = Buffer.concat([skippable, declared.stored, undeclared.stored]);
    const content = Buffer.concat([declared.content, undeclared.content]);
    for (let end = 0; end <= bytes.byteLength; end++) {
      const head = headOf(bytes.subarray(0, end), MIB);
      expect(content.subarray(0, head.decodedBytes).equals(head.bytes)).toBe(true);
      if (end >= skippable.byteLength + declared.stored.byteLength)
        expect(head.decodedBytes).toBeGreaterThanOrEqual(declared.content.byteLength);
    }
    expect(headOf(bytes, MIB).decodedBytes).toBe(content.byteLength);
    expect(headOf(bytes, MIB, 1000)).toEqual({
      bytes: new Uint8Array(content.subarray(0, 1000)),
      decodedBytes: content.byteLength,
    });
  });

  it('is empty for corrupt data', () => {
    const damaged = Buffer.from(declared.stored);
    damaged[damaged.byteLength - 1] = (damaged[damaged.byteLength - 1] ?? 0) ^ 1;
    for (const bytes of [damaged, Buffer.from('no zstd')])
      expect(headOf(bytes, MIB)).toEqual({ bytes: new Uint8Array(), decodedBytes: 0 });
  });
});
