// @ts-check
// The cases of the cost model: those it is fitted to, those that check it, and those that measure the bare disk.

/** @import { Case } from '../cases.mjs' */
/** @import { ContestantName } from '../contestants.mjs' */

/** @typedef {Case & { role: 'fit' | 'check' | 'disk' }} ModelCase */

const pileshuf = { contestants: /** @type {ContestantName[]} */ (['pileshuf']), bars: {} };
const tightCgroupBytes = 512 * 1024 * 1024;

/** @type {ModelCase[]} */
export const modelCases = [
  {
    name: 'disk-read',
    role: 'disk',
    kind: 'sentences',
    sizeShare: 1,
    contestants: ['read'],
    bars: {},
  },
  {
    name: 'disk-both',
    role: 'disk',
    kind: 'sentences',
    sizeShare: 1,
    cgroupLimitBytes: tightCgroupBytes,
    contestants: ['floor'],
    bars: {},
  },
  { ...pileshuf, name: 'sentences', role: 'fit', kind: 'sentences', sizeShare: 1, memory: '256M' },
  { ...pileshuf, name: 'documents', role: 'fit', kind: 'documents', sizeShare: 1, memory: '256M' },
  { ...pileshuf, name: 'tiny', role: 'fit', kind: 'tiny', sizeShare: 0.5, memory: '256M' },
  { ...pileshuf, name: 'short segments', role: 'fit', kind: 'sentences', sizeShare: 1, memory: '24M' },
  { ...pileshuf, name: 'a quarter', role: 'check', kind: 'sentences', sizeShare: 0.25, memory: '256M' },
  { ...pileshuf, name: 'four times', role: 'check', kind: 'sentences', sizeShare: 4, memory: '256M' },
  { ...pileshuf, name: 'more memory', role: 'check', kind: 'sentences', sizeShare: 1, memory: '1G' },
  { ...pileshuf, name: 'in memory', role: 'check', kind: 'sentences', sizeShare: 1, memory: '8G' },
  { ...pileshuf, name: 'two levels', role: 'check', kind: 'sentences', sizeShare: 1, memory: '8M' },
  { ...pileshuf, name: 'documents, half', role: 'check', kind: 'documents', sizeShare: 0.5, memory: '128M' },
  { ...pileshuf, name: 'tiny, a tenth', role: 'check', kind: 'tiny', sizeShare: 0.05, memory: '64M' },
  {
    ...pileshuf,
    name: 'sentences in a cgroup of 512 MiB',
    role: 'check',
    kind: 'sentences',
    sizeShare: 1,
    memory: '256M',
    cgroupLimitBytes: tightCgroupBytes,
  },
  {
    ...pileshuf,
    name: 'documents in a cgroup of 512 MiB',
    role: 'check',
    kind: 'documents',
    sizeShare: 1,
    memory: '256M',
    cgroupLimitBytes: tightCgroupBytes,
  },
];
