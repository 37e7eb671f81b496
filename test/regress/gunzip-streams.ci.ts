/** Streams of gunzip are closed, one for each input: only the garbage collector would free them, and it sees small objects. */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { runCommand } from '../fixtures/run-command.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

const directory = useTestDirectory();
const counter = new URL('count-gunzip-streams.mjs', import.meta.url).href;

/** More bytes, compressed, than `node:zlib` decodes at once. */
function inputOf(i: number): Buffer {
  const lines = Array.from({ length: 3000 }, (_, j) => createHash('sha512').update(`${i} ${j}`).digest('base64'));
  return Buffer.from(`${lines.join('\n')}\n`);
}

it('streams of gunzip are closed', async () => {
  const inputs = Array.from({ length: 12 }, (_, i) => {
    const path = directory.path(`in-${i}`);
    writeFileSync(path, gzipSync(inputOf(i)));
    return path;
  });
  const noted = directory.path('noted');
  writeFileSync(noted, '');
  const { exitCode, stderr } = await runCommand(
    [...inputs, '-o', directory.path('out'), '-T', directory.temp, '--workers', '2', '-S', '12M', '-q'],
    { nodeOptions: ['--import', counter], env: { GUNZIP_STREAMS_FILE: noted } },
  );
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  const notes = readFileSync(noted, 'utf8').trimEnd().split('\n').sort();
  expect(notes).toEqual([...Array<string>(12).fill('closed'), ...Array<string>(12).fill('opened')]);
});
