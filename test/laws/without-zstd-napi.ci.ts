/** Without the optional package zstd-napi, pileshuf still reads zstd, and writes it or refuses to. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { findZstdInNode } from '#src/formats/codecs/zstd-decoders.js';
import { DONE, seen } from '../fixtures/command-outcome.js';
import { newerNodes } from '../fixtures/newer-nodes.js';
import { type CommandRun, runCommand } from '../fixtures/run-command.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';
import { declared, severalBlocks, skippable, undeclared } from '../formats/codecs/zstd-samples.mjs';
import { decodeWithTool } from '../formats/decode-with-tool.js';
import { referenceOrder } from './reference-order.js';

const directory = useTestDirectory();
const frames = [skippable, declared.stored, severalBlocks.stored, skippable, undeclared.stored];
const content = Buffer.concat([declared.content, severalBlocks.content, undeclared.content]);
const expected = Buffer.concat(referenceOrder([content], 's'));
const nodeOptions = ['--import', new URL('../formats/codecs/hide-zstd-napi.mjs', import.meta.url).href];
const REFUSAL =
  'pileshuf: nothing on this machine can write zstd: install the package zstd-napi beside pileshuf, use Node 22.15 or later, or use gzip for outputs';

async function pileshuf(words: readonly string[], run: CommandRun = {}) {
  const argv = ['-q', '-T', directory.temp, '--seed', 's', '--workers', '2', ...words];
  const env = { PILESHUF_TEST_TUNING: '{"inline":false,"keepInRam":false}' };
  return seen(await runCommand(argv, { nodeOptions, env, ...run }));
}

function writeInput(bytes: Uint8Array = Buffer.concat(frames)): string {
  writeFileSync(directory.path('in.zst'), bytes);
  return directory.path('in.zst');
}

describe('without zstd-napi', () => {
  it('zstd is read, on threads', async () => {
    expect(await pileshuf([writeInput(), '-o', directory.path('out')])).toEqual(DONE);
    expect(readFileSync(directory.path('out')).equals(expected)).toBe(true);
  });

  const inNode = findZstdInNode();

  it.skipIf(inNode !== undefined).each([
    ['an output', ['--compress', 'zstd']],
    ['temp data', ['--temp-compress', 'zstd']],
  ])('where this Node writes no zstd, it is refused: %s', async (_, words) => {
    expect(await pileshuf([writeInput(), ...words, '-o', directory.path('out')])).toEqual({
      exitCode: 2,
      lines: [REFUSAL],
    });
    expect(existsSync(directory.path('out'))).toBe(false);
  });

  it.skipIf(inNode === undefined)('where this Node writes zstd, it is written', async () => {
    const words = [writeInput(), '--temp-compress', 'zstd', '-o', directory.path('out.zst')];
    expect(await pileshuf(words)).toEqual(DONE);
    expect(decodeWithTool('zstd', readFileSync(directory.path('out.zst'))).equals(expected)).toBe(true);
  });
});

describe.each(newerNodes)('without zstd-napi on Node $version, where npx can get it', ({ path: node }) => {
  it.skipIf(node === undefined).each([
    ['on threads', false],
    ['on the calling thread', true],
  ])('zstd is read and written, also as temp data, %s', async (_, inline) => {
    const words = [writeInput(), '--temp-compress', 'zstd', '-o', directory.path('out.zst')];
    const env = { PILESHUF_TEST_TUNING: JSON.stringify({ inline, keepInRam: false }) };
    expect(await pileshuf(words, { node, env })).toEqual(DONE);
    expect(decodeWithTool('zstd', readFileSync(directory.path('out.zst'))).equals(expected)).toBe(true);
  });

  it.skipIf(node === undefined)('a truncated file is refused', async () => {
    const bytes = Buffer.concat(frames).subarray(0, -1);
    expect(await pileshuf([writeInput(bytes), '-o', directory.path('out')], { node })).toEqual({
      exitCode: 3,
      lines: [expect.stringContaining(`in.zst: the zstd data ends at byte ${bytes.byteLength} (compressed) inside a`)],
    });
    expect(existsSync(directory.path('out'))).toBe(false);
  });
});
