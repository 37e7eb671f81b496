#!/usr/bin/env node
/**
 * The executable: runs the command on this process's arguments and leaves with its exit code.
 * `process.exitCode` in place of `process.exit`, so that what was written to a pipe is flushed; a
 * top-level `await`, so that a job that loses its last event ends with Node's exit code 13, not 0.
 */

import { runCommand } from './run-command.js';

process.exitCode = await runCommand(process.argv.slice(2));
