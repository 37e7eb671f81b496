/**
 * Temp data on tmpfs competes with the job for memory: the job warns of such a temp directory if data may go there, and
 * does not warn if all data is known to fit in the memory budget.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { beforeEach, describe, expect, it } from 'vitest';
import { shuffle } from '#src/index.js';
import { describeDevice } from '#src/machine/devices.js';
import type { Tuning } from '#src/plan/memory-plan.js';
import { reasonNotToMount, useMounts } from '../fixtures/mounts.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

describe.skipIf(reasonNotToMount !== undefined)(`a temp directory in memory ${reasonNotToMount ?? ''}`, () => {
  const directory = useTestDirectory();
  const mountTmpfs = useMounts();

  let inMemory = '';
  beforeEach(() => {
    inMemory = mountTmpfs(directory.path('in-memory'), 'size=1m');
    writeFileSync(directory.path('plain'), 'a\nb\nc\n');
    writeFileSync(directory.path('compressed'), gzipSync('a\nb\nc\n'));
  });

  const warningFor = (path: string) =>
    `the temp directory ${path} lies in memory (tmpfs), where temp data competes with the job itself; name a disk with \`tempDirs\``;

  async function warningsOf(input: string, tempDirs: readonly string[], tuning: Tuning): Promise<string[]> {
    const warnings: string[] = [];
    await shuffle(
      {
        inputs: [directory.path(input)],
        output: directory.path('out'),
        tempDirs,
        memoryBytes: 2 ** 26,
        workers: 1,
        onWarning: (line) => warnings.push(line),
      },
      tuning,
    );
    return warnings;
  }

  it('is warned of when temp data goes there', async () => {
    expect(await warningsOf('plain', [inMemory], { mayUseRamPool: false })).toEqual([warningFor(inMemory)]);
  });

  it('is warned of when temp data may go there: nobody knows how long a compressed input is', async () => {
    expect(await warningsOf('compressed', [inMemory], {})).toEqual([warningFor(inMemory)]);
  });

  it('is no matter when all is known to stay in memory anyway', async () => {
    expect(await warningsOf('plain', [inMemory], {})).toEqual([]);
  });

  it('is warned of beside one on a disk, several of them once', async () => {
    const second = directory.path('in-memory', 'second');
    mkdirSync(second);
    // The tests' own directory may lie in memory, too.
    const isDisk = describeDevice(directory.temp).deviceClass !== 'memory';
    const named = [inMemory, ...(isDisk ? [] : [directory.temp]), second];
    const [single] = named;
    const warning = warningFor(single ?? '').replace(
      `the temp directory ${single} lies`,
      `${named.length} temp directories (${named.join(', ')}) lie`,
    );
    expect(await warningsOf('plain', [inMemory, directory.temp, second], { mayUseRamPool: false })).toEqual([warning]);
  });
});
