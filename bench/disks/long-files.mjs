// @ts-check
// The built command with the slices and stripes of a job that is a hundred times as large: there a data file is
// hundreds of megabytes, and is synced many times while it is written. Else it would be closed before the first.

import { runCommand } from '#src/cli/run-command.js';

process.exitCode = await runCommand(process.argv.slice(2), { tuning: { sliceBytes: 48 * 2 ** 20, stripeCount: 1 } });
