/** Says what would make a job faster, or let it do with less: found in its plan, without doing anything. */

import { IGZIP } from '../formats/codecs/igzip.js';
import { framingOf } from '../formats/framing-table.js';
import { isProgram } from '../machine/child-program.js';
import { readMemory } from '../machine/limits.js';
import { budgetText, leastMemoryForPlan, scatterLevelsOf, staysInMemory } from '../plan/pile-levels.js';
import type { Slice } from '../plan/slices.js';
import { mayBeCut } from '../sources/cut-points.js';
import { type FileInput, isFileInput, storedBytesIn } from '../sources/input.js';
import { formatBytes, nameSome } from '../values/format-numbers.js';
import type { PreparedShuffle } from './prepare-shuffle.js';
import type { Advice, PreviewedDevice, ShufflePreview } from './preview-report.js';

/** The part of pass 1 that its longest task may have, in shares of a thread. */
const LONG_TASK = 1.3;
/** Smaller inputs are done before advice is read. */
const LEAST_BYTES = 256 * 2 ** 20;
/** The least temp data for which another level is advised: with less, it costs little. */
const LEAST_TEMP_BYTES = 2 ** 30;
/** The files that a process has open beside its threads, and each thread beside data files. */
export const FILES_OF_PROCESS = 48;
export const FILES_OF_THREAD = 8;

interface AdvisedJob {
  readonly prepared: PreparedShuffle;
  readonly levels: number;
  readonly devices: readonly PreviewedDevice[];
  readonly openFiles: ShufflePreview['openFiles'];
  readonly tempBytes: number;
}

export function adviseOn(job: AdvisedJob): readonly Advice[] {
  return [...onInputs(job), ...onDecoders(job), ...onMemory(job), ...onDisks(job), ...onFiles(job)];
}

function onInputs({ prepared }: AdvisedJob): Advice[] {
  const { inputsToRead, plan, request } = prepared;
  const { workers } = plan.memory;
  if (plan.memoryNeed.hasStreams || workers < 2) return [];
  if (longestTaskShare(prepared) * workers < LONG_TASK) return [];
  const { framing: ofRecords } = request.spec.read;
  const framing = ofRecords && framingOf(ofRecords);
  let largest: FileInput | undefined;
  let ordinal = 0;
  for (const [i, input] of inputsToRead.entries()) {
    if (!isFileInput(input) || input.version.byteLength <= (largest?.version.byteLength ?? -1)) continue;
    [largest, ordinal] = [input, i];
  }
  if (largest === undefined || largest.version.byteLength < LEAST_BYTES) return [];
  const { path, codec, version } = largest;
  const size = formatBytes(version.byteLength);
  const isCut = plan.slices.filter((slice) => slice.some((part) => part.inputOrdinal === ordinal)).length;
  if (isCut > 1) return [];
  if (codec === undefined) {
    if (mayBeCut(largest, framing)) return [];
    const text = `${path} (${size}) keeps one core busy for most of pass 1, because such a file cannot be cut: make several files of it`;
    return [{ about: 'input', text }];
  }
  const text = `${path} (${size}, ${codec.name}) keeps one core busy for most of pass 1: recompress it with bgzip, with zstd in many frames, or make several files of it`;
  return [{ about: 'input', text }];
}

function longestTaskShare({ plan, inputsToRead, estimate: { decodedBytes } }: PreparedShuffle): number {
  const bytesOf = (slice: Slice) =>
    slice.reduce((sum, { inputOrdinal, start, end, members }) => {
      const input = inputsToRead.at(inputOrdinal);
      const isDecodedWhole = input?.codec !== undefined && members === undefined;
      const bytes = isDecodedWhole || end === undefined ? (decodedBytes[inputOrdinal] ?? 0) : end - start;
      return sum + bytes;
    }, 0);
  const bytes = plan.slices.map(bytesOf);
  const all = bytes.reduce((sum, each) => sum + each, 0);
  return bytes.reduce((most, each) => Math.max(most, each), 0) / Math.max(1, all);
}

