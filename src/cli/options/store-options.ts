/** What a command that writes into a store takes besides its inputs. */
import type { Command } from 'commander';
import type { AppendOptions } from '../../index.js';
import { parseCount, parsePath } from '../option-value.js';
import { parseSize } from '../size.js';

/** As commander collects them. */
export interface StoreOptionValues {
  readonly generation?: string;
  readonly replace?: boolean;
  readonly seed?: string;
  readonly piles?: number;
  readonly expectedBytes?: number;
}

/** @param what it is, for the help. */
export function declareStoreArgument(command: Command, what: string): void {
  command.argument('<store>', what, (text: string) => parsePath(text, 'STORE'));
}

export function declareStoreWriterOptions(command: Command): void {
  command
    .option('--generation <NAME>', 'what the inputs are a part of, as a date (default: that of today, UTC)')
    .option('--replace', 'take the place of what the store has of these inputs; else it is refused')
    .option('--seed <STRING>', 'that of the store, for one that is made; without it one is drawn')
    .option('--piles <N>', 'how many the store has, for one that is made', (text: string) =>
      parseCount(text, '--piles'),
    )
    .option('--expected-bytes <SIZE>', 'what the store will hold, which says how many piles it gets', (text: string) =>
      parseSize(text, { option: '--expected-bytes' }),
    );
}

export function storeOptionsOf(
  values: StoreOptionValues,
): Pick<AppendOptions, 'generation' | 'replace' | 'seed' | 'piles' | 'expectedBytes'> {
  const { generation, replace, seed, piles, expectedBytes } = values;
  return { generation, replace, seed, piles, expectedBytes };
}
