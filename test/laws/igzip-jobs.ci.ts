/**
 * Jobs with igzip and without it: the same bytes. `gzip` stands in for igzip, so that the cases are tried on every machine.
 * formats/codecs/igzip.test.ts has damaged files.
 */
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { shuffle } from '#src/index.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';
import { bgzfOf } from '../formats/codecs/bgzf-file.js';

const directory = useTestDirectory();
const searchPath = process.env['PATH'] ?? '';

beforeEach(() => {
  mkdirSync(directory.path('bin'));
  writeFileSync(directory.path('bin', 'igzip'), '#!/bin/sh\nexec gzip -dc\n');
  chmodSync(directory.path('bin', 'igzip'), 0o755);
  process.env['PATH'] = `${directory.path('bin')}${delimiter}${searchPath}`;
});
afterEach(() => {
  process.env['PATH'] = searchPath;
});

/** Hardly smaller when compressed, so that little of it makes a file for which igzip is started. */
const lines = (() => {
  const parts: string[] = [];
  for (let i = 0, state = 1; i < 330_000; i++) {
    state = (state * 1103515245 + 12345) % 2 ** 31;
    parts.push(state.toString(36), i % 3 === 0 ? '\n' : ' ');
  }
  return Buffer.from(parts.join(''));
})();

async function outcome(stored: Buffer, igzip: boolean) {
  writeFileSync(directory.path('in.gz'), stored);
  const output = directory.path('out');
  const options = { inputs: [directory.path('in.gz')], output, seed: '1', force: true, igzip };
  const report = await shuffle({ ...options, tempDirs: [directory.temp] }, { inline: true, sliceBytes: 2_200_000 });
  return { bytes: readFileSync(output), decoders: report.decoders };
}

it('a job gives the same with igzip, of members of BGZF in several parts', async () => {
  const stored = bgzfOf(Buffer.concat([lines, lines, lines]), [60_000]);
  const [withIt, without] = [await outcome(stored, true), await outcome(stored, false)];
  expect(withIt.bytes.equals(without.bytes)).toBe(true);
  expect(Object.keys(withIt.decoders)).toEqual(['igzip']);
  expect(withIt.decoders['igzip']).toBeGreaterThanOrEqual(3);
  expect(Object.keys(without.decoders)).toEqual(['node:zlib']);
});
