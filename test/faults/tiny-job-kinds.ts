/**
 * The kinds of the tiny job: where its data lies, where its output appears, which files exist before, and whether it can be
 * resumed.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { OutputCompression, ShuffleOptions, Tuning } from '#src/index.js';
import type { FileCall } from './watched-file-calls.js';

/** A call before which an earlier attempt at the job was killed. */
export type Moment = 'in pass 1' | 'in pass 2' | 'while outputs move';

/** The last such call is the moment. */
export const CALL_AT: Readonly<Record<Moment, (call: FileCall) => boolean>> = {
  'in pass 1': ({ name, to = '' }) => name === 'link' && /\/set-\d+\.index$/.test(to),
  'in pass 2': ({ name, path }) => name === 'unlink' && /\.0\.pile$/.test(path),
  'while outputs move': ({ name, to = '' }) => name === 'link' && /\/result\/shard-\d+-of-\d+$/.test(to),
};

/** One way to do the tiny job. */
export interface TinyJobKind {
  readonly name: string;
  readonly tuning: Tuning;
  /** Default 1. */
  readonly workers?: number;
  readonly shards?: boolean;
  /** The limit of the shards; default: three shards of nearly as many records. */
  readonly shardBytes?: number;
  /** Default: all records. */
  readonly headCount?: number;
  /** Whether of equal lines one is kept. */
  readonly unique?: boolean;
  /** Whether there is a set of shards for each of `VALUES`. */
  readonly isSectioned?: boolean;
  readonly compress?: OutputCompression;
  readonly tempCompress?: ShuffleOptions['tempCompress'];
  /** Whether inputs and outputs have a header of two lines. */
  readonly header?: boolean;
  /** Makes existing files in the place of the output. */
  readonly makeFormer?: (output: string) => void;
  /** Whether a dataset card lies beside the shards. */
  readonly datasetCard?: boolean;
  /** Whether the SHA-256 of its outputs lie beside them. */
  readonly sums?: boolean;
  /** Whether the job replaces existing files. */
  readonly force?: boolean;
  /** Whether the job can be resumed from its start; other jobs can only start anew. */
  readonly resumable?: boolean;
  /** Whether the inputs are a tuple of aligned files, each of which has an output of its own. */
  readonly isAligned?: boolean;
  /** Whether the output is a pipe. */
  readonly isPiped?: boolean;
  /** Whether it has a directory that the user named, and its data in there. */
  readonly jobDir?: boolean;
  /** An earlier attempt at the job was killed. */
  readonly before?: { readonly resumable: boolean; readonly at: Moment };
  /** Default: few lines. */
  readonly makeInputs?: () => Buffer[];
}

export function makeTexts(lineCounts: readonly number[], rest = ''): Buffer[] {
  return ['plain', 'compressed', 'members'].map((name, i) =>
    Buffer.from(Array.from({ length: lineCounts[i] ?? 0 }, (_, line) => `${name} ${line * 7919}${rest}\n`).join('')),
  );
}

export const FEW_LINES = [90, 60, 100];
const MANY_LINES = [1500, 900, 7];
/** More than the MiB from which on outputs are written around the page cache. */
const MEBIBYTES = { lineCounts: [200, 60, 7], rest: '.'.repeat(64 * 1024) };

/** All on the calling thread, so that every call passes the table that a test has put in place. */
const ON_DISK: Tuning = {
  pileCount: 4,
  bufferBytes: 400,
  readBytes: 512,
  outputBytes: 1500,
  sliceBytes: 800,
  stripeCount: 2,
  mayUseRamPool: false,
  inline: true,
};

function writeFormerShards(output: string): void {
  mkdirSync(output);
  for (const name of [
    'bystander',
    ...[
      'shard-00000-of-00002',
      'shard-00001-of-00002',
      'shard-00001-of-00003',
      '.shard.complete.json',
      'README.md',
      'SHA256SUMS',
    ],
  ])
    writeFileSync(join(output, name), `former ${name}\n`);
}

