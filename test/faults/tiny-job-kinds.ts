/**
 * The kinds of the tiny job: where its data lies, where its output appears, which files exist before, and whether it can be
 * resumed.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { OutputCompression, ShuffleOptions, Tuning } from '#src/index.js';
import { canWriteZstd } from '../fixtures/can-write-zstd.js';
import type { FileCall } from './watched-file-calls.js';

/** A call before which an earlier attempt at the job was killed. */
export type Moment = 'in pass 1' | 'in pass 2' | 'while outputs move';

/** The last such call is the moment. */
export const CALL_AT: Readonly<Record<Moment, (call: FileCall) => boolean>> = {
  'in pass 1': ({ name, to = '' }) => name === 'link' && /\/set-\d+\.index$/.test(to),
  'in pass 2': ({ name, path }) => name === 'unlink' && /\.0\.pile$/.test(path),
  'while outputs move': ({ name, to = '' }) => name === 'link' && /\/result\/(shard|part\.[ab])-\d+-of-\d+$/.test(to),
};

/** One way to do the tiny job. */
export interface TinyJobKind {
  readonly name: string;
  readonly tuning: Tuning;
  /** Default 1. */
  readonly workers?: number;
  readonly shards?: boolean;
  /** Default: all records. */
  readonly headCount?: number;
  /** Whether its shards are those of two splits: `part.a` has one of them, `part.b` the others. */
  readonly splits?: boolean;
  /** Of each input. Default: 1. */
  readonly factors?: readonly string[];
  /** Shares of the records, of each input; it comes twice at most. */
  readonly shares?: readonly number[];
  /** Whether keys come from ordinals. */
  readonly byOrdinal?: boolean;
  /** Whether of equal lines one is kept. */
  readonly unique?: boolean;
  /** The limit of the shards; default: three shards of nearly as many records. */
  readonly shardBytes?: number;
  readonly compress?: OutputCompression;
  readonly tempCompress?: ShuffleOptions['tempCompress'];
  /** Whether inputs and outputs have a header of two lines. */
  readonly header?: boolean;
  /** Makes existing files in the place of the output. */
  readonly makeFormer?: (output: string) => void;
  /** Whether the job replaces existing files. */
  readonly force?: boolean;
  /** Whether the job can be resumed from its start; other jobs can only start anew. */
  readonly resumable?: boolean;
  readonly keepTemp?: boolean;
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
/** More than the 16 MiB from which on outputs are written around the page cache. */
const MEBIBYTES = { lineCounts: [200, 60, 7], rest: '.'.repeat(64 * 1024) };

/** All on the calling thread, so that every call passes the table that a test has put in place. */
const ON_DISK: Tuning = {
  pileCount: 4,
  bufferBytes: 400,
  readBytes: 512,
  outputBytes: 1500,
  sliceBytes: 800,
  stripeCount: 2,
  keepInRam: false,
  inline: true,
};
const IN_MEMORY: Tuning = { ...ON_DISK, keepInRam: true };

const writeFormerFile = (output: string) => writeFileSync(output, 'former\n');

function writeBystander(output: string): void {
  mkdirSync(output);
  writeFileSync(join(output, 'bystander'), 'former bystander\n');
}

function writeFormerShards(output: string): void {
  writeBystander(output);
  for (const name of ['shard-00000-of-00002', 'shard-00001-of-00002', 'shard-00001-of-00003', '.shard.complete.json']) {
    writeFileSync(join(output, name), `former ${name}\n`);
  }
}

function writeFormerSplits(output: string): void {
  writeBystander(output);
  for (const name of [
    'part.a-00000-of-00001',
    '.part.a.complete.json',
    'part.b-00000-of-00001',
    '.part.b.complete.json',
  ]) {
    writeFileSync(join(output, name), `former ${name}\n`);
  }
}

const FILE: TinyJobKind = { name: 'a file, on disk', tuning: ON_DISK };
const REPLACED_FILE: TinyJobKind = {
  name: 'a file that replaces one, on disk',
  tuning: ON_DISK,
  makeFormer: writeFormerFile,
  force: true,
};
const NEW_DIRECTORY: TinyJobKind = { name: 'shards in a new directory, on disk', tuning: ON_DISK, shards: true };
const EXISTING_DIRECTORY: TinyJobKind = {
  name: 'shards in an existing directory, on disk',
  tuning: ON_DISK,
  shards: true,
  makeFormer: writeBystander,
};
const REPLACED_SHARDS: TinyJobKind = {
  name: 'shards that replace others, on disk',
  tuning: ON_DISK,
  shards: true,
  makeFormer: writeFormerShards,
  force: true,
};

const HEADED_SHARDS: TinyJobKind = {
  name: 'shards with headers in a new directory, on disk',
  tuning: ON_DISK,
  shards: true,
  header: true,
};
/** Its cuts follow a long line, and are noted. */
const FITTED_SHARDS: TinyJobKind = {
  name: 'shards around a long line in a new directory, on disk',
  tuning: ON_DISK,
  shards: true,
  shardBytes: 2100,
  makeInputs: () => [...makeTexts(FEW_LINES).slice(0, 2), Buffer.from(`${'long '.repeat(400)}\n`)],
};
/** The end of its head is noted, in the midst of a pile. */
const HEAD: TinyJobKind = { name: 'the first lines of the order, on disk', tuning: ON_DISK, headCount: 170 };
/** Its splits begin in the midst of a pile, which is noted; each has its marker. */
const REPLACED_SPLITS: TinyJobKind = {
  name: 'splits that replace others, on disk',
  tuning: ON_DISK,
  shards: true,
  splits: true,
  makeFormer: writeFormerSplits,
  force: true,
};
/** A part of one input, and copies of others. */
const WEIGHED: TinyJobKind = { name: 'lines with weights, on disk', tuning: ON_DISK, factors: ['1.5', '0.4', '2'] };
/** Its inputs are counted first. */
const SHARED: TinyJobKind = { name: 'lines by shares, on disk', tuning: ON_DISK, shares: [1, 2, 3] };
/** The records before each slice are counted. */
const BY_ORDINAL: TinyJobKind = { name: 'a file in the order of ordinals, on disk', tuning: ON_DISK, byOrdinal: true };
const LINES_TWICE = () => makeTexts(FEW_LINES).map((text) => Buffer.concat([text, text.subarray(0, 300), text]));
/** Nobody knows where a line goes before those before it are written. */
const UNIQUE: TinyJobKind = { name: 'each line once, on disk', tuning: ON_DISK, unique: true, makeInputs: LINES_TWICE };
/** What stays of its piles is noted. */
const UNIQUE_SHARDS: TinyJobKind = {
  ...UNIQUE,
  name: 'each line once, in shards in a new directory, on disk',
  shards: true,
};
const COMPRESSED_SHARDS: TinyJobKind = {
  name: 'compressed shards with headers in a new directory, on disk',
  tuning: ON_DISK,
  shards: true,
  header: true,
  compress: { codec: 'gzip' },
};

const resumable = (kind: TinyJobKind): TinyJobKind => ({ ...kind, name: `${kind.name}, resumable`, resumable: true });

/** Of which everything survives that a step of theirs has made durable. */
export const RESUMABLE_JOBS: readonly TinyJobKind[] = [
  FILE,
  REPLACED_FILE,
  NEW_DIRECTORY,
  REPLACED_SHARDS,
  HEADED_SHARDS,
  COMPRESSED_SHARDS,
  FITTED_SHARDS,
  HEAD,
  REPLACED_SPLITS,
  WEIGHED,
  SHARED,
  BY_ORDINAL,
  UNIQUE,
  UNIQUE_SHARDS,
].map(resumable);

/** Jobs whose outputs get their names in several steps, which the next attempt finishes or undoes. */
export const MOVING_JOBS: readonly TinyJobKind[] = [EXISTING_DIRECTORY, REPLACED_SHARDS];

/** Jobs that discard an earlier attempt whose outputs were getting their names. */
export const DISCARDING_JOBS: readonly TinyJobKind[] = [false, true].map((isResumable) => ({
  ...REPLACED_SHARDS,
  name: `shards that replace others, anew after ${isResumable ? 'a resumable' : 'an'} unfinished move`,
  before: { resumable: isResumable, at: 'while outputs move' },
}));

/** Jobs that resume a killed attempt. */
export const CONTINUING_JOBS: readonly TinyJobKind[] = [
  {
    ...resumable(FILE),
    name: `a file, temp data ${canWriteZstd ? '' : 'not '}compressed, resumed in pass 2`,
    tempCompress: canWriteZstd ? { codec: 'zstd' } : undefined,
    before: { resumable: true, at: 'in pass 2' },
  },
  { ...resumable(FILE), name: 'a file, resumed in pass 1', before: { resumable: true, at: 'in pass 1' } },
  {
    ...resumable(REPLACED_SHARDS),
    name: 'shards that replace others, resumed in pass 2',
    before: { resumable: true, at: 'in pass 2' },
  },
  {
    ...resumable(COMPRESSED_SHARDS),
    name: 'compressed shards, resumed in pass 2',
    before: { resumable: true, at: 'in pass 2' },
  },
  {
    ...resumable(FITTED_SHARDS),
    name: 'shards around a long line, resumed in pass 2',
    before: { resumable: true, at: 'in pass 2' },
  },
  {
    ...resumable(HEAD),
    name: 'the first lines of the order, resumed in pass 2',
    before: { resumable: true, at: 'in pass 2' },
  },
  { ...resumable(UNIQUE), name: 'each line once, resumed in pass 2', before: { resumable: true, at: 'in pass 2' } },
  {
    ...resumable(UNIQUE_SHARDS),
    name: 'each line once, in shards, resumed in pass 2',
    before: { resumable: true, at: 'in pass 2' },
  },
  {
    ...resumable(REPLACED_SPLITS),
    name: 'splits that replace others, resumed in pass 2',
    before: { resumable: true, at: 'in pass 2' },
  },
  {
    ...resumable(REPLACED_SPLITS),
    name: 'splits that replace others, resumed while they move',
    before: { resumable: false, at: 'while outputs move' },
  },
  {
    ...resumable(WEIGHED),
    name: 'lines with weights, resumed in pass 1',
    before: { resumable: true, at: 'in pass 1' },
  },
  {
    ...resumable(SHARED),
    name: 'lines by shares, resumed in pass 2',
    before: { resumable: true, at: 'in pass 2' },
  },
  {
    ...resumable(BY_ORDINAL),
    name: 'a file in the order of ordinals, resumed in pass 1',
    before: { resumable: true, at: 'in pass 1' },
  },
  {
    ...resumable(REPLACED_SHARDS),
    name: 'shards that replace others, resumed while they move',
    before: { resumable: false, at: 'while outputs move' },
  },
];

/** A file, with --force, after an earlier attempt was killed. */
const ANEW: TinyJobKind = {
  ...FILE,
  name: 'a file, anew over an unfinished job',
  force: true,
  before: { resumable: true, at: 'in pass 2' },
};

/** Which keep something, or keep it elsewhere. */
const KEEPING_JOBS: readonly TinyJobKind[] = [
  { ...FILE, name: 'a file, its temp data kept', keepTemp: true },
  { ...REPLACED_SHARDS, name: 'shards that replace others, temp data kept', keepTemp: true },
  { ...FILE, name: 'a file, with a job directory that is named', jobDir: true },
];

export const TINY_JOBS: readonly TinyJobKind[] = [
  { name: 'shards in a new directory, in memory', tuning: IN_MEMORY, shards: true },
  ...[FILE, REPLACED_FILE, NEW_DIRECTORY, EXISTING_DIRECTORY, REPLACED_SHARDS, UNIQUE],
  ...RESUMABLE_JOBS,
  {
    name: 'piles that are scattered again, on disk',
    tuning: {
      ...ON_DISK,
      pileCount: 2,
      bufferBytes: 4000,
      sliceBytes: 12_000,
      readBytes: 4096,
      pass2ArenaBytes: 2 ** 16,
    },
    makeInputs: () => makeTexts(MANY_LINES),
  },
];

/** With a past, or with something that stays. */
export const SPECIAL_JOBS: readonly TinyJobKind[] = [...CONTINUING_JOBS, ANEW, ...DISCARDING_JOBS, ...KEEPING_JOBS];

/** Its output is written around the page cache, where the file system can. */
export const LARGE_JOB: TinyJobKind = {
  name: 'a large file, written directly',
  tuning: { keepInRam: true, inline: true, outputBytes: 2 ** 22, pileCount: 2 },
  makeInputs: () => makeTexts(MEBIBYTES.lineCounts, MEBIBYTES.rest),
};

/** Whose output goes where a test says. */
export const PIPED_JOBS: readonly TinyJobKind[] = [
  { ...FILE, name: 'a pipe' },
  { ...FILE, name: 'a pipe, compressed', compress: { codec: 'gzip' } },
];
