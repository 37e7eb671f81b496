// @ts-check
// The table of cases, as data: which corpus, who runs, how much memory pileshuf may use, under which memory cgroup, and
// the bars the project has set itself for that case, on 2 cores and at the default size. A bar is printed beside its
// figure and never fails the bench: times on another machine are not defects. A missing `memory` is pileshuf's own
// default, a missing `cgroupLimitBytes` no cgroup.

/** @import { ContestantName } from './contestants.mjs' */
/** @import { CorpusKind } from './corpus.mjs' */
/** @import { Encoding } from './encode.mjs' */
/** @import { Bars } from './figures.mjs' */

/** @typedef {{ atMost?: number, atLeast?: number }} Bar one of them, or both */

/**
 * @typedef {object} Case
 * @property {string} name
 * @property {CorpusKind} kind
 * @property {number} [sizeShare] corpus size as a share of `--size`
 * @property {number} [sizeBytes] corpus size whatever `--size` says
 * @property {number} [lineCount] corpus size in lines, in one file
 * @property {number} [passes] how many times the files of the corpus are given, one after the other; once when missing
 * @property {Encoding} [encoding] the inputs are compressed so; plain when missing
 * @property {'zstd'} [compress] what pileshuf compresses its output with
 * @property {string} [memory] what pileshuf gets as `-S`
 * @property {number} [workers] what pileshuf gets as `--workers`; its own default when missing
 * @property {number} [cgroupLimitBytes]
 * @property {boolean} [watchesDisk] what lies on the disk is looked at all the time, which costs some
 * @property {ContestantName[]} contestants
 * @property {number} [rounds] instead of the default of `--rounds`
 * @property {number} [warmup] instead of the default of `--warmup`
 * @property {Bars} bars
 */

const mebibyte = 2 ** 20;
const tightCgroupBytes = 512 * mebibyte;

/** @type {ContestantName[]} */
const rivals = ['pileshuf', 'floor', 'floor-fsync', 'shuf', 'terashuf'];
/** @type {ContestantName[]} */
const sizeContestants = ['pileshuf', 'floor'];

const sentencesCase = /** @type {const} */ ({ kind: 'sentences', sizeShare: 1, memory: '256M' });
const documentsCase = /** @type {const} */ ({ kind: 'documents', sizeShare: 1, memory: '256M' });
const tinyCase = /** @type {const} */ ({ kind: 'tiny', sizeShare: 0.5, memory: '256M' });

// User CPU, checksums included.
const sentencesCpuBar = { 'pileshuf user CPU s/GB': { atMost: 1.6 } };
const documentsCpuBar = { 'pileshuf user CPU s/GB': { atMost: 0.6 } };
/** Where the cores are the limit and there are two of them. */
const coresBar = { 'one-worker / pileshuf': { atLeast: 1.8 } };
/** Of the best tool that only decompresses, one a core. */
const readingBar = { atLeast: 0.8 };
/** Neither more than 15 % slower than the other. */
const shardsBar = { 'shards / pileshuf': { atLeast: 0.87, atMost: 1.15 } };

const diskUse = /** @type {const} */ ({
  watchesDisk: true,
  contestants: /** @type {ContestantName[]} */ (['pileshuf']),
  rounds: 1,
  warmup: 0,
  bars: { 'pileshuf peak on disk / stored data': { atMost: 1.15 } },
});

