/**
 * Contradictory calls end with exit code 2 and one line, before the inputs are read. The parser's tests cover the
 * refusals of each option; this file tests the whole command.
 */

import { writeFileSync } from 'node:fs';
import { describe, it } from 'vitest';
import { runCommand } from '../fixtures/run-command.js';
import { fromCi } from '../fixtures/scale.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';
import { expectRefusal } from './refusal.js';

const directory = useTestDirectory();

describe('a wrong call', () => {
  it.runIf(fromCi).each([
    [['--shuffel'], "unknown option '--shuffel'; see pileshuf --help"],
    [['-S', '2GiB5'], /^pileshuf: -S 2GiB5: expected a number and a unit: 512M or .*50% \(of memory\)$/],
    [['-S', '512'], '-S 512: a bare number is ambiguous; write 512M or 512B'],
    [['-S', '1K'], /^pileshuf: a memory budget of 1024 bytes is too small: expected at least 4M; .* -S$/],
    [['--shards', '0', '-o', 'd'], '--shards 0: expected a whole number of at least 1'],
    [['--shards', '2'], 'shards need a directory, not standard output: add --output DIR'],
    [['--shards', '2', '-o', '/dev/stdout'], /^pileshuf: shards cannot be written to standard output; .*-o$/],
    [
      ['--shards', '2', '--shard-bytes', '1M', '-o', 'd'],
      /^pileshuf: --shards and --shard-bytes contradict each other/,
    ],
    [
      ['--tfrecord', '--header', '1'],
      '--header takes lines, and these records are not text; give --skip-bytes, or leave --header out',
    ],
    [['--npy', '--header', '1'], 'records of npy have a header of their own; leave out --header'],
    [['--webdataset', '--skip-bytes', '1'], 'records of webdataset have a header of their own; leave out --skip-bytes'],
    [['--delimiter', 'x'.repeat(1025)], '--delimiter has 1025 bytes; expected 1 to 1024'],
    [['--record-size', '1073741825'], '--record-size is 1073741825; expected a whole number from 1 to 1073741824'],
    [['--lines-per-record', '1048577'], '--lines-per-record is 1048577; expected a whole number from 1 to 1048576'],
    [['--header', '1048577'], '--header is 1048577; expected a whole number from 1 to 1048576'],
    [['--on-bad-record', 'skip'], /^pileshuf: unknown option '--on-bad-record'/],
    [['--skip-bytes', '20000000'], '--skip-bytes is 20000000; expected a whole number from 1 to 16777216'],
    [['--resume'], 'standard output cannot be resumed: name a file or directory with --output'],
    [['--job-dir', 'd', '-o', '-'], 'standard output cannot be resumed: name a file or directory with -o'],
    [['--resume', '-o', 'out', '-'], /^pileshuf: standard input \(-\) cannot be read again to resume the job: /],
    [['--max-record', '5G'], /^pileshuf: --max-record is 5368709120; expected a whole number from 1 to \d+$/],
    [['--workers', '100000'], '--workers is 100000; expected a whole number from 1 to 1024'],
    [['--compress', 'gzip:10'], '--compress gzip:10: expected a level from 1 to 9'],
    [['--compress', 'zstd:0', '-o', 'out'], '--compress zstd:0: expected a level from 1 to 22'],
    [['--io-limit', '/no/such/place=3'], /^pileshuf: --io-limit \/no\/such\/place=3: cannot find the device of \/no/],
  ])('is refused: %j', async (argv, line) => {
    writeFileSync(directory.path('in'), 'a\nb\n');
    const run = () => runCommand([...argv, 'in', '-T', directory.temp], { cwd: directory.path() });
    await expectRefusal(directory.path(), run, 2, line);
  });

  it('is refused before standard input is read', async () => {
    const run = () => runCommand(['--shards', '0'], { stdin: 'a\n', cwd: directory.path() });
    await expectRefusal(directory.path(), run, 2, '--shards 0: expected a whole number of at least 1');
  });
});
