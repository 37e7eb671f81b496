/** Temp directories of killed jobs that keep nothing: the next job removes them, and none that somebody may still use. */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { shuffle } from '#src/index.js';
import { formatOwnerName, identifyThisProcess } from '#src/machine/file-owner.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

const directory = useTestDirectory();
const parent = (...names: string[]) => directory.path('t', ...names);
const names = () => readdirSync(parent()).sort();
const me = { ...identifyThisProcess(), threadId: 0, token: '0123456789abcdef' };
const ENDED = formatOwnerName('lock', { ...me, pid: spawnSync(process.execPath, ['-e', '']).pid });
const LIVE = formatOwnerName('lock', { ...me, pid: process.ppid, startTicks: undefined });
const ELSEWHERE = formatOwnerName('lock', { ...me, host: 'elsewhere' });

function leave(name: string, lock: string | undefined, hoursAgo = 0): void {
  mkdirSync(parent(name), { mode: 0o700 });
  if (lock !== undefined) for (const file of [lock, 'set-000001.0.pile']) writeFileSync(parent(name, file), '');
  const time = Date.now() / 1000 - 3600 * hoursAgo;
  for (const path of [...readdirSync(parent(name)).map((file) => join(parent(name), file)), parent(name)])
    utimesSync(path, time, time);
}

beforeEach(() => {
  mkdirSync(parent());
  writeFileSync(directory.path('in'), 'a\n');
});

it('left-over directories go, and others stay', async () => {
  mkdirSync(directory.path('real'), { mode: 0o700 });
  writeFileSync(directory.path('real', ENDED), '');
  symlinkSync(directory.path('real'), parent('.pileshuf-linked'));
  leave('.pileshuf-others', ENDED);
  chmodSync(parent('.pileshuf-others'), 0o777);
  leave('other-abcdef', ENDED);
  leave('.pileshuf-nolock', undefined, 0.9);
  leave('.pileshuf-astray', 'lock of another kind', 30);
  leave('.pileshuf-remote', ELSEWHERE, 30);
  leave('.pileshuf-task-living', LIVE, 30);
  leave('.pileshuf-task-remote', ELSEWHERE, 23);
  const staying = names();
  leave('.pileshuf-killed', ENDED);
  leave('.pileshuf-former', undefined, 1.1);
  leave('.pileshuf-task-killed', ENDED);
  // Nobody can ask another host, and no task takes a day between two changes.
  leave('.pileshuf-task-longer', ELSEWHERE, 25);
  await shuffle({ inputs: [directory.path('in')], output: directory.path('out'), tempDirs: [parent()] });
  expect(names()).toEqual(staying);
  expect(readdirSync(directory.path('real'))).toEqual([ENDED]);
});