/** @type {Case[]} what the bench measures when `--cases` names none */
export const cases = [
  {
    ...sentencesCase,
    name: 'sentences-disk',
    contestants: [...rivals, 'one-worker'],
    bars: {
      'pileshuf / floor': { atMost: 1 },
      'terashuf / pileshuf': { atLeast: 5 },
      ...sentencesCpuBar,
      ...coresBar,
    },
  },
  {
    ...sentencesCase,
    name: 'sentences-disk-cgroup',
    cgroupLimitBytes: tightCgroupBytes,
    contestants: rivals,
    bars: {
      'pileshuf / floor': { atMost: 1.25 },
      'terashuf / pileshuf': { atLeast: 2.3 },
      ...sentencesCpuBar,
    },
  },
  {
    name: 'sentences-ram',
    kind: 'sentences',
    sizeShare: 1,
    contestants: [...rivals, 'cat-fsync', 'one-worker'],
    bars: {
      'shuf / pileshuf': { atLeast: 5 },
      'pileshuf / cat-fsync': { atMost: 3 },
      ...sentencesCpuBar,
      ...coresBar,
    },
  },
  {
    ...documentsCase,
    name: 'documents-disk',
    contestants: rivals,
    bars: { 'pileshuf / floor': { atMost: 0.65 }, 'terashuf / pileshuf': { atLeast: 5 }, ...documentsCpuBar },
  },
  {
    ...documentsCase,
    name: 'documents-disk-cgroup',
    cgroupLimitBytes: tightCgroupBytes,
    contestants: rivals,
    bars: { 'pileshuf / floor': { atMost: 1.15 }, ...documentsCpuBar },
  },
  {
    ...tinyCase,
    name: 'tiny-disk',
    contestants: [...rivals, 'one-worker'],
    bars: { 'terashuf / pileshuf': { atLeast: 3 }, 'pileshuf user CPU ns/record': { atMost: 150 }, ...coresBar },
  },
  // What a byte costs must not depend on how many there are. The corpus is four times the others and given twice:
  // between the two readings of a file lie 8 GB, eight times the cgroup, so that no page of the first is there at the
  // second.
  {
    name: 'sentences-eightfold-cgroup',
    kind: 'sentences',
    sizeShare: 4,
    passes: 2,
    memory: '512M',
    cgroupLimitBytes: 1024 * mebibyte,
    contestants: ['pileshuf', 'eighth'],
    rounds: 3,
    warmup: 0,
    bars: { 'pileshuf / eighth': { atMost: 1.15 } },
  },
  // The same with memory free, less reliably: compare the MB/s of these two.
  {
    ...sentencesCase,
    name: 'sentences-quarter',
    sizeShare: 0.25,
    contestants: sizeContestants,
    bars: {},
  },
  {
    ...sentencesCase,
    name: 'sentences-fourfold',
    sizeShare: 4,
    contestants: sizeContestants,
    bars: {},
  },
  { ...sentencesCase, name: 'sentences-shards', contestants: ['pileshuf', 'shards'], bars: shardsBar },
  {
    ...sentencesCase,
    name: 'sentences-shards-cgroup',
    cgroupLimitBytes: tightCgroupBytes,
    contestants: ['pileshuf', 'shards'],
    bars: shardsBar,
  },
  { ...sentencesCase, ...diskUse, name: 'sentences-disk-use' },
  { ...documentsCase, ...diskUse, name: 'documents-disk-use' },
  { ...tinyCase, ...diskUse, name: 'tiny-disk-use' },
  { ...sentencesCase, name: 'resumable-disk', contestants: ['pileshuf', 'resumable'], bars: {} },
  {
    ...sentencesCase,
    name: 'resumable-disk-cgroup',
    cgroupLimitBytes: tightCgroupBytes,
    contestants: ['pileshuf', 'resumable'],
    bars: {},
  },
  { ...sentencesCase, name: 'plain-in', contestants: ['pileshuf', 'read'], bars: {} },
  {
    ...sentencesCase,
    name: 'gzip-in',
    encoding: 'gzip',
    contestants: ['pileshuf', 'gzip-program', 'pigz-dc', 'igzip-dc'],
    bars: { 'igzip-dc / pileshuf pass 1': readingBar },
  },
  {
    ...sentencesCase,
    name: 'bgzf-in',
    encoding: 'bgzf',
    contestants: ['pileshuf', 'pigz-dc', 'igzip-dc'],
    bars: { 'igzip-dc / pileshuf pass 1': readingBar },
  },
  {
    ...sentencesCase,
    name: 'zstd-in',
    encoding: 'zstd',
    contestants: ['pileshuf', 'zstd-dc'],
    bars: { 'zstd-dc / pileshuf pass 1': readingBar },
  },
  {
    ...sentencesCase,
    name: 'zstd-in-out',
    encoding: 'zstd',
    compress: 'zstd',
    contestants: ['pileshuf', 'zstd-dc', 'zstd-recode'],
    bars: {},
  },
  {
    name: 'startup',
    kind: 'sentences',
    lineCount: 1000,
    contestants: ['pileshuf', 'shuf'],
    rounds: 10,
    bars: { 'pileshuf wall s': { atMost: 0.2 } },
  },
];
