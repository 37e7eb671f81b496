/** The parts of an option of a command. */

/** Gives an option its value, or a part of it. */
export interface Flag<T = unknown> {
  /** Less its `--`. */
  readonly name: string;
  readonly short?: string;
  /** Placeholder of the value in the help. Absent: the flag has no value. */
  readonly value?: string;
  /** The part of the option that the value goes to: `shardCount` of `shards`. */
  readonly part?: string;
  /** Parses the text of a flag. Absent: the text is the value. */
  parse?(text: string, flag: string, previous: unknown): T;
  /** The value of a flag that is given without one. Absent: true. */
  readonly constant?: T;
  readonly words?: readonly string[];
  /** Words that a shell offers, where there are other values. */
  readonly usualWords?: readonly string[];
  /** May be given several times: each adds a value. Any other flag has one value. */
  readonly isRepeatable?: true;
  /** A resumed job may have another value; for cuts of the output, as long as none is made. */
  readonly mayChange?: true;
  readonly help: string;
  readonly default?: string;
}
