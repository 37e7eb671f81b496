/** The contract of the commands in `commands/`. */
import type { Tuning } from '../index.js';
import type { Reporter } from './progress.js';

/** What a command is run with. */
export interface SubcommandContext {
  readonly signal: AbortSignal;
  readonly stderr: NodeJS.WriteStream;
  /** Sizes that tests give. */
  readonly tuning: Partial<Tuning> | undefined;
  /** From now on what happens is told there, errors as well. */
  readonly reportTo: (reporter: Reporter) => void;
}

/** Ends well, or throws a PileshufError. */
export type Subcommand = (argv: readonly string[], context: SubcommandContext) => Promise<void>;