function onDecoders({ prepared }: AdvisedJob): Advice[] {
  const { inputsToRead, request } = prepared;
  const gzipBytes = inputsToRead.reduce(
    (sum, input) => sum + (input.codec?.name === 'gzip' ? (storedBytesIn(input) ?? 0) : 0),
    0,
  );
  if (gzipBytes < LEAST_BYTES || !request.spec.read.igzip || isProgram(IGZIP)) return [];
  const text = 'gzip takes most of the time of pass 1: install igzip (isa-l), which decodes it in a third of the time';
  return [{ about: 'decoder', text }];
}

function onMemory({ prepared, levels, tempBytes }: AdvisedJob): Advice[] {
  const { plan, request } = prepared;
  const { memoryNeed, memory } = plan;
  if (staysInMemory(memory) || memoryNeed.layout !== undefined || memoryNeed.hasStreams) return [];
  const { totalBytes, availableBytes } = readMemory();
  if (request.spec.keep.repeat) {
    const budget = leastMemoryForPlan(memoryNeed, totalBytes, staysInMemory);
    const lack = 'by the samples, the records may not fit in memory twice, and then a job with `repeat` is refused';
    const text = budget === undefined ? lack : `${lack}: \`memoryBytes\` ${budgetText(budget)} is enough`;
    return [{ about: 'memory', text }];
  }
  const advice: Advice[] = [];
  const inMemory = leastMemoryForPlan(memoryNeed, Math.floor(availableBytes * 0.8), staysInMemory);
  if (inMemory !== undefined) {
    const text = `with \`memoryBytes\` ${budgetText(inMemory)} all records stay in memory, and no temp data is written`;
    return [{ about: 'memory', text }];
  }
  if (levels > 1 && tempBytes >= LEAST_TEMP_BYTES) {
    const budget = leastMemoryForPlan(
      memoryNeed,
      totalBytes,
      (larger) => scatterLevelsOf(larger, memoryNeed.meanRecordBytes) === 1,
    );
    const saved = 'which saves writing and reading all temp data once more';
    const text =
      budget === undefined
        ? `each record is put on piles ${levels} times, because the memory is small for so much data: fewer \`workers\` have more each`
        : `with \`memoryBytes\` ${budgetText(budget)} one level of piles is enough, ${saved}`;
    advice.push({ about: 'levels', text });
  }
  return advice;
}

function onDisks({ devices, tempBytes }: AdvisedJob): Advice[] {
  if (tempBytes < LEAST_TEMP_BYTES) return [];
  return devices.flatMap(({ name, uses, class: kind }) => {
    if (!uses.includes('temp') || uses.length < 2 || kind === 'memory') return [];
    const words = { inputs: 'inputs', temp: 'temp data', output: 'output' };
    const shared = uses.map((use) => words[use]);
    const list = shared.length === 2 ? shared.join(' and ') : `${shared.slice(0, -1).join(', ')} and ${shared.at(-1)}`;
    const text = `${list} share the disk ${name}: where it is slower than the cores, name directories on other disks with \`tempDirs\``;
    return [{ about: 'disk', text }];
  });
}

function onFiles({ prepared, openFiles }: AdvisedJob): Advice[] {
  const { plan, request, disks } = prepared;
  const { workers, stripeCount } = plan.memory;
  if (plan.inline || openFiles.limit === undefined) return [];
  const wanted = FILES_OF_PROCESS + request.workers * (FILES_OF_THREAD + 4 * Math.max(1, disks.count));
  if (openFiles.limit >= wanted) return [];
  const lacks = [
    ...(workers < request.workers ? [`${workers} of ${request.workers} workers`] : []),
    ...(stripeCount < 4 && !staysInMemory(plan.memory) ? ['more temp space beside the output'] : []),
  ];
  if (lacks.length === 0) return [];
  const text = `\`ulimit -n\` is ${openFiles.limit}, which means ${nameSome(lacks)}: raise it to ${wanted} or more`;
  return [{ about: 'open files', text }];
}
