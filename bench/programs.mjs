// @ts-check
// The programs that the bench runs: those that are named by the environment, and what is missing of the others.

import { spawnSync } from 'node:child_process';
import path from 'node:path';

export const pileshufMain =
  process.env['PILESHUF'] ?? path.join(import.meta.dirname, '..', 'dist', 'bundle', 'main.cjs');

/** The environment of the lines of shell. */
export const programs = {
  NODE: process.execPath,
  PILESHUF: path.resolve(pileshufMain),
  FORMER: given('FORMER'),
  TERASHUF: given('TERASHUF'),
  PEERS_PYTHON: given('PEERS_PYTHON'),
  REFERENCE: path.join(import.meta.dirname, 'reference.mjs'),
  PEERS: path.join(import.meta.dirname, 'peers'),
};

/** @param {string} variable @returns {string} an absolute path, or '' */
function given(variable) {
  const file = process.env[variable];
  return file ? path.resolve(file) : '';
}

/** @param {string} program @returns {string | undefined} */
export function missingProgram(program) {
  const { status } = spawnSync('bash', ['-c', 'command -v "$0"', program], { stdio: 'ignore' });
  return status === 0 ? undefined : `${program} is not installed`;
}

/** @param {string[]} modules @returns {string | undefined} */
export function missingModules(...modules) {
  const argv = ['-c', `import ${modules.join(', ')}`];
  if (programs.PEERS_PYTHON && spawnSync(programs.PEERS_PYTHON, argv, { stdio: 'ignore' }).status === 0)
    return undefined;
  return `PEERS_PYTHON names no Python that has ${modules.join(' and ')}`;
}