/** The end of its head is noted, in the midst of a pile. */
export const FILE: TinyJobKind = { name: 'a file', tuning: ON_DISK, headCount: 170, resumable: true, sums: true };
/** What stays of its piles is noted, and its cuts, which follow a long line. */
export const COMPRESSED_SHARDS: TinyJobKind = {
  name: 'each line once, in compressed shards with headers',
  tuning: { ...ON_DISK, memberBytes: 300 },
  shards: true,
  shardBytes: 2100,
  header: true,
  compress: { codec: 'gzip' },
  unique: true,
  makeInputs: () => [
    ...makeTexts(FEW_LINES.slice(0, 2)).map((text) => Buffer.concat([text, text.subarray(0, 300)])),
    Buffer.from(`${'long '.repeat(400)}\n`),
  ],
  resumable: true,
};
export const NEW_SHARDS: TinyJobKind = { name: 'new shards', tuning: ON_DISK, shards: true, resumable: true };
export const REPLACED_SHARDS: TinyJobKind = {
  ...NEW_SHARDS,
  name: 'shards that replace others',
  datasetCard: true,
  sums: true,
  makeFormer: writeFormerShards,
  force: true,
};

/** Written bytes cannot be taken back. */
export const PIPED: TinyJobKind = { ...FILE, name: 'a pipe', resumable: false, sums: false, isPiped: true };

/** The last digit of a line, or none. */
export const VALUES = ['', '8', '9'];
/** In a directory that is there, and empty. */
export const SECTIONS: TinyJobKind = {
  ...NEW_SHARDS,
  name: 'compressed shards for each value, with headers',
  isSectioned: true,
  header: true,
  compress: { codec: 'gzip' },
  makeFormer: (output) => mkdirSync(output),
};

const makeAligned = () => makeTexts([40, 40, 40]);
/** All members appear together or not at all. */
export const ALIGNED_SHARDS: TinyJobKind = {
  ...NEW_SHARDS,
  name: 'shards of aligned files',
  isAligned: true,
  makeInputs: makeAligned,
};
export const ALIGNED_FILES: TinyJobKind = {
  name: 'compressed aligned files in an empty directory',
  tuning: ON_DISK,
  isAligned: true,
  makeInputs: makeAligned,
  compress: { codec: 'gzip' },
  makeFormer: (output) => mkdirSync(output),
};

/** With sizes as planned. */
const NAMED: TinyJobKind = {
  name: 'a file, in a job directory that is named',
  tuning: {},
  resumable: true,
  jobDir: true,
};

/** Of which everything survives that a step of theirs has made durable. */
export const RESUMABLE_JOBS: readonly TinyJobKind[] = [FILE, COMPRESSED_SHARDS, REPLACED_SHARDS, SECTIONS, NAMED];

/** Discards an earlier attempt whose outputs were getting their names. */
export const DISCARDING_JOB: TinyJobKind = {
  ...REPLACED_SHARDS,
  name: 'shards that replace others, anew after an unfinished move',
  resumable: false,
  before: { resumable: false, at: 'while outputs move' },
};

/** Jobs that resume a killed attempt. */
export const CONTINUING_JOBS: readonly TinyJobKind[] = [
  {
    ...COMPRESSED_SHARDS,
    name: 'compressed shards, temp data compressed, resumed in pass 2',
    tempCompress: { codec: 'zstd' },
    before: { resumable: true, at: 'in pass 2' },
  },
  {
    ...REPLACED_SHARDS,
    name: 'shards that replace others, resumed while they move',
    before: { resumable: false, at: 'while outputs move' },
  },
];

export const SCATTERED_AGAIN: TinyJobKind = {
  name: 'piles that are scattered again',
  tuning: {
    ...ON_DISK,
    pileCount: 2,
    bufferBytes: 4000,
    sliceBytes: 12_000,
    readBytes: 4096,
    pass2ArenaBytes: 2 ** 16,
  },
  makeInputs: () => makeTexts(MANY_LINES),
};

/** Its output is written around the page cache, where the file system can. */
export const LARGE_JOB: TinyJobKind = {
  name: 'a large file, written directly',
  tuning: { mayUseRamPool: true, inline: true, outputBytes: 2 ** 22, pileCount: 2 },
  makeInputs: () => makeTexts(MEBIBYTES.lineCounts, MEBIBYTES.rest),
};
