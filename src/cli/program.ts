/**
 * argv to what was asked for, through commander. Parsing prints nothing, opens no input and never ends
 * the process. Help and version come back as text, and every refusal, commander's own included, is a
 * UsageError of one line.
 */

import { createRequire } from 'node:module';
import { Command, CommanderError } from 'commander';
import { UsageError } from '../index.js';
import { type CommandLine, checkCommandLine, type OptionValues } from './command-line.js';
import { parseDecompressProgram } from './decompress-program.js';
import { parseDelimiter } from './delimiter.js';
import { helpEpilogue } from './help-text.js';
import type { InputList } from './input-list.js';
import {
  parseCompression,
  parseCount,
  parseIoLimit,
  parseLengthPrefix,
  parseOutput,
  parsePath,
  parsePrefix,
  parseProgressStyle,
  parseTempCompression,
} from './option-value.js';
import { parseSize } from './size.js';

export type Invocation =
  | ({ readonly kind: 'shuffle' } & CommandLine)
  /** `--help` or `--version`. */
  | { readonly kind: 'print'; readonly text: string };

/**
 * Reads `argv` (without `node` and the script). `readTotalMemoryBytes` is asked only when `--memory`
 * is a percentage. Throws UsageError.
 */
export function parseArguments(argv: readonly string[], readTotalMemoryBytes: () => number): Invocation {
  const inputLists: InputList[] = [];
  const program = declareOptions(inputLists, readTotalMemoryBytes);
  let printed = '';
  program.exitOverride().configureOutput({
    writeOut: (text) => {
      printed += text;
    },
    outputError: () => {},
  });
  try {
    program.parse(argv, { from: 'user' });
  } catch (thrown) {
    if (!(thrown instanceof CommanderError)) {
      throw thrown;
    }
    if (thrown.exitCode === 0) {
      return { kind: 'print', text: printed };
    }
    throw usageErrorOf(thrown);
  }
  return { kind: 'shuffle', ...checkCommandLine(program.args, inputLists, program.opts<OptionValues>()) };
}

/**
 * Whether errors should be JSON lines. Asked before parsing, because a program that reads JSON must
 * be able to read why its arguments were refused.
 */
export function asksForJson(argv: readonly string[]): boolean {
  const options = argv.includes('--') ? argv.slice(0, argv.indexOf('--')) : argv;
  const styles = options.map((word, index) => (word === '--progress' ? `--progress=${options[index + 1]}` : word));
  return styles.findLast((word) => word.startsWith('--progress=')) === '--progress=json';
}

