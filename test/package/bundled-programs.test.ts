/**
 * A program that a bundler put into one file: it works if pileshuf is external; else it fails when it
 * starts, with a line that says so.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { buildSync, stop } from 'esbuild';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { fromCi } from '../fixtures/scale.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

const directory = useTestDirectory();
const root = fileURLToPath(new URL('../../', import.meta.url));

const PROGRAM = `
import { shuffle } from 'pileshuf';
const [input, output] = process.argv.slice(2);
shuffle({ inputs: [input], output, seed: '1', tempDirs: ['temp'] }).then((report) => console.log(report.records));
`;

// Its process would live on, a child of this one.
afterAll(() => stop());

beforeEach(() => {
  mkdirSync(directory.path('node_modules'));
  symlinkSync(root, directory.path('node_modules', 'pileshuf'));
  writeFileSync(directory.path('program.mjs'), PROGRAM);
  writeFileSync(directory.path('in'), 'a\nb\nc\n');
});

function bundle(format: 'esm' | 'cjs', external: readonly string[]): string {
  const outfile = directory.path(format === 'esm' ? 'bundle.mjs' : 'bundle.cjs');
  buildSync({
    absWorkingDir: directory.path(),
    entryPoints: [directory.path('program.mjs')],
    bundle: true,
    platform: 'node',
    format,
    outfile,
    external: [...external],
    logLevel: 'silent',
  });
  return outfile;
}

function run(file: string, ...argv: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [file, ...argv], {
    cwd: directory.path(),
    encoding: 'utf8',
  });
  return { status, lines: stdout.split('\n').slice(0, -1), stderr };
}

describe.each(['esm', 'cjs'] as const)('a program that esbuild put into one file of %s', (format) => {
  it.runIf(fromCi)('shuffles if pileshuf is external', () => {
    const file = bundle(format, ['pileshuf']);
    expect(run(file, 'in', 'out')).toEqual({ status: 0, lines: ['3'], stderr: '' });
    expect(readFileSync(directory.path('out'), 'utf8').split('\n').toSorted()).toEqual(['', 'a', 'b', 'c']);
  });

  it('says what to mark external if pileshuf is in it', () => {
    const { status, stderr } = run(bundle(format, []), 'in', 'out');
    expect(status).toBe(1);
    expect(stderr).toContain(
      'Error: pileshuf cannot load its own files; if a bundler put it into another file, mark pileshuf external (esbuild: --external:pileshuf), else install pileshuf again\n',
    );
    expect(stderr).toContain("code: 'ERR_BUNDLED'");
    expect(readdirSync(directory.path())).not.toContain('out');
  });
});
