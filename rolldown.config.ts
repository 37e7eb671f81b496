/**
 * Bundles what tsc has made, so that the command, the library and each worker thread load a few files instead of 150. All
 * files lie side by side, because some find another by its place beside them. The parser of the command is bundled with its
 * license: from its own files it takes 3 ms of the 145 of a small job. So is the parser of YAML, in a file that only a mix
 * loads. The other packages stay what they are.
 */
import { chmodSync, readFileSync } from 'node:fs';
import { type ChunkingContext, defineConfig } from 'rolldown';

const { version } = JSON.parse(readFileSync('package.json', 'utf8'));

/** Taken as they are. */
const copied = {
  'pool-owner.cjs': 'dist/workers/pool-owner.cjs',
  'assembly.wasm': 'dist/workers/kernel/assembly.wasm',
  'assembly-shared.wasm': 'dist/workers/kernel/assembly-shared.wasm',
  'columns.wasm': 'dist/src/formats/rows/parquet/columns/columns.wasm',
  'crc.wasm': 'dist/src/remote/crc.wasm',
  'libzstd.wasm.br': 'dist/src/formats/codecs/libzstd.wasm.br',
  'libzstd-LICENSE.txt': 'src/formats/codecs/libzstd-LICENSE.txt',
  'commander-LICENSE.txt': 'node_modules/commander/LICENSE',
  'yaml-LICENSE.txt': 'node_modules/yaml/LICENSE',
};

/** Whether the module at `root` needs the module `id`, itself or through others; not counting what it loads later. */
function neededBy(root: string): (id: string, graph: ChunkingContext) => boolean {
  const known = new Map<string, boolean>();
  const isNeeded = (id: string, graph: ChunkingContext): boolean => {
    if (!known.has(id)) {
      // Holds for modules that are looked at now: circles end here.
      known.set(id, false);
      const importers = graph.getModuleInfo(id)?.importers ?? [];
      known.set(id, id.endsWith(root) || importers.some((importer) => isNeeded(importer, graph)));
    }
    return known.get(id) === true;
  };
  return isNeeded;
}

const byTasks = neededBy('/dist/workers/tasks.js');
const byShuffle = neededBy('/dist/src/cli/commands/shuffle-command.js');
const isEntry = (id: string) => /\/(tasks|run-command|commands\/[a-z-]+)\.js$/.test(id);

/** Node reads every byte of what it loads. The docstrings are in the types of the package. */
const withoutDocs = { legal: true, annotation: false, jsdoc: false };

/**
 * The ES module of the library, which loads the CommonJS files that the command has. No bundler can follow it into those:
 * their threads and their kernel have files of their own.
 */
const libraryModule = (exports: readonly string[]) => `import { createRequire } from 'node:module';
let library;
try {
  library = createRequire(import.meta.url)('./library.cjs');
} catch (cause) {
  const reason = 'pileshuf cannot load its own files; if a bundler put it into another file, mark pileshuf external (esbuild: --external:pileshuf), else install pileshuf again';
  throw Object.assign(new Error(reason, { cause }), { code: 'ERR_BUNDLED' });
}
export const { ${exports.join(', ')} } = library;
`;

/** All of it is CommonJS: that starts sooner, and `src/floor/code-cache.cts` can load it. */
const program = defineConfig({
  input: {
    library: './dist/src/index.js',
    'run-command': './dist/src/cli/run-command.js',
    tasks: './dist/workers/tasks.js',
  },
  platform: 'node',
  external: /^(?!commander|yaml)[^./]/,
  preserveEntrySignatures: 'allow-extension',
  output: {
    dir: 'dist/bundle',
    cleanDir: true,
    format: 'cjs',
    entryFileNames: '[name].cjs',
    chunkFileNames: 'part-[hash].cjs',
    comments: withoutDocs,
    // Names of functions and classes stay: the trace of an internal error has them.
    minify: { compress: false, mangle: { keepNames: true } },
    // One file for what a shuffle loads beside its tasks, else one for each set of commands that share something.
    codeSplitting: {
      includeDependenciesRecursively: false,
      groups: [
        {
          name: (id, graph) => {
            if (isEntry(id)) return null;
            // One file: a part that tasks and another command share would be one more for every shuffle.
            if (byTasks(id, graph)) return 'shared';
            return byShuffle(id, graph) ? 'shuffle' : null;
          },
        },
      ],
    },
  },
  plugins: [
    {
      name: 'copy',
      generateBundle() {
        for (const [fileName, path] of Object.entries(copied)) {
          this.emitFile({ type: 'asset', fileName, source: readFileSync(path) });
        }
      },
    },
    {
      name: 'imports',
      // A script with a code cache cannot import; `src/floor/code-cache.cts` gives it a sixth argument that can.
      renderChunk: (code) => {
        const changed = code.replaceAll(/(?<![\w.])import\("/g, 'importOther("');
        return changed === code ? null : `const importOther=arguments[5]??(id=>import(id));${changed}`;
      },
    },
    {
      name: 'library',
      generateBundle(_options, bundle) {
        const { exports = [] } = bundle['library.cjs'] as { exports?: string[] };
        this.emitFile({ type: 'asset', fileName: 'index.js', source: libraryModule(exports) });
      },
    },
    {
      name: 'manual',
      async generateBundle() {
        const { manualPage } = await import('./dist/src/cli/manual-page.js');
        this.emitFile({ type: 'asset', fileName: 'pileshuf.1', source: await manualPage(version) });
      },
    },
  ],
});

/** The files with which processes and threads start. */
const starter = (name: string, input: string) =>
  defineConfig({
    input: { [name]: input },
    platform: 'node',
    external: ['./tasks.js', /^[^./]/],
    output: {
      dir: 'dist/bundle',
      format: 'cjs',
      entryFileNames: '[name].cjs',
      comments: withoutDocs,
      minify: { compress: false, mangle: { keepNames: { function: false, class: true } } },
      codeSplitting: false,
    },
    plugins: [
      {
        name: 'executable',
        // npx runs the file of an earlier clone at the same path without making it executable.
        writeBundle() {
          chmodSync(`dist/bundle/${name}.cjs`, 0o755);
        },
      },
    ],
  });

export default [
  program,
  starter('main', './dist/src/cli/main.cjs'),
  starter('task-thread', './dist/workers/task-thread.cjs'),
  starter('start-transfer-thread', './dist/src/remote/start-transfer-thread.cjs'),
];
