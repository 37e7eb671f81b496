/** What npm packs: the bundles, one file of types that every way of resolving modules finds, the docs and the example. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { beforeEach, describe, expect, it } from 'vitest';
import { useTestDirectory } from '../fixtures/temp-directory.js';

const directory = useTestDirectory();
const root = fileURLToPath(new URL('../../', import.meta.url));
const installed = () => directory.path('node_modules', 'pileshuf');
const compilers = { 6: '@typescript/typescript6', 7: 'typescript' } as const;

/** What grows beyond it should be looked at. */
const MOST_PACKED_BYTES = 750_000;

let files: readonly string[] = [];
let packedBytes = 0;
beforeEach(() => {
  const argv = ['pack', '--json', '--ignore-scripts', '--pack-destination', directory.path()];
  const [{ filename, size, files: packed }] = JSON.parse(
    execFileSync('npm', argv, { cwd: root, encoding: 'utf8', stdio: 'pipe' }),
  );
  packedBytes = size;
  files = packed.map(({ path }: { path: string }) => path);
  mkdirSync(installed(), { recursive: true });
  execFileSync('tar', ['-xzf', directory.path(filename), '-C', installed(), '--strip-components=1']);
});

describe('the package', () => {
  it('has the example for Python, the docs, and the files with which threads start', () => {
    expect(files).toEqual(
      expect.arrayContaining(
        'examples/stream.py docs/STORES.md README.md LICENSE dist/bundle/assembly.wasm dist/bundle/pileshuf.1'.split(
          ' ',
        ),
      ),
    );
    expect(files).toEqual(expect.arrayContaining(['dist/bundle/task-thread.cjs', 'dist/bundle/pool-owner.cjs']));
  });

  it('has nothing else, and is small', () => {
    const wanted =
      /^(?:package\.json|README\.md|LICENSE|CHANGELOG\.md|docs\/[A-Z-]+\.md|docs\/pictures\/[a-z-]+\.svg|examples\/(?:stream\.py|cluster-[a-z-]+\.(?:json|yaml|py)|[a-z]+\.schema\.json)|dist\/bundle\/[\w-]+(?:\.txt|\.js|\.cjs|\.d\.ts|\.wasm|\.wasm\.br|\.1))$/;
    expect(files.filter((path) => !wanted.test(path))).toEqual([]);
    expect(packedBytes).toBeLessThan(MOST_PACKED_BYTES);
  });

  it('has one file of types, and no module twice', () => {
    expect(files.filter((path) => path.endsWith('.d.ts'))).toEqual(['dist/bundle/index.d.ts']);
    expect(files.filter((path) => path.startsWith('dist/') && !path.startsWith('dist/bundle/'))).toEqual([]);
  });

  it('names its library and its types for programs that do not know exports', () => {
    const { main, types } = JSON.parse(readFileSync(`${installed()}/package.json`, 'utf8'));
    for (const path of [main, types]) expect(files).toContain(path.replace('./', ''));
  });

  it.each([
    [6, 'esnext', 'node10'],
    [7, 'esnext', 'bundler'],
    [7, 'nodenext', 'nodenext'],
  ] as const)('is known to TypeScript %i, module %s, resolution %s', (version, module, moduleResolution) => {
    writeFileSync(directory.path('package.json'), '{ "type": "module" }');
    writeFileSync(
      directory.path('program.ts'),
      `import { AbortError, openStore, shuffle, type ShuffleOptions, type ShuffleReport } from 'pileshuf';
export const options: ShuffleOptions = { inputs: ['a'], shards: { by: 'count', shardCount: 2 } };
export const report: Promise<ShuffleReport> = shuffle(options);
export const code: 'ABORT_ERR' | string = new AbortError().code;
for await (const record of openStore('s').epoch(0)) record.byteLength satisfies number;
// @ts-expect-error: there is no such option
export const wrong: ShuffleOptions = { inputs: [], ouput: 'x' };
`,
    );
    const compilerOptions = {
      module,
      moduleResolution,
      target: 'es2023',
      strict: true,
      noEmit: true,
      skipLibCheck: version === 6,
      types: ['node'],
      typeRoots: [`${root}node_modules/@types`],
      ...(moduleResolution === 'node10' ? { ignoreDeprecations: '6.0' } : {}),
    };
    writeFileSync(directory.path('tsconfig.json'), JSON.stringify({ compilerOptions, files: ['program.ts'] }));
    const tsc = createRequire(import.meta.url)
      .resolve(`${compilers[version]}/package.json`)
      .replace('package.json', 'lib/tsc.js');
    const { status, stdout } = spawnSync(process.execPath, [tsc, '-p', directory.path()], { encoding: 'utf8' });
    expect({ status, stdout }).toEqual({ status: 0, stdout: '' });
  });
});
