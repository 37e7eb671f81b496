/**
 * What `--help` says after the options: the rules that one line an option cannot hold, examples that
 * can be pasted, and the exit codes of `exit-code.ts`.
 */

export const helpEpilogue = `
Records are lines, unless an option says otherwise: see docs/FORMATS.md. A header
must be the same in all inputs, and stands once in each output.

Inputs are files, directories (all regular files below, sorted), quoted globs,
or - for standard input, which is also the default. What gzip, bgzip, zstd,
bzip2, xz and lz4 write is recognised by its first bytes. The order of the inputs
is part of what the seed means: the same seed, inputs and order give the same
bytes, whatever the memory, workers and temp directories. Entries of lists come
after the inputs typed.

SIZE is a number and a unit: K M G T (or KiB MiB GiB TiB) are powers of 1024,
KB MB GB TB powers of 1000, B bytes, in any case: 512M, 1.5GiB, 800MB, 4096B.

A job that was ended before its time goes on when the same command is given again
with --resume, and writes the same bytes as one that was not disturbed. Jobs that
can be resumed are those with --resume, --job-dir or --keep-temp, and those
whose temp data is expected to be 32 GiB or more; none that reads standard input
or writes standard output.

Examples:
  pileshuf corpus/*.jsonl.gz -o shuffled.jsonl --seed 42
  pileshuf corpus/ -o out --shards 128 --prefix train --compress zstd
  pileshuf corpus/ -o out --shard-bytes 1GB -S 16G -T /disk1/tmp -T /disk2/tmp
  pileshuf corpus/ -o shuffled.jsonl --resume
  find corpus -name '*.jsonl' -print0 | sort -z | pileshuf --files0-from - > all.jsonl

Exit codes:
  0 done and verified      3 bad input              130 interrupted (SIGINT)
  1 failed                 4 verification failed    143 terminated (SIGTERM)
  2 wrong usage            129 hang-up (SIGHUP)     141 reader of the output went away
`;
