/**
 * Says what a shuffle will need, and writes nothing: it takes the steps of a job up to its first byte, with the job's own
 * plan and the job's own errors, and then tells what follows from the plan.
 *
 *     plan      as the job, without its lock and its directories          prepare-shuffle.ts
 *     sizes     records and bytes by samples                              preview-sizes.ts
 *     probe     disks, kernel, decoders                                   ../machine/probe-disk.ts, probe-work.ts
 *     time      a model of the passes                                     preview-time.ts
 *     advice    what would make it faster                                 preview-advice.ts
 */

import { UsageError } from '../errors.js';
import { nameOfCompression } from '../formats/encoder-table.js';
import type { Input } from '../inputs/list-inputs.js';
import { listCommittedSlices } from '../job-directory/pile-set-commits.js';
import { requireKnownOptions } from '../known-options.js';
import { DeviceGates } from '../machine/device-gates.js';
import { readMemory, readOpenFileLimit } from '../machine/limits.js';
import { memoryOfPass1, memoryOfPass2 } from '../plan/memory-by-use.js';
import type { Tuning } from '../plan/memory-plan.js';
import { levelsOf, staysInMemory } from '../plan/pile-levels.js';
import { lookForStart, resumedWork } from './earlier-attempt.js';
import { NOTHING } from './expected.js';
import { expectCounts } from './expected-counts.js';
import { type JobScope, runJob } from './job.js';
import { SHUFFLE_OPTIONS } from './option-names.js';
import { type PreparedShuffle, prepareShuffle } from './prepare-shuffle.js';
import { adviseOn } from './preview-advice.js';
import { devicesOf } from './preview-devices.js';
import type { PreviewOptions, ShufflePreview } from './preview-report.js';
import { expectedOf, expectSizes, expectSplits, type JobSizes } from './preview-sizes.js';
import { expectTime } from './preview-time.js';
import { measureWork, previewedJob } from './preview-work.js';
import { expectedFiles } from './timed-job.js';

/**
 * Says what `shuffle` will need with the same options: memory, temp data, output, open files, time. It writes nothing,
 * holds no lock, and reads samples of the inputs.
 *
 * @param tuning sizes for tests.
 * @throws PileshufError as `shuffle` before its first byte: for wrong options, bad inputs, too little space.
 */
export async function previewShuffle(
  { probe = true, ...options }: PreviewOptions,
  tuning: Partial<Tuning> = {},
): Promise<ShufflePreview> {
  requireKnownOptions('previewShuffle()', options, SHUFFLE_OPTIONS);
  if (typeof probe !== 'boolean') throw new UsageError('`probe`: expected true or false');
  const warnings: string[] = [];
  const onWarning = (line: string) => {
    warnings.push(line);
    options.onWarning?.(line);
  };
  const { value } = await runJob({ ...options, onWarning }, async (scope) => {
    const steps = { findStart: lookForStart, countInputs: expectCounts, leavesStreams: true };
    const prepared = await prepareShuffle({ ...options, onWarning }, tuning, scope, steps);
    return preview(prepared, probe, tuning, scope);
  });
  return { ...value, warnings };
}

/** What a process has open beside its threads, and each thread beside data files. */
const FILES_OF_PROCESS = 48;
const FILES_OF_THREAD = 8;

