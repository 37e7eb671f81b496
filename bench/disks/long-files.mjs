// @ts-check
// The built command with the slices and stripes of a job a hundred times as large. There a data file is hundreds of
// megabytes and is synced many times while it is written; with the usual sizes it is closed before its first sync.

import { runCommand } from '#src/cli/run-command.js';

process.exitCode = await runCommand(process.argv.slice(2), { tuning: { sliceBytes: 48 * 2 ** 20, stripeCount: 1 } });
