/**
 * A temp disk that disappears in the middle of a job: one line names the missing path, and no output appears. If the
 * job can be resumed, it finishes when the disk is back.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { seen, sortLines } from '../fixtures/command-outcome.js';
import { reasonNotToMount } from '../fixtures/mounts.js';
import { runCommand } from '../fixtures/run-command.js';
import { sampled } from '../fixtures/scale.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';
import { SORTED_OUTPUT, smallSizes, writeInputs } from './small-job.js';

const witness = new URL('unmount-disk.mjs', import.meta.url).href;

describe.skipIf(reasonNotToMount !== undefined)(`a temp disk that disappears ${reasonNotToMount ?? ''}`, () => {
  const directory = useTestDirectory();
  let disk = '';
  let image = '';

  // A file system that is still there when it is mounted again, which tmpfs is not.
  beforeEach(() => {
    image = directory.path('image');
    disk = directory.path('disk');
    mkdirSync(disk);
    execFileSync('truncate', ['--size=64M', image]);
    execFileSync('mkfs.ext4', ['-q', '-F', image]);
    execFileSync('mount', ['-o', 'loop', image, disk]);
  });
  afterEach(() => {
    spawnSync('umount', ['--lazy', disk]);
  });

  it.each(sampled(['write', 'read'], 2))(
    'ends the job with one line, and the job can be resumed when the disk is back: %s',
    async (when) => {
      const inputs = writeInputs(directory);
      const job = [...inputs, '-o', directory.path('out'), '-T', disk, '-S', '64M', '-q', '--resume'];
      const env = { ...smallSizes(), PILESHUF_UNMOUNT: JSON.stringify({ path: disk, when }) };
      const { exitCode, lines } = seen(await runCommand(job, { nodeOptions: ['--import', witness], env }));
      expect(exitCode === 1 || exitCode === 4).toBe(true);
      expect(lines.at(-1)).toContain(disk);
      expect(existsSync(directory.path('out'))).toBe(false);

      execFileSync('mount', ['-o', 'loop', image, disk]);
      expect(seen(await runCommand(job, { env: smallSizes() }))).toEqual({ exitCode: 0, lines: [] });
      expect(sortLines(readFileSync(directory.path('out'), 'latin1'))).toEqual(SORTED_OUTPUT);
      expect(execFileSync('ls', ['-A', disk], { encoding: 'utf8' })).toBe('lost+found\n');
    },
  );
});