async function preview(
  prepared: PreparedShuffle,
  probe: boolean,
  tuning: Partial<Tuning>,
  { warn }: JobScope,
): Promise<Omit<ShufflePreview, 'warnings'>> {
  const { request, plan, site, inputs, disks } = prepared;
  const { memory, memoryNeed, slices } = plan;
  const gates = new DeviceGates(request.ioLimits);
  const sizes = await expectSizes(prepared, tuning, warn);
  const levels = levelsOf(memory, memoryNeed.meanRecordBytes);
  const stayInMemory = staysInMemory(memory);
  const hasTemp = sizes === undefined || sizes.tempBytes.most > 0;
  const found = await devicesOf(prepared, gates, hasTemp, probe);
  const measured = sizes === undefined ? undefined : await measureWork(prepared, sizes, probe);
  const resumed = resumedBy(prepared);
  const job =
    sizes === undefined || sizes.output === undefined || measured === undefined
      ? undefined
      : previewedJob(
          prepared,
          { ...sizes, output: sizes.output },
          measured,
          levels,
          shareLeft(resumed, prepared, sizes),
        );
  const machine = { slowness: measured?.slowness, freeMemoryBytes: freeMemoryBytes(request.memoryBytes) };
  const time = job === undefined ? undefined : expectTime(job, found.known, machine);
  const limit = readOpenFileLimit();
  const dataFiles = stayInMemory && memoryNeed.exact ? 0 : memory.stripeCount * disks.count;
  const threads = plan.inline ? 1 : memory.workers;
  const openFiles = {
    most: FILES_OF_PROCESS + threads * (FILES_OF_THREAD + dataFiles),
    limit: Number.isFinite(limit) ? limit : undefined,
  };
  const { kind, path } = site.output;
  return {
    inputs: {
      count: inputs.length,
      bytes: plan.inputBytes === undefined ? undefined : storedBytes(inputs),
      codecs: codecsOf(inputs),
      records: sizes?.records,
      recordBytes: sizes?.recordBytes,
    },
    slices: slices.length,
    workers: memory.workers,
    piles: { count: memory.pileCount, levels, stayInMemory },
    memory: {
      budgetBytes: request.memoryBytes,
      drawnBytes: request.memoryBytes - memoryNeed.budgetBytes,
      pass1: memoryOfPass1(memory, memoryNeed),
      pass2: memoryOfPass2(memory, memoryNeed),
    },
    temp: { bytes: sizes?.tempBytes, directories: site.tempDirs },
    output: {
      kind: kind === 'stream' || kind === 'shards' ? kind : 'file',
      path: path === '-' ? undefined : path,
      compression: request.compression && nameOfCompression(request.compression),
      records: sizes?.output?.records,
      recordBytes: sizes?.output?.bytes,
      bytes: sizes?.output?.writtenBytes,
      files: kind === 'stream' ? undefined : expectedFiles(request, sizes?.output && expectedOf(sizes.output)),
      splits: expectSplits(prepared, sizes?.output),
    },
    openFiles,
    devices: found.devices,
    time,
    resumed,
    isResumable: plan.isResumable,
    advice: adviseOn({
      prepared,
      levels,
      longestTaskShare: job?.longestTaskShare,
      devices: found.devices,
      time,
      openFiles,
      tempBytes: (sizes?.tempBytes ?? NOTHING).expected,
    }),
  };
}

function storedBytes(inputs: readonly Input[]): number {
  return inputs.reduce((sum, input) => {
    if (input.kind === 'list') return sum + input.list.bytes.byteLength;
    return sum + (input.kind === 'file' ? input.version.byteLength : 0);
  }, 0);
}

function codecsOf(inputs: readonly Input[]): Readonly<Record<string, number>> {
  const codecs: Record<string, number> = {};
  for (const input of inputs) {
    const name = input.kind === 'stream' ? 'stream' : (input.kind === 'file' && input.codec?.name) || 'plain';
    codecs[name] = (codecs[name] ?? 0) + 1;
  }
  return codecs;
}

function freeMemoryBytes(budgetBytes: number): number {
  return Math.max(0, readMemory().availableBytes - budgetBytes);
}

function resumedBy({ earlier, site }: PreparedShuffle): ShufflePreview['resumed'] {
  if (earlier === undefined || site.kind === 'stream') return undefined;
  return resumedWork(earlier, listCommittedSlices(site.paths.jobDirectory).length);
}

function shareLeft(resumed: ShufflePreview['resumed'], { plan, earlier }: PreparedShuffle, { output }: JobSizes) {
  if (resumed === undefined) return { pass1: 1, pass2: 1 };
  if (earlier?.journal !== undefined) return { pass1: 0, pass2: 0 };
  const left = (done: number, all: number) => Math.max(0, 1 - done / Math.max(1, all));
  return {
    pass1: left(resumed.pileSets, plan.slices.length),
    pass2: left(resumed.outputBytes, output?.bytes.expected ?? 0),
  };
}
