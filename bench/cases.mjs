// @ts-check
// The table of cases, as data: which corpus, how much memory pileshuf may use, under which memory cgroup, and the bars
// the project has set itself for that case. A bar is printed beside its figure and never fails the bench: times on
// another machine are not defects. A missing `memory` is pileshuf's own default, a missing `cgroupLimitBytes` no cgroup.

/** @import { CorpusKind } from './corpus.mjs' */
/** @import { Encoding } from './encode.mjs' */

/** @typedef {{ atMost: number } | { atLeast: number }} Bar */

/**
 * @typedef {object} Case
 * @property {string} name
 * @property {CorpusKind} kind
 * @property {number} [sizeShare] corpus size as a share of `--size`
 * @property {number} [sizeBytes] corpus size whatever `--size` says
 * @property {number} [lineCount] corpus size in lines, in one file
 * @property {Encoding} [encoding] the inputs are compressed so; plain when missing
 * @property {'zstd'} [compress] what pileshuf compresses its output with
 * @property {string} [memory] what pileshuf gets as `-S`
 * @property {number} [cgroupLimitBytes]
 * @property {string[]} [contestants] only these; all of them when missing
 * @property {number} [rounds] instead of the default of `--rounds`
 * @property {number} [warmup] instead of the default of `--warmup`
 * @property {Record<string, Bar>} bars by the name of a comparison in figures.mjs
 */

const tightCgroupBytes = 512 * 1024 * 1024;

const sizeContestants = ['pileshuf', 'floor'];

const codecCase = /** @type {const} */ ({ kind: 'sentences', sizeShare: 1, memory: '256M' });
/** Of the best tool that only decompresses, one a core. */
const readingBar = { atLeast: 0.8 };

/** @type {Case} */
const startUp = {
  name: 'startup',
  kind: 'sentences',
  lineCount: 1000,
  contestants: ['pileshuf', 'shuf'],
  rounds: 10,
  bars: { 'pileshuf wall s': { atMost: 0.2 } },
};

/** @type {Case[]} what the bench measures when `--cases` names none */
export const cases = [
  {
    name: 'sentences-disk',
    kind: 'sentences',
    sizeShare: 1,
    memory: '256M',
    bars: {
      'pileshuf / floor': { atMost: 1.3 },
      'terashuf / pileshuf': { atLeast: 4 },
      'pileshuf user CPU s/GB': { atMost: 2 },
    },
  },
  {
    name: 'sentences-disk-cgroup',
    kind: 'sentences',
    sizeShare: 1,
    memory: '256M',
    cgroupLimitBytes: tightCgroupBytes,
    bars: {
      'pileshuf / floor': { atMost: 1.6 },
      'terashuf / pileshuf': { atLeast: 1.7 },
      'pileshuf user CPU s/GB': { atMost: 2 },
    },
  },
  {
    name: 'sentences-ram',
    kind: 'sentences',
    sizeShare: 1,
    bars: { 'shuf / pileshuf': { atLeast: 3 }, 'pileshuf user CPU s/GB': { atMost: 2 } },
  },
  {
    name: 'documents-disk',
    kind: 'documents',
    sizeShare: 1,
    memory: '256M',
    bars: { 'pileshuf / floor': { atMost: 1 } },
  },
  {
    name: 'documents-disk-cgroup',
    kind: 'documents',
    sizeShare: 1,
    memory: '256M',
    cgroupLimitBytes: tightCgroupBytes,
    bars: { 'pileshuf / floor': { atMost: 1.5 } },
  },
  { name: 'tiny-disk', kind: 'tiny', sizeShare: 0.5, memory: '256M', bars: {} },
  // What a byte costs must not depend on how many there are: compare the MB/s of these two.
  {
    name: 'sentences-quarter',
    kind: 'sentences',
    sizeShare: 0.25,
    memory: '256M',
    contestants: sizeContestants,
    bars: {},
  },
  {
    name: 'sentences-fourfold',
    kind: 'sentences',
    sizeShare: 4,
    memory: '256M',
    contestants: sizeContestants,
    bars: {},
  },
  {
    name: 'resumable-disk',
    kind: 'sentences',
    sizeShare: 1,
    memory: '256M',
    contestants: ['pileshuf', 'resumable'],
    bars: {},
  },
  {
    name: 'resumable-disk-cgroup',
    kind: 'sentences',
    sizeShare: 1,
    memory: '256M',
    cgroupLimitBytes: tightCgroupBytes,
    contestants: ['pileshuf', 'resumable'],
    bars: {},
  },
  {
    ...codecCase,
    name: 'plain-in',
    contestants: ['pileshuf', 'read'],
    bars: {},
  },
  {
    ...codecCase,
    name: 'gzip-in',
    encoding: 'gzip',
    contestants: ['pileshuf', 'gzip-program', 'pigz-dc', 'igzip-dc'],
    bars: { 'igzip-dc / pileshuf pass 1': readingBar },
  },
  {
    ...codecCase,
    name: 'bgzf-in',
    encoding: 'bgzf',
    contestants: ['pileshuf', 'pigz-dc', 'igzip-dc'],
    bars: { 'igzip-dc / pileshuf pass 1': readingBar },
  },
  {
    ...codecCase,
    name: 'zstd-in',
    encoding: 'zstd',
    contestants: ['pileshuf', 'zstd-dc'],
    bars: { 'zstd-dc / pileshuf pass 1': readingBar },
  },
  {
    ...codecCase,
    name: 'zstd-in-out',
    encoding: 'zstd',
    compress: 'zstd',
    contestants: ['pileshuf', 'zstd-dc', 'zstd-recode'],
    bars: {},
  },
  startUp,
];

// 64 MB with their 12 bytes a record on top are more than 64 MiB, so the smoke run walks the disk path.
/** @type {Case[]} what `--quick` runs */
export const smokeCases = [
  {
    name: 'smoke-disk',
    kind: 'sentences',
    sizeBytes: 64e6,
    memory: '64M',
    contestants: ['pileshuf', 'floor', 'shuf'],
    rounds: 1,
    warmup: 0,
    bars: {},
  },
  { ...startUp, rounds: 5, warmup: 0 },
];
