#!/usr/bin/env node
/**
 * The command's entry. A CommonJS file, because the size of Node's thread pool, which inflates gzip
 * and does the direct writes of all workers, must be set before the first module is loaded through
 * it, and loading an ES module is such a use.
 */
const { availableParallelism } = process.getBuiltinModule('node:os');

/** One inflating or writing call a worker, and a few for everything else. */
process.env['UV_THREADPOOL_SIZE'] ??= String(availableParallelism() + 4);

// Until the command says otherwise: a job that lost its last event must not end with 0.
process.exitCode = 1;

/** The modules cannot be loaded: for want of descriptors, say, which several of them find at one time. */
function refuseToStart(error: unknown): never {
  const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
  const reason = line.startsWith('EMFILE') ? 'too many open files (raise `ulimit -n`)' : line;
  process.stderr.write(`pileshuf: cannot start: ${reason}\n`);
  process.exit(1);
}

process.on('unhandledRejection', refuseToStart);
import('./run-command.js').then(async ({ runCommand }) => {
  process.off('unhandledRejection', refuseToStart);
  process.exitCode = await runCommand(process.argv.slice(2));
}, refuseToStart);
