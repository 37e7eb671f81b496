/**
 * A program that a bundler put into one file: it works if pileshuf is external; else its first job fails with a line that
 * says so, before it changes anything.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { buildSync, stop } from 'esbuild';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { makeStore } from '../fixtures/make-store.js';
import { fromCi, sampled } from '../fixtures/scale.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

const directory = useTestDirectory();
const root = fileURLToPath(new URL('../../', import.meta.url));

const PROGRAM = `
import { openStore, shuffle, SystemError } from 'pileshuf';
const [what, input, output] = process.argv.slice(2);
async function read() {
  for await (const record of openStore('store').epoch(0)) console.log(record.length);
}
const options = { inputs: [input], output, seed: '1', tempDirs: ['temp'] };
const work = what === 'read' ? read() : shuffle(options, { inline: what !== 'threads' });
work.then(
  (report) => console.log(report.records),
  (error) => console.log(error instanceof SystemError, error.code, error.message),
);
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
    expect(run(file, 'threads', 'in', 'out')).toEqual({ status: 0, lines: ['3'], stderr: '' });
    expect(readFileSync(directory.path('out'), 'utf8').split('\n').toSorted()).toEqual(['', 'a', 'b', 'c']);
  });

  it('says what to mark external if pileshuf is in it', async () => {
    const file = bundle(format, []);
    await makeStore(directory.path('store'), { seed: 's', pileCount: 2, inputs: { a: ['x'] } });
    const before = readdirSync(directory.path());
    const place = format === 'esm' ? file : 'the code of pileshuf';
    for (const [what, name] of sampled(
      [
        ['threads', 'task-thread.cjs'],
        ['inline', 'task-thread.cjs'],
        ['read', 'assembly.wasm'],
      ],
      3,
    )) {
      expect(run(file, what, 'in', 'out')).toEqual({
        status: 0,
        lines: [
          `true ERR_BUNDLED ${name} of pileshuf is not beside ${place}; if a bundler put pileshuf into another file, mark pileshuf external (esbuild: --external:pileshuf), else install pileshuf again`,
        ],
        stderr: '',
      });
    }
    expect(readdirSync(directory.path())).toEqual(before);
  });
});
