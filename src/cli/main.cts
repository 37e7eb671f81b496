#!/usr/bin/env node
/**
 * The entry of the command. It sets the size of Node's thread pool, which inflates gzip and makes the direct writes of all
 * workers. That must happen before the first use of the pool. Loading an ES module is such a use, so this is a CommonJS
 * file.
 */
const { availableParallelism } = process.getBuiltinModule('node:os');
const { basename } = process.getBuiltinModule('node:path');

/** One inflating or writing call per worker, and a few for everything else. */
process.env['UV_THREADPOOL_SIZE'] ??= String(availableParallelism() + 4);

// Until the command ends: a job that lost its last event must not exit with 0.
process.exitCode = 1;

/** The modules cannot be loaded. Several of them may fail at once, for example for want of file descriptors. */
function refuseToStart(error: unknown): never {
  const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
  const reason = line.startsWith('EMFILE') ? 'too many open files (raise `ulimit -n`)' : line;
  process.stderr.write(`pileshuf: cannot start: ${reason}\n`);
  process.exit(1);
}

const [, path = '', ...words] = process.argv;
/** A link of that name is the command `shuf`: Node has the path as it was called. */
const argv = basename(path) === 'shuf' ? ['shuf', ...words] : words;

process.on('unhandledRejection', refuseToStart);
// Without a listener, this signal would make Node open a port for debuggers, or end the process. The command has a
// listener of its own while it works.
process.on('SIGUSR1', () => {});
import('./run-command.js').then(async ({ runCommand }) => {
  process.off('unhandledRejection', refuseToStart);
  process.exitCode = await runCommand(argv);
}, refuseToStart);
