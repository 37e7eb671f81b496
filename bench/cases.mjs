// @ts-check
// The table of cases, as data: the corpus, the contestants, the memory of pileshuf, the memory cgroup, and the bars
// that the project has set itself for the case, on 2 cores and at the default size. The bench prints a bar beside its
// figure and never fails because of it: times on another machine are not defects. Without `memory`, pileshuf uses its
// default; without `cgroupLimitBytes` there is no cgroup.

/** @import { ContestantName } from './contestants.mjs' */
/** @import { CorpusKind } from './corpus.mjs' */
/** @import { Encoding } from './encode.mjs' */
/** @import { Bars } from './figures.mjs' */

/** @typedef {{ atMost?: number, atLeast?: number }} Bar at least one of the two */

/**
 * @typedef {object} Case
 * @property {string} name
 * @property {CorpusKind} kind
 * @property {number} [sizeShare] corpus size as a share of `--size`
 * @property {number} [sizeBytes] corpus size, independent of `--size`
 * @property {number} [lineCount] corpus size in lines, in one file
 * @property {number} [passes] how many times the inputs list the files of the corpus; default 1
 * @property {Encoding} [encoding] compression of the inputs; default plain
 * @property {'zstd'} [compress] compression of the output of pileshuf
 * @property {number} [zstdLevel] of the Parquet that a case of tables writes
 * @property {string} [memory] the value of `-S`
 * @property {number} [workers] the value of `--workers`; default: that of pileshuf
 * @property {number} [cgroupLimitBytes]
 * @property {boolean} [inMemory] all files lie in a file system in memory (/dev/shm): no disk is in the way
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
const peers = ['pileshuf', 'shuf', 'terashuf', 'duckdb', 'buffer'];

const sentencesCase = /** @type {const} */ ({ kind: 'sentences', sizeShare: 1, memory: '256M' });
const documentsCase = /** @type {const} */ ({ kind: 'documents', sizeShare: 1, memory: '256M' });
const tinyCase = /** @type {const} */ ({ kind: 'tiny', sizeShare: 0.5, memory: '256M' });

// User CPU, checksums included.
const sentencesCpuBar = { 'pileshuf user CPU s/GB': { atMost: 1.6 } };
const documentsCpuBar = { 'pileshuf user CPU s/GB': { atMost: 0.6 } };
/** If the cores are the limit, and there are two. */
const coresBar = { 'one-worker / pileshuf': { atLeast: 1.8 } };
/** Compared with the best tool that only decompresses, one process per core. */
const readingBar = { atLeast: 0.8 };
/** The two differ by at most 15 %. */
const shardsBar = { 'shards / pileshuf': { atLeast: 0.87, atMost: 1.15 } };

const inMemoryCase = /** @type {const} */ ({
  inMemory: true,
  sizeBytes: 1e9,
  contestants: /** @type {ContestantName[]} */ (['pileshuf', 'former', 'in-piles', 'one-worker', 'shuf']),
});
const inMemoryBars = {
  'former / pileshuf': { atLeast: 1.7 },
  'shuf / pileshuf': { atLeast: 4 },
  'pileshuf user CPU s/GB': { atMost: 1 },
};

const tableCase = /** @type {const} */ ({
  encoding: 'parquet',
  zstdLevel: 3,
  memory: '256M',
  // Not datasets, which takes four minutes for the numbers, and ten for 1 GB of articles in the cgroup.
  contestants: /** @type {ContestantName[]} */ (['pileshuf', 'duckdb', 'pyarrow']),
  rounds: 3,
});
const articlesCase = /** @type {const} */ ({ ...tableCase, kind: 'articles', sizeShare: 1 });

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
  { ...inMemoryCase, name: 'sentences-in-memory', kind: 'sentences', bars: inMemoryBars },
  { ...inMemoryCase, name: 'sentences-in-memory-threefold', kind: 'sentences', sizeBytes: 3e9, bars: inMemoryBars },
  {
    ...inMemoryCase,
    name: 'documents-in-memory',
    kind: 'documents',
    bars: { 'former / pileshuf': { atLeast: 1.5 } },
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
  // The cost of a byte must not depend on the number of bytes. This corpus has four times the size of the others and is
  // given twice. Between two reads of a file the job reads 8 GB, eight times the cgroup: the page cache no longer has the
  // file at the second read.
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
  { ...sentencesCase, name: 'sentences-shards', contestants: ['pileshuf', 'shards'], bars: shardsBar },
  // From a disk, only the reading can be measured: it takes longer than a fifth of shuf.
  {
    name: 'sentences-sample',
    kind: 'sentences',
    sizeBytes: 2e9,
    contestants: ['sample', 'shuf-sample', 'read'],
    bars: { 'sample / read': { atMost: 1.3 } },
  },
  { ...sentencesCase, name: 'resumable-disk', contestants: ['pileshuf', 'resumable'], bars: {} },
  {
    ...sentencesCase,
    name: 'gzip-in',
    encoding: 'gzip',
    contestants: ['pileshuf', 'pigz-dc', 'igzip-dc'],
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
  // Every line comes twice, half of the corpus after the first time.
  {
    name: 'unique-cgroup',
    kind: 'mixed',
    sizeShare: 0.5,
    passes: 2,
    memory: '512M',
    cgroupLimitBytes: 1024 * mebibyte,
    contestants: ['unique', 'unique-shards', 'pileshuf', 'sort-u'],
    rounds: 3,
    bars: { 'sort-u / unique': { atLeast: 3 } },
  },
  {
    ...articlesCase,
    name: 'articles-ram',
    inMemory: true,
    contestants: [...tableCase.contestants, 'datasets', 'as-lines'],
    bars: { 'duckdb / pileshuf': { atLeast: 1 }, 'pileshuf / as-lines': { atMost: 1.3 } },
  },
  {
    ...articlesCase,
    name: 'articles-ram-zstd-1',
    inMemory: true,
    zstdLevel: 1,
    bars: { 'duckdb / pileshuf': { atLeast: 1.2 } },
  },
  { ...articlesCase, name: 'articles-disk', bars: {} },
  { ...articlesCase, name: 'articles-disk-zstd-1', zstdLevel: 1, bars: { 'duckdb / pileshuf': { atLeast: 1 } } },
  {
    ...articlesCase,
    name: 'articles-cgroup',
    cgroupLimitBytes: 1024 * mebibyte,
    contestants: [...tableCase.contestants, 'uncapped'],
    bars: { 'pileshuf / uncapped': { atMost: 1.3 } },
  },
  {
    ...tableCase,
    name: 'numbers-ram',
    kind: 'numbers',
    lineCount: 1_500_000,
    inMemory: true,
    bars: { 'duckdb / pileshuf': { atLeast: 0.67 } },
  },
  // The table of README.md, which bench/peers.mjs writes.
  { ...sentencesCase, name: 'peers', contestants: peers, rounds: 3, bars: {} },
  {
    ...sentencesCase,
    name: 'peers-cgroup',
    cgroupLimitBytes: tightCgroupBytes,
    contestants: peers,
    rounds: 3,
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
