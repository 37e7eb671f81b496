/**
 * Bundles what tsc has made, so that the command and each worker thread load a few files instead of 150. All files lie
 * side by side, because some find another by its place beside them. Packages stay what they are.
 */
import { chmodSync, readFileSync } from 'node:fs';
import { defineConfig } from 'rolldown';

/** Taken as they are. */
const copied = {
  'main.cjs': 'dist/src/cli/main.cjs',
  'task-thread.cjs': 'dist/workers/task-thread.cjs',
  'memory-keeper.cjs': 'dist/workers/memory-keeper.cjs',
  'kernel.wasm': 'dist/workers/kernel/kernel.wasm',
};

export default defineConfig({
  input: {
    index: './dist/src/index.js',
    'run-command': './dist/src/cli/run-command.js',
    tasks: './dist/workers/tasks.js',
  },
  platform: 'node',
  external: /^[^./]/,
  output: {
    dir: 'dist/bundle',
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: 'part-[hash].js',
    // What the commands share is one file; else it would be as many as there are sets of commands that share something.
    advancedChunks: {
      includeDependenciesRecursively: false,
      groups: [{ name: 'cli', test: /dist\/src\/cli\/(?!commands\/|run-command)/ }],
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
      // npx runs the file of an earlier clone at the same path without making it executable.
      writeBundle() {
        chmodSync('dist/bundle/main.cjs', 0o755);
      },
    },
  ],
});
