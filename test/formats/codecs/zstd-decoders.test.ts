/**
 * Every decoder of zstd decodes a whole file or refuses it: frames in one buffer, behind a skippable one, cut
 * anywhere, truncated, corrupt. If this Node has no zstd, a newer one is tested, which must also write.
 */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { isSoundDecoder } from '#src/formats/codecs/zstd.js';
import { findZstdInNode, nodeDecoder, wasmDecoder, type ZstdDecoder } from '#src/formats/codecs/zstd-decoders.js';
import { caseSeed } from '../../fixtures/draws.js';
import { newerNodes } from '../../fixtures/newer-nodes.js';
import { decoderCases } from './zstd-decoder-cases.mjs';
import { declared } from './zstd-samples.mjs';
import { encoderCases, packerCases } from './zstd-writer-cases.mjs';

const run = promisify(execFile);
const zstdInNode = findZstdInNode();
const decoders: [string, ZstdDecoder][] = [['WebAssembly', wasmDecoder]];
if (zstdInNode !== undefined) decoders.push(['node:zlib', nodeDecoder(zstdInNode)]);
const script = (name: string) => fileURLToPath(new URL(name, import.meta.url));

/** The text of two frames, by such a Node. */
async function decodeWhereUnsound(node: string): Promise<string> {
  const { stdout } = await run(node, [script('zstd-of-unsound-node.mjs')]);
  return stdout;
}

describe.each(decoders)('%s', (_name, decoder) => {
  it.each(Object.entries(decoderCases))('%s', async (_, runCase) => {
    await runCase(decoder);
  });
});

describe.each(newerNodes)('node:zlib of Node $version, where npx can get it', ({ path = '' }) => {
  it.skipIf(path === '')('passes all cases, to read and to write', async () => {
    const { stdout } = await run(path, [script('zstd-in-this-node.mjs'), String(caseSeed)]);
    const cases = { ...decoderCases, ...encoderCases, ...packerCases };
    const passed = ['is sound', ...Object.keys(cases)].map((name) => [name, 'passed']);
    expect(JSON.parse(stdout)).toEqual(Object.fromEntries(passed));
  });

  it.skipIf(path === '')('is not taken when it is unsound', async () => {
    expect(await decodeWhereUnsound(path)).toBe(declared.content.toString().repeat(2));
  });
});

it('with an unsound node:zlib another decoder is taken', async () => {
  expect(await decodeWhereUnsound(process.execPath)).toBe(declared.content.toString().repeat(2));
});

describe('isSoundDecoder', () => {
  const decoding = (decode: (bytes: Uint8Array, endsFrame: boolean) => Iterable<Uint8Array>): ZstdDecoder => ({
    name: 'made up',
    mostWindowBytes: 2 ** 31,
    open: () => ({ decode, close: () => {} }),
  });

  it('takes what decodes', async () => {
    expect(await isSoundDecoder(wasmDecoder)).toBe(true);
  });

  it('refuses what gives nothing, gives other bytes, or throws', async () => {
    expect(await isSoundDecoder(decoding(() => []))).toBe(false);
    expect(await isSoundDecoder(decoding((bytes) => [bytes]))).toBe(false);
    expect(
      await isSoundDecoder(
        decoding(() => {
          throw new Error('broken');
        }),
      ),
    ).toBe(false);
  });

  it('refuses what does not look at checksums', async () => {
    const lenient: ZstdDecoder = {
      ...wasmDecoder,
      open: () => {
        const frameDecoder = wasmDecoder.open();
        return {
          ...frameDecoder,
          *decode(bytes, endsFrame) {
            try {
              yield* frameDecoder.decode(bytes, endsFrame);
            } catch {}
          },
        };
      },
    };
    expect(await isSoundDecoder(lenient)).toBe(false);
  });
});
