/**
 * The executable in a shell: streams, exit codes and one line a refusal, for calls that end before any record is read.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { fromCi } from '../fixtures/scale.js';

const main = fileURLToPath(new URL('../../dist/bundle/main.cjs', import.meta.url));

function pileshuf(argv: readonly string[], input = '') {
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...argv], { input, encoding: 'utf8' });
  return { status, stdout, stderr };
}

describe('pileshuf', () => {
  it('prints help and version on standard output', () => {
    expect(pileshuf(['--help'])).toEqual({ status: 0, stdout: expect.stringMatching(/^Usage: pileshuf /), stderr: '' });
    expect(pileshuf(['--version'])).toEqual({ status: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+/), stderr: '' });
  });

  it.runIf(fromCi)('prints help for the word help, too', () => {
    expect(pileshuf(['help']).stdout).toBe(pileshuf(['--help']).stdout);
    expect(pileshuf(['help', 'cluster'])).toEqual(pileshuf(['cluster', '--help']));
    expect(pileshuf(['cluster', '-h'])).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('\n  cluster slurm  '),
    });
    expect(pileshuf(['help', 'shuf'])).toEqual(pileshuf(['shuf', '--help']));
    expect(pileshuf(['help', 'gc'])).toEqual({
      status: 0,
      stdout: expect.stringMatching(/^Usage: pileshuf gc /),
      stderr: '',
    });
  });

  it('ends with one line, for programs in JSON', () => {
    const message = '--files-from -: the list is empty; expected at least one input';
    expect(pileshuf(['--files-from', '-'])).toEqual({ status: 2, stdout: '', stderr: `pileshuf: ${message}\n` });
    expect(pileshuf(['--progress', 'json', '--files-from', '-'])).toEqual({
      status: 2,
      stdout: '',
      stderr: `{"event":"error","code":"ERR_OPTION","message":"${message}"}\n`,
    });
  });

  it('survives messages that nobody can read', () => {
    const shell = (script: string) => spawnSync('sh', ['-c', script, process.execPath, main]).status;
    expect(shell('"$0" "$1" --shards 0 2>&-')).toBe(2);
    expect(shell('"$0" "$1" --shards 0 2>/dev/full')).toBe(2);
  });

  it('does not call help printed that was not', () => {
    const { status, stderr } = spawnSync('sh', ['-c', '"$0" "$1" --help >/dev/full', process.execPath, main], {
      encoding: 'utf8',
    });
    expect(status).toBe(1);
    expect(stderr).toMatch(
      /^pileshuf: cannot write to standard output: no space left on the device; free some space\n$/,
    );
  });
});
