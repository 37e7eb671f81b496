#!/usr/bin/env node
/**
 * The entry of the command. It sets the size of Node's thread pool, which inflates gzip and makes the direct writes of
 * all workers. That must happen before the first use of the pool. Loading an ES module is such a use, so this file is
 * CommonJS, and in the bundle the whole command is.
 */
import type { CodeCache } from '../floor/code-cache.cjs';
import type * as Command from './run-command.js';

const { saveCompiled, loadCompiled }: CodeCache = require('../floor/code-cache.cjs');
const { availableParallelism } = process.getBuiltinModule('node:os');
const { basename, join } = process.getBuiltinModule('node:path');

/** One inflating or writing call per worker, and a few for everything else. */
process.env['UV_THREADPOOL_SIZE'] ??= String(availableParallelism() + 4);

// Until the command ends: a job that lost its last event must not exit with 0.
process.exitCode = 1;

function refuseToStart(error: unknown): never {
  const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
  const reason = line.startsWith('EMFILE') ? 'too many open files (raise `ulimit -n`)' : line;
  process.stderr.write(`pileshuf: cannot start: ${reason}\n`);
  process.exit(1);
}

function loadCommand(): (argv: readonly string[]) => Promise<number> {
  try {
    const loaded = loadCompiled(join(__dirname, 'run-command.cjs')) as typeof Command;
    return loaded.runCommand;
  } catch (error) {
    return refuseToStart(error);
  }
}

const [, path = '', ...words] = process.argv;
/** Such a call compiles little, and what it saved would be all that later jobs find. */
const onlyPrints = words.some((word) => /^(?:-h|--help|help|--version)$/.test(word));
const runCommand = loadCommand();
// Without a listener, this signal would make Node open a port for debuggers, or end the process. The command has a
// listener of its own while it works.
process.on('SIGUSR1', () => {});
// A link of that name is the command `shuf`: Node has the path as it was called.
runCommand(basename(path) === 'shuf' ? ['shuf', ...words] : words).then((exitCode) => {
  process.exitCode = exitCode;
  if (exitCode === 0 && !onlyPrints) saveCompiled();
});