function declareOptions(inputLists: InputList[], readTotalMemoryBytes: () => number): Command {
  const addList = (option: InputList['option']) => (text: string) => {
    inputLists.push({ option, path: parsePath(text, option) });
  };
  const count = (option: string) => (text: string) => parseCount(text, option);
  const size = (option: string) => (text: string) => parseSize(text, { option });

  return new Command('pileshuf')
    .description('Puts the records of many files into one uniformly random order, far beyond memory.')
    .argument('[inputs...]', 'files, directories, quoted globs, or - for standard input')
    .option('-o, --output <PATH>', 'file, or directory for shards (default: standard output)', parseOutput)
    .option('--shards <N>', 'N shards whose record counts differ by at most one', count('--shards'))
    .option('--shard-records <N>', 'N records a shard, the last one fewer', count('--shard-records'))
    .option('--shard-bytes <SIZE>', 'equal shards of at most SIZE, no record cut', size('--shard-bytes'))
    .option(
      '--compress <CODEC>',
      'none, gzip or zstd, with a level as in zstd:9 (default: by the name of one output)',
      parseCompression,
    )
    .option('--prefix <NAME>', 'shards are NAME-00007-of-00128.EXT (default: shard)', parsePrefix)
    .option('--seed <STRING>', 'any string; without it one is drawn, and printed in the summary')
    .option(
      '-S, --memory <SIZE>',
      'memory for the records, also as in 50% (default: half of what is available)',
      (text) => parseSize(text, { option: '-S', allowPercentOf: readTotalMemoryBytes }),
    )
    .option(
      '-T, --temp-dir <DIR>',
      "for temp files; may be repeated (default: $TMPDIR, else the output's directory, or /var/tmp for standard output)",
      (text: string, previous: readonly string[] = []) => [...previous, parsePath(text, '--temp-dir')],
    )
    .option(
      '--temp-compress <CODEC>',
      'zstd for temp files on slow disks, with a level as in zstd:3 (default: not compressed)',
      parseTempCompression,
    )
    .option('--workers <N>', 'worker threads (default: one a CPU)', count('--workers'))
    .option(
      '--io-limit <PATH=N>',
      'at most N large reads and writes at a time on the device that holds PATH; may be repeated',
      parseIoLimit,
    )
    .option('-z, --zero-terminated', 'records end in NUL, in and out, not in newline')
    .option(
      '--delimiter <STRING>',
      'records end in STRING; \\n, \\r, \\t, \\0, \\\\ and \\xHH are escapes',
      parseDelimiter,
    )
    .option('--lines-per-record <N>', 'a record is N lines, as 4 in FASTQ', count('--lines-per-record'))
    .option('--paragraphs', 'a record is text with the blank lines behind it')
    .option('--csv', 'a record is a line; newlines between double quotes belong to it')
    .option('--record-size <BYTES>', 'a record is so many bytes: token arrays, embeddings', count('--record-size'))
    .option(
      '--length-prefixed <KIND>',
      'a record is its length (u32le, u32be, u64le or varint) and so many bytes',
      parseLengthPrefix,
    )
    .option('--tfrecord', 'a record is a TFRecord; its checksums are verified')
    .option('--npy', 'a record is a row of the array of a .npy file')
    .option('--webdataset', 'a record is a sample of a tar file: members named alike up to the first dot')
    .option('--header <N>', 'the first N lines of each input are its header', count('--header'))
    .option('--skip-bytes <N>', 'the first N bytes of each input are its header', count('--skip-bytes'))
    .option(
      '--decompress-program <CMD>',
      "give every input to CMD, such as 'xz -dc', and take what it writes",
      parseDecompressProgram,
    )
    .option('--max-record <SIZE>', 'refuse longer records (default: 1GiB, at most 1984MiB)', size('--max-record'))
    .option('--files-from <FILE>', 'read names of inputs, one a line; - is standard input', addList('--files-from'))
    .option('--files0-from <FILE>', 'the same with names that end in NUL', addList('--files0-from'))
    .option('--force', 'allow existing outputs to be replaced')
    .option('--resume', 'go on with the unfinished job of this output, or begin one that can be resumed')
    .option(
      '--job-dir <DIR>',
      'where the job keeps what it needs to go on (default: derived from the output, beside the temp files)',
      (text: string) => parsePath(text, '--job-dir'),
    )
    .option('--keep-temp', 'keep the job directory and temp data after success')
    .option('--progress <STYLE>', 'auto, bar, plain, json or none, on standard error', parseProgressStyle, 'auto')
    .option('--profile <FILE>', 'write to FILE where the time went, as JSON', (text: string) =>
      parsePath(text, '--profile'),
    )
    .option('-q, --quiet', 'print nothing but errors: no progress, warnings, summary')
    .version(readVersion(), '--version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .addHelpText('after', helpEpilogue);
}

/** `error: unknown option '--shard'\n(Did you mean --shards?)` becomes one line that ends in the hint. */
function usageErrorOf({ message }: CommanderError): UsageError {
  return new UsageError(`${message.replace(/^error: /, '').replaceAll('\n', ' ')}; see pileshuf --help`);
}

function readVersion(): string {
  const description: { version: string } = createRequire(import.meta.url)('pileshuf/package.json');
  return description.version;
}
