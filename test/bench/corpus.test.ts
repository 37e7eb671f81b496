/** A command gets the same inputs that its output is compared with. */

import { spawnSync } from 'node:child_process';
import { basename } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  type Corpus,
  checksumInputs,
  firstEighthOf,
  type Inputs,
  makeCorpus,
  repeatCorpus,
} from '../../bench/corpus.mjs';
import { useTestDirectory } from '../fixtures/temp-directory.js';

const directory = useTestDirectory();

let corpus: Corpus;
beforeEach(() => {
  corpus = makeCorpus(directory.path(), { kind: 'tiny', seed: '1', sizeBytes: 8000 });
});

/** Names of the files that a shell finds, and what they hold. */
function shellSees({ pattern }: Inputs): { names: string[]; bytes: number } {
  const inDirectory = { cwd: directory.path(), encoding: 'utf8' } as const;
  const listed = spawnSync('bash', ['-c', `printf '%s\\n' ${pattern}`], inDirectory);
  const read = spawnSync('bash', ['-c', `cat ${pattern}`], inDirectory);
  return { names: listed.stdout.trim().split('\n').map(baseName), bytes: read.stdout.length };
}

const baseName = (path: string) => basename(path);
const namesOf = ({ files }: Inputs) => files.map(baseName);

describe('inputs of a corpus', () => {
  it.each<[string, () => Inputs, number]>([
    ['all files', () => corpus, 8],
    ['all files, twice', () => repeatCorpus(corpus, 2), 16],
    ['the first eighth', () => firstEighthOf(corpus), 1],
    ['the first eighth of all files, twice', () => firstEighthOf(repeatCorpus(corpus, 2)), 2],
  ])('%s are what a shell makes of their pattern', (_, choose, fileCount) => {
    const inputs = choose();
    expect(shellSees(inputs)).toEqual({ names: namesOf(inputs), bytes: inputs.bytes });
    expect(inputs.files).toHaveLength(fileCount);
    expect(inputs.bytes).toBe(fileCount * 1000);
  });

  it('have the checksum of what is given, not of the files as they lie', () => {
    const { lines, sum } = checksumInputs(corpus);
    expect(lines).toBe(1000);
    expect(checksumInputs(repeatCorpus(corpus, 2))).toMatchObject({ lines: 2000, bytes: 16_000 });
    expect(checksumInputs(firstEighthOf(corpus))).toMatchObject({ lines: 125, bytes: 1000 });
    expect(checksumInputs(corpus)).toEqual({ lines, bytes: 8000, sum });
  });
});
