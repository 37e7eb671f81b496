// @ts-check
// Describes the machine of a result: versions of the programs and the class of the machine. Results are committed, so
// the description has no host name, no user and no path.

import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const repositoryDir = path.join(import.meta.dirname, '..');

/** @returns {Record<string, string | null>} */
export function readVersions() {
  const isDirty = output('git', ['status', '--porcelain', '--untracked-files=no']) !== '';
  const commit = output('git', ['rev-parse', 'HEAD']);
  return {
    pileshuf: JSON.parse(fs.readFileSync(path.join(repositoryDir, 'package.json'), 'utf8')).version,
    commit: commit && (isDirty ? `${commit} with changes` : commit),
    build: process.env['PILESHUF'] ? 'given by PILESHUF, maybe not of this commit' : 'dist',
    node: process.versions.node,
    coreutils: /(\d+[\d.]*)/.exec(output('shuf', ['--version']) ?? '')?.[1] ?? null,
    bash: /version (\d+[\d.]*)/.exec(output('bash', ['--version']) ?? '')?.[1] ?? null,
    kernel: /^\d+[\d.]*\d/.exec(os.release())?.[0] ?? null, // the rest of the name may reveal a place
  };
}

/** @param {string} workDir @returns {Record<string, string | number | null>} */
export function readMachineClass(workDir) {
  return {
    platform: `${process.platform} ${process.arch}`,
    cores: os.availableParallelism(),
    cpuModel: os.cpus()[0]?.model ?? null,
    memoryBytes: os.totalmem(),
    workFileSystem: output('df', ['--output=fstype', workDir])?.split('\n')[1] ?? null,
  };
}

/** @param {string} program @param {string[]} args @returns {string | null} */
function output(program, args) {
  const { status, stdout } = spawnSync(program, args, { encoding: 'utf8', cwd: repositoryDir });
  return status === 0 ? stdout.trim() : null;
}
