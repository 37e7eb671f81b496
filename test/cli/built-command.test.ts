/**
 * The command and the library as shipped, in one bundle; other tests of jobs load single modules. Each module that is
 * loaded on demand is loaded once, and a plain job loads none of them.
 */
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { beforeEach, describe, expect, it } from 'vitest';
import { sortLines } from '../fixtures/command-outcome.js';
import { fromCi, sampled } from '../fixtures/scale.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

const directory = useTestDirectory();
const root = fileURLToPath(new URL('../../', import.meta.url));
const main = `${root}dist/bundle/main.cjs`;
const text = Array.from({ length: 2000 }, (_, i) => `line ${i}\n`).join('');

beforeEach(() => {
  writeFileSync(directory.path('plain'), text);
  writeFileSync(directory.path('in.gz'), gzipSync(text));
});

function pileshuf(argv: readonly string[], { env, input = '' }: { env?: NodeJS.ProcessEnv; input?: string } = {}) {
  const words = [main, '-q', '--seed', '1', '-T', directory.temp, '--workers', '2', ...argv];
  const options = { input, encoding: 'utf8' as const, cwd: directory.path(), env: { ...process.env, ...env } };
  const { status, stdout, stderr } = spawnSync(process.execPath, words, options);
  return { status, stdout, stderr };
}

describe('the bundled command', () => {
  it('is executable as it is built', () => {
    expect(statSync(main).mode & 0o111).toBe(0o111);
  });

  it.each(
    sampled(
      [
        ['a plain file, on the main thread', ['plain'], ''],
        ['a stream, on worker threads', ['-'], text],
        ['a pattern', ['pla[hi]n'], ''],
        ['gzip', ['in.gz'], ''],
        ['the output of a program', ['in.gz', '--decompress-program', 'gzip -dc'], ''],
      ],
      3,
      1,
    ),
  )('shuffles %s', (_, argv, input) => {
    const { stdout } = pileshuf(['plain']);
    expect(stdout).not.toBe(text);
    expect(sortLines(stdout)).toEqual(sortLines(text));
    expect(pileshuf(argv, { input })).toEqual({ status: 0, stdout, stderr: '' });
  });

  it('writes and reads zstd', () => {
    expect(pileshuf(['plain', '-o', 'shards', '--shards', '2', '--compress', 'zstd'])).toMatchObject({ status: 0 });
    const shards = readdirSync(directory.path('shards')).filter((name) => name.endsWith('.zst'));
    const { stdout } = pileshuf(shards.map((name) => `shards/${name}`));
    expect(sortLines(stdout)).toEqual(sortLines(text));
  });

  /** Files that the threads of a job have loaded: of packages their names. */
  function loadedBy(argv: readonly string[], input = ''): readonly string[] {
    const coverage = directory.path('coverage');
    const env = { NODE_V8_COVERAGE: coverage };
    expect(pileshuf([...argv, '-o', 'out'], { env, input })).toEqual({ status: 0, stdout: '', stderr: '' });
    const urls = readdirSync(coverage).flatMap((name) => {
      const { result }: { result: { url: string }[] } = JSON.parse(readFileSync(`${coverage}/${name}`, 'utf8'));
      return result.flatMap(({ url }) => (url.startsWith('node:') ? [] : [url.replace(/^file:\/\//, '')]));
    });
    const names = urls.map((url) => /\/node_modules\/((@[^/]+\/)?[^/]+)/.exec(url)?.[1] ?? url);
    return [...new Set(names.map((name) => name.replace(root, '')))].sort();
  }

  const bundled = expect.stringMatching(/^dist\/bundle\/[^/]+$/);

  it('loads nothing that a plain job does not need', () => {
    const loaded = loadedBy(['plain']);
    expect(loaded.filter((name) => !name.startsWith('dist/bundle/'))).toEqual(['seedrandom']);
    expect(loaded).toContainEqual(bundled);
  });

  it('keeps its compiled code, and compiles anew what is damaged', () => {
    cpSync(`${root}dist/bundle`, directory.path('dist', 'bundle'), { recursive: true });
    rmSync(directory.path('dist', 'bundle', 'cache'), { recursive: true, force: true });
    copyFileSync(`${root}package.json`, directory.path('package.json'));
    symlinkSync(`${root}node_modules`, directory.path('node_modules'));
    const shuffled = (...nodeOptions: readonly string[]) => {
      const words = [...nodeOptions, 'dist/bundle/main.cjs', 'plain', '--seed', '1', '-q'];
      return spawnSync(process.execPath, words, { cwd: directory.path() });
    };
    const kept = () =>
      readdirSync(directory.path('dist', 'bundle', 'cache'), { recursive: true, withFileTypes: true }).flatMap(
        (each) => (each.isFile() ? [`${each.parentPath}/${each.name}`] : []),
      );
    // A call that only prints compiles little: a job would go on compiling the rest each time.
    spawnSync(process.execPath, ['dist/bundle/main.cjs', '--version'], { cwd: directory.path() });
    expect(existsSync(directory.path('dist', 'bundle', 'cache'))).toBe(false);
    const { status, stdout } = shuffled();
    expect(status).toBe(0);
    expect(kept().length).toBeGreaterThan(1);
    const contents = () => kept().map((path) => readFileSync(path).toString('base64'));
    for (const path of kept()) {
      const bytes = readFileSync(path);
      bytes.fill(0xff, bytes.length / 2, bytes.length / 2 + 8);
      writeFileSync(path, bytes);
    }
    const damaged = contents();
    expect(shuffled()).toMatchObject({ status, stdout });
    expect(contents().filter((each, i) => each === damaged[i])).toEqual([]);
    for (const path of kept()) truncateSync(path, 100);
    expect(shuffled()).toMatchObject({ status, stdout });
    for (const path of kept()) expect(statSync(path).size).toBeGreaterThan(100);
    const times = () => kept().map((path) => statSync(path).mtimeMs);
    const before = times();
    expect(shuffled()).toMatchObject({ status, stdout });
    expect(times()).toEqual(before);
    // V8 refuses the code of another process with other flags: it is replaced, too.
    expect(shuffled('--no-opt')).toMatchObject({ status, stdout });
    expect(times().filter((each, i) => each === before[i])).toEqual([]);
    for (const path of kept()) {
      rmSync(path);
      mkdirSync(path);
    }
    expect(shuffled()).toMatchObject({ status, stdout });
    expect(kept()).toEqual([]);
  });

  it.runIf(fromCi)('loads no more for worker threads', () => {
    const loaded = loadedBy(['-'], text);
    expect(loaded.filter((name) => !name.startsWith('dist/bundle/'))).toEqual(['piscina', 'seedrandom']);
  });
});

it('the bundled library is what the package exports', () => {
  const script = `
    import { InputError, shuffle } from 'pileshuf';
    const [input, output] = process.argv.slice(1);
    const { records } = await shuffle({ inputs: [input], output, seed: '1' });
    const error = await shuffle({ inputs: ['nowhere'], output }).catch((error) => error);
    console.log(records, error instanceof InputError, import.meta.resolve('pileshuf'));
  `;
  const argv = ['--input-type=module', '-e', script, directory.path('plain'), directory.path('out')];
  const { stdout, stderr } = spawnSync(process.execPath, argv, { encoding: 'utf8', cwd: root });
  expect({ stdout, stderr }).toEqual({ stdout: `2000 true file://${root}dist/bundle/index.js\n`, stderr: '' });
  expect(sortLines(readFileSync(directory.path('out'), 'utf8'))).toEqual(sortLines(text));
});
