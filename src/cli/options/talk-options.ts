/** How a command tells what it does: the options that all commands share which take long. */
import type { Command } from 'commander';
import { parseProgressStyle } from '../option-value.js';
import type { ProgressStyle, ReporterOptions } from '../progress.js';

/** As commander collects them. */
export interface TalkOptionValues {
  readonly progress: ProgressStyle;
  readonly quiet?: boolean;
}

export function declareProgressOption(command: Command): void {
  command.option('--progress <STYLE>', 'auto, bar, plain, json or none, on standard error', parseProgressStyle, 'auto');
}

export function declareQuietOption(command: Command): void {
  command.option('-q, --quiet', 'print nothing but errors: no progress, warnings, summary');
}

export function talkOptionsOf({ progress, quiet }: TalkOptionValues): Pick<ReporterOptions, 'style' | 'quiet'> {
  return { style: progress, quiet: quiet ?? false };
}
