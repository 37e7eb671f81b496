/** `--grace`: how long what a store does not need any more is kept. */
import type { Command } from 'commander';
import { parseDuration } from '../duration.js';

/** As commander collects them. */
export interface GraceOptionValues {
  readonly grace?: number;
}

export function declareGraceOption(command: Command): void {
  command.option(
    '--grace <TIME>',
    'keep for so long what was taken out of the store, for those who read it (default: 1d)',
    (text: string) => parseDuration(text, '--grace'),
  );
}
