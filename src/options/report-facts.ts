/**
 * The facts that a report tells of a job beside its result and its profile. Plain data: `--report FILE.json` writes it,
 * the page shows it, and examples/report.schema.json describes it.
 */

export interface ReportFacts {
  readonly format: 'pileshuf report';
  /** Version of this format. */
  readonly version: 1;
  /** The time when the job ended, as in `2026-11-23T17:00:00.000Z`. */
  readonly endedAt: string;
  readonly call: {
    /** Repeats the job; undefined if a program called the library. */
    readonly command: string | undefined;
    /** The directory in which the command ran; undefined if a program called the library. */
    readonly directory: string | undefined;
    /** `-` is standard output. */
    readonly output: string;
    readonly tempDirs: readonly string[];
    /** The budget for piles and sort entries. */
    readonly memoryBytes: number;
    /** True if the job drew the seed. */
    readonly isSeedDrawn: boolean;
    readonly headCount: number | undefined;
    readonly unique: boolean;
    readonly repeat: boolean;
  };
  readonly environment: {
    readonly pileshuf: string;
    readonly node: string;
    readonly platform: string;
    readonly cpu: string;
    readonly cpuCount: number;
    readonly memoryBytes: number;
  };
  /** The inputs in the order of their ordinals. */
  readonly inputs: readonly {
    readonly path: string;
    /** Decoded; undefined if this attempt did not learn it. */
    readonly bytes: number | undefined;
  }[];
  /** The measurements while the passes ran. Undefined: there were no passes. */
  readonly watch: { readonly devices: readonly WatchedDevice[]; readonly moments: readonly Moment[] } | undefined;
  /** The sizes of all piles. Undefined: there were no passes. */
  readonly piles: PileSizes | undefined;
  /** The amounts of each output file, in the order of the output; a stream is one. Undefined as `piles`. */
  readonly shards:
    | { readonly by: 'records' | 'bytes'; readonly sizes: readonly number[]; readonly starts: readonly number[] }
    | undefined;
  /** The splits as asked, with the records that they should have. */
  readonly askedSplits:
    | readonly { readonly name: string; readonly asked: string; readonly expected: ExpectedRange | undefined }[]
    | undefined;
  /** The part of the output that each group of a mix with shares should have, in the unit of the mix. */
  readonly askedShares:
    | { readonly unit: string; readonly groups: readonly { readonly name: string; readonly part: number }[] }
    | undefined;
  /** Records of the inputs and where they are in the output, chosen uniformly, in the order of the output. */
  readonly sample: readonly SampledRecord[];
  /** Why there is no sample. */
  readonly sampleMissing: string | undefined;
  readonly checks: readonly SelfCheck[];
}

/** The range in which chance puts a number: between `lowest` and `highest` in 999 of 1000 jobs. */
export interface ExpectedRange {
  readonly mean: number;
  readonly standardDeviation: number;
  readonly lowest: number;
  readonly highest: number;
}

/** A device with a gate. */
export interface WatchedDevice {
  readonly name: string;
  /** Such as `solid-state` or `rotating`. */
  readonly kind: string;
  /** How many large calls its gate lets through at a time. */
  readonly mostCalls: number;
}

export interface DeviceTraffic {
  /** Large calls under way. */
  readonly calls: number;
  /** The bytes read by large calls, since the start. */
  readonly readBytes: number;
  /** The bytes written by large calls, since the start. A write counts when the system has taken it. */
  readonly writtenBytes: number;
}

/** The counters that all threads share, at one moment. */
export interface Moment {
  /** The time since the start of the job. */
  readonly seconds: number;
  /** Bytes of the inputs as stored, since the start. */
  readonly readBytes: number;
  /** Bytes of the output before compression, since the start. */
  readonly writtenBytes: number;
  /** The traffic in the order of the devices. */
  readonly traffic: readonly DeviceTraffic[];
}

export interface PileSizes {
  /** Records of each pile, before the output leaves anything out. */
  readonly records: readonly number[];
  readonly bytes: readonly number[];
  /** Records of one pile. Undefined: the keys of this job are not uniform. */
  readonly expected: ExpectedRange | undefined;
  /** Why `expected` is undefined. */
  readonly notExpected: string | undefined;
}

export interface SampledRecord {
  readonly inputOrdinal: number;
  /** Offset of its first byte in its decoded input. */
  readonly position: number;
  /** The part of all decoded input bytes that lies before it, from 0 to 1. */
  readonly fromPart: number;
  /** Its number in the output, from 0. */
  readonly rank: number;
  readonly shard: number;
  /** True if the record after it in its input is after it in the output, too; undefined if this was not looked at. */
  readonly keepsNeighbour: boolean | undefined;
}

/** A question to the sample or the piles, and what chance would answer. */
export interface SelfCheck {
  readonly name: string;
  /** The question that it answers, in one sentence. */
  readonly question: string;
  readonly value: number;
  readonly expected: ExpectedRange;
  /** True if the value lies between the lowest and the highest. */
  readonly isAsExpected: boolean;
}
