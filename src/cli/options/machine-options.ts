/** What a command may use of the machine: the options that all commands share which work on threads. */
import type { Command } from 'commander';
import type { ShuffleOptions } from '../../index.js';
import { parseCount, parseIoLimit, parsePath, parseTempCompression } from '../option-value.js';
import { parseSize } from '../size.js';

/** As commander collects them. */
export interface MachineOptionValues {
  readonly memory?: number;
  readonly tempDir?: readonly string[];
  readonly tempCompress?: ShuffleOptions['tempCompress'];
  readonly workers?: number;
  readonly ioLimit?: ReadonlyMap<string, number>;
}

/** @param readTotalMemoryBytes is asked only when a percentage is given. */
export function declareMemoryOption(command: Command, readTotalMemoryBytes: () => number): void {
  command.option(
    '-S, --memory <SIZE>',
    'memory for the records, also as in 50% (default: half of what is available)',
    (text) => parseSize(text, { option: '-S', allowPercentOf: readTotalMemoryBytes }),
  );
}

export function declareTempOptions(command: Command): void {
  command
    .option(
      '-T, --temp-dir <DIR>',
      "for temp files; may be repeated (default: $TMPDIR, else the output's directory, or /var/tmp for standard output)",
      (text: string, previous: readonly string[] = []) => [...previous, parsePath(text, '--temp-dir')],
    )
    .option(
      '--temp-compress <CODEC>',
      'zstd for temp files on slow disks, with a level as in zstd:3 (default: not compressed)',
      parseTempCompression,
    );
}

export function declareWorkersOption(command: Command): void {
  command.option('--workers <N>', 'worker threads (default: one a CPU)', (text: string) =>
    parseCount(text, '--workers'),
  );
}

export function declareIoLimitOption(command: Command): void {
  command.option(
    '--io-limit <PATH=N>',
    'at most N large reads and writes at a time on the device that holds PATH; may be repeated',
    parseIoLimit,
  );
}

export function machineOptionsOf(
  values: MachineOptionValues,
): Pick<ShuffleOptions, 'memoryBytes' | 'tempDirs' | 'tempCompress' | 'workers' | 'ioLimits'> {
  return {
    memoryBytes: values.memory,
    tempDirs: values.tempDir,
    tempCompress: values.tempCompress,
    workers: values.workers,
    ioLimits: values.ioLimit && Object.fromEntries(values.ioLimit),
  };
}
