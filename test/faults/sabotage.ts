/**
 * The faults that `saboteur.mjs` can make, and the `CommandRun` of a command that suffers one. Inputs of such a job are
 * named `*.input`: the saboteur knows their reads by the name.
 */
import type { CommandRun } from '../fixtures/run-command.js';

/** The byte that changes in a stored record: its key's first or last bits, its length, its own bytes. */
type Altered = 'highKey' | 'lowKey' | 'length' | 'record';
export type Occasion =
  | 'input-read'
  | 'temp-write'
  | 'temp-read'
  | 'output-write'
  | 'output-sync'
  /** A pile set, or a record of finished ranges, gets its name. */
  | 'commit'
  /** A file, but no lock, gets or loses its name in the directory for staging, as when outputs move. */
  | 'output-move';

export type Sabotage = {
  /** Which occasion it is, over all threads, from 1 on; default 1. */
  readonly nth?: number;
  /** Whether every later occasion is, too. */
  readonly ever?: true;
} & (
  | {
      readonly act:
        | 'skip-boundary'
        | 'invent-boundary'
        | 'drop-scattered'
        | 'repeat-scattered'
        | 'repeat-gathered'
        | 'skip-gathered'
        | 'replace-gathered'
        | 'lose-distinct'
        | 'misdirect-loaded'
        | 'short-temp-write'
        | 'early-end';
    }
  | { readonly act: 'refuse-workers'; readonly message: string }
  | { readonly act: 'alter-loaded'; readonly part: Altered }
  | { readonly act: 'short-output-write'; readonly outputBytes: number }
  /** `afterwards`: when the call is over. */
  | { readonly act: 'signal'; readonly at: Occasion; readonly signal: NodeJS.Signals; readonly afterwards?: boolean }
  | { readonly act: 'end-worker'; readonly at: Occasion }
  /** Each worker is held up there until another one comes; the first fails when its patience is over. */
  | { readonly act: 'meet'; readonly at: Occasion; readonly patienceMilliseconds: number }
  | { readonly act: 'fail'; readonly at: Occasion; readonly errno: string }
  | {
      readonly act: 'change-input';
      readonly at: Occasion;
      readonly path: string;
      readonly how: 'grow' | 'shrink' | 'replace' | 'overwrite';
    }
);

const saboteur = new URL('saboteur.mjs', import.meta.url).href;

export function withSabotage(sabotage: Sabotage): Required<Pick<CommandRun, 'nodeOptions' | 'env'>> {
  return {
    nodeOptions: ['--import', saboteur],
    env: { PILESHUF_SABOTAGE: JSON.stringify(sabotage) },
  };
}
