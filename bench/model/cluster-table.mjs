// @ts-check
// The table of docs/CLUSTER-SCALE.md: what the cost model expects of a shuffle as tasks on several nodes, beside what others
// have published of shuffles and sorts of that size. Pure.
//
// Each node does an equal part of the bytes with its cores, and reads and writes it through its share of the storage. The
// piles are those that the planner chooses for all of the data with the memory of one task; the slices are those of
// `src/cluster/make-plan.ts`.

import { predict } from './cost-model.mjs';
import { planJob } from './planned-job.mjs';
import { hours, markdown, whole } from './scale-tables.mjs';

/** @import { Costs, PassTime } from './cost-model.mjs' */
/** @import { PlannedJob } from './planned-job.mjs' */

const GIB = 2 ** 30;
const TB = 1e12;
const CORES = 16;
const TASK_MEMORY_BYTES = 48 * GIB;
const MEMORY_BYTES_PER_SECOND = 80e9;
/** One task has all cores of its node. */
const TASKS_A_NODE = 2;
const SLICES_A_THREAD = 2;
/** As docs/CLUSTER.md says: what a shuffle task reads of the index of each slice. */
const INDEX_BYTES_A_PILE = 30;
/** What a scheduler and a start take of each task. */
const TASK_START_SECONDS = 2;
/** The wait for a read of shared storage, besides its bytes. */
const CALL_SECONDS = 500e-6;
const RECORD_BYTES = 105;
const OPEN_FILE_LIMIT = 2 ** 20;

const sizes = [10 * TB, 100 * TB];
const nodeCounts = [16, 64];
/** Each way, of each node: 10, 25 and 100 Gbit/s. */
const storageBytesPerSecond = [1.2e9, 3.1e9, 12.5e9];

/** @type {{ name: string, bytes: number, nodes: number, seconds: number }[]} */
const published = [
  { name: 'Exoshuffle-CloudSort, 2022', bytes: 100 * TB, nodes: 40, seconds: 5378 },
  { name: 'Tencent Sort, 2016', bytes: 100 * TB, nodes: 512, seconds: 98.8 },
];

/** @param {number} bytes @param {number} nodes @returns {PlannedJob} the part of one node */
function partOfNode(bytes, nodes) {
  const all = planJob({
    bytes,
    records: bytes / RECORD_BYTES,
    budgetBytes: TASK_MEMORY_BYTES,
    workers: CORES,
    tempDisks: 1,
    rotates: false,
    openFileLimit: OPEN_FILE_LIMIT,
  });
  const slices = nodes * TASKS_A_NODE * CORES * SLICES_A_THREAD;
  const segments = all.storedBytes / all.bufferBytes + (slices * all.piles) / 2;
  return {
    ...all,
    bytes: bytes / nodes,
    records: all.records / nodes,
    storedBytes: all.storedBytes / nodes,
    slices,
    segments: segments / nodes,
  };
}

/** @param {Costs} costs @param {number} bytes @param {number} nodes @param {number} bytesPerSecond */
function predictCluster(costs, bytes, nodes, bytesPerSecond) {
  const job = partOfNode(bytes, nodes);
  // A link carries both ways at once, and each pass reads as much as it writes.
  const speed = 2 * bytesPerSecond;
  const disks = {
    count: 1,
    readBytesPerSecond: speed,
    writeBytesPerSecond: speed,
    seekSeconds: 0,
    callSeconds: CALL_SECONDS,
  };
  const machine = { disks, cachedTempBytes: 0, memoryBytesPerSecond: MEMORY_BYTES_PER_SECOND };
  const { seconds, passes } = predict(costs, job, machine);
  const indexSeconds = (TASKS_A_NODE * job.slices * job.piles * INDEX_BYTES_A_PILE) / bytesPerSecond;
  return { seconds: seconds + indexSeconds + 2 * TASKS_A_NODE * TASK_START_SECONDS, passes };
}

/** @param {Costs} costs @returns {string[]} */
export function clusterTable(costs) {
  const rows = sizes.flatMap((bytes) =>
    nodeCounts.flatMap((nodes) =>
      storageBytesPerSecond.map((bytesPerSecond) => {
        const { seconds, passes } = predictCluster(costs, bytes, nodes, bytesPerSecond);
        const limits = passes.map((/** @type {PassTime} */ { limit }) => (limit === 'disks' ? 'storage' : limit));
        return [
          `${bytes / TB} TB`,
          whole(nodes),
          `${(bytesPerSecond / 1e9).toFixed(1)} GB/s`,
          hours(seconds),
          speedOf(bytes, nodes, seconds),
          limits.join(', '),
        ];
      }),
    ),
  );
  const heads = ['data', 'nodes', 'storage, each node', 'time', 'MB/s a node', 'what limits each pass'];
  return markdown(heads, rows);
}

/** @returns {string[]} */
export function publishedTable() {
  const rows = published.map(({ name, bytes, nodes, seconds }) => [
    name,
    `${bytes / TB} TB`,
    whole(nodes),
    hours(seconds),
    speedOf(bytes, nodes, seconds),
  ]);
  return markdown(['published', 'data', 'nodes', 'time', 'MB/s a node'], rows);
}

/** @param {number} bytes @param {number} nodes @param {number} seconds */
function speedOf(bytes, nodes, seconds) {
  return whole(bytes / nodes / seconds / 1e6);
}
