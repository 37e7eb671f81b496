/**
 * A job opens as many native contexts of compressors and decompressors as it has threads, whatever the number of inputs,
 * piles and shards: only the garbage collector frees those of `zstd-napi`, and it sees small objects. Streams of
 * `node:zlib` are closed, one for each input. The memory itself is measured by `memory.slow.ts`.
 */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { loadZstdAddon } from '#src/formats/codecs/zstd-decoders.js';
import { openZstdEncoder } from '#src/formats/codecs/zstd-writer.js';
import { runCommand } from '../fixtures/run-command.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

const directory = useTestDirectory();
const counter = new URL('count-native-contexts.mjs', import.meta.url).href;

/** More bytes, compressed, than `node:zlib` decodes at once. */
function inputOf(i: number): Buffer {
  const lines = Array.from({ length: 3000 }, (_, j) => createHash('sha512').update(`${i} ${j}`).digest('base64'));
  return Buffer.from(`${lines.join('\n')}\n`);
}

it.skipIf(loadZstdAddon() === undefined)('are as many as the threads, not as the tasks', async () => {
  const inputs = Array.from({ length: 24 }, (_, i) => {
    const path = directory.path(`in-${i}`);
    writeFileSync(path, i % 2 === 0 ? gzipSync(inputOf(i)) : openZstdEncoder(3).encode(inputOf(i)));
    return path;
  });
  const noted = directory.path('noted');
  writeFileSync(noted, '');
  const output = ['--shards', '48', '--compress', 'zstd:9', '-o', directory.path('out/')];
  const { exitCode, stderr } = await runCommand(
    [...inputs, ...output, '-T', directory.temp, '--temp-compress', 'zstd:3', '--workers', '2', '-S', '12M', '-q'],
    { nodeOptions: ['--import', counter], env: { NATIVE_CONTEXTS_FILE: noted } },
  );
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });

  const counts = new Map<string, number>();
  for (const line of readFileSync(noted, 'utf8').trimEnd().split('\n')) counts.set(line, (counts.get(line) ?? 0) + 1);
  const most = (what: string) => Math.max(...[...counts].flatMap(([line, n]) => (line.endsWith(what) ? [n] : [])));
  // One decodes inputs, one expands segments.
  expect({ compressors: most('CCtx'), decompressors: most('DCtx') }).toEqual({ compressors: 1, decompressors: 2 });
  const sum = (what: string) => [...counts].reduce((all, [line, n]) => all + (line.endsWith(what) ? n : 0), 0);
  expect({ opened: sum('gunzip opened'), closed: sum('gunzip closed') }).toEqual({ opened: 12, closed: 12 });
});
