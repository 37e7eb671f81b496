/**
 * Says what a shuffle will need, and writes nothing: it takes the steps of a job up to its first byte, with the job's own
 * plan and the job's own errors, and then tells what follows from the plan.
 *
 *     plan      as the job, without its lock and its directories          prepare-shuffle.ts
 *     sizes     records and bytes by samples                              preview-sizes.ts
 *     advice    what would make it faster                                 preview-advice.ts
 */

import { join } from 'node:path';
import { UNGATED } from '../floor/job-control.js';
import { yieldAndCheckAbortAt } from '../floor/pause.js';
import { nameOfCompression } from '../formats/encoder-table.js';
import type { RowFormat } from '../formats/rows/row-format.js';
import type { FileRole } from '../io/io-error.js';
import { readFreeBytes } from '../io/paths.js';
import { listCommittedSlices } from '../job-directory/pile-set-commits.js';
import { mostRecords } from '../keep/head.js';
import { requireRecords } from '../keep/repeat.js';
import { expectSplits } from '../keep/splits.js';
import { DeviceGates } from '../machine/devices.js';
import { readOpenFileLimit } from '../machine/limits.js';
import type { ShuffleOptions, ShuffleTogetherOptions } from '../options/shuffle-options.js';
import { SHUFFLE_OPTIONS } from '../options/shuffle-options.js';
import { inputFactsOf } from '../places/inputs/input-kinds.js';
import { memoryOfPass1, memoryOfPass2, type Tuning } from '../plan/memory-plan.js';
import { scatterLevelsOf, staysInMemory } from '../plan/pile-levels.js';
import { type Inputs, isFileInput, isReadOnce, storedBytesOf } from '../sources/input.js';
import type { WriteSpec } from '../spec.js';
import { requireKnownOptions } from '../values/known-options.js';
import { resumedWork } from './earlier-attempt.js';
import { type JobScope, runJob } from './job.js';
import { type PreparedShuffle, prepareShuffle } from './prepare-shuffle.js';
import { prepareTogether } from './prepare-together.js';
import { adviseOn, FILES_OF_PROCESS, FILES_OF_THREAD } from './preview-advice.js';
import type { MemberPreview, PreviewedDevice, ShufflePreview, TogetherPreview } from './preview-report.js';
import { expectedFiles, expectSizes } from './preview-sizes.js';
import { givenBytesOf } from './request.js';
import { optionsOfMember } from './shuffle-together.js';

/**
 * Says what `shuffle` will need with the same options: memory, temp data, output, open files. It writes nothing,
 * holds no lock, and reads samples of the inputs.
 *
 * @param tuning sizes for tests.
 * @throws PileshufError as `shuffle` before its first byte: for wrong options, bad inputs, too little space.
 */
export async function previewShuffle(options: ShuffleOptions, tuning: Partial<Tuning> = {}): Promise<ShufflePreview> {
  requireKnownOptions('previewShuffle()', options, SHUFFLE_OPTIONS);
  const warnings: string[] = [];
  const onWarning = (line: string) => {
    warnings.push(line);
    options.onWarning?.(line);
  };
  const { value } = await runJob({ ...options, onWarning }, async (scope) => {
    const prepared = await prepareShuffle({ ...options, onWarning }, tuning, scope, { isPreview: true });
    return preview(prepared, tuning, scope);
  });
  return { ...value, warnings };
}

async function preview(
  prepared: PreparedShuffle,
  tuning: Partial<Tuning>,
  { warn }: JobScope,
): Promise<Omit<ShufflePreview, 'warnings'>> {
  const { request, plan, places, inputs } = prepared;
  const { memory, memoryNeed, slices } = plan;
  const given = { budgetBytes: request.memoryBytes, transfers: request.transfers };
  const sizes = await expectSizes(prepared, tuning, warn);
  const { spec } = request;
  if (spec.keep.repeat && sizes !== undefined) requireRecords(sizes.records.most, mostRecords(spec.keep));
  const levels = scatterLevelsOf(memory, memoryNeed.meanRecordBytes);
  const hasTemp = sizes?.tempBytes === undefined || sizes.tempBytes.most > 0;
  const devices = await devicesOf(prepared, hasTemp);
  const openFiles = openFilesOf(prepared);
  const { kind, path } = places.output;
  return {
    inputs: {
      count: inputs.length,
      bytes: plan.inputBytes === undefined ? undefined : storedBytesOf(inputs),
      codecs: codecsOf(inputs),
      records: sizes?.records,
      recordBytes: sizes?.recordBytes,
    },
    slices: slices.length,
    workers: memory.workers,
    piles: { count: memory.pileCount, levels, stayInMemory: staysInMemory(memory) },
    memory: {
      budgetBytes: givenBytesOf(request),
      // With `repeat`, half of the budget is spare in the plan: it takes the records in order.
      pass1: memoryOfPass1(memory, { ...given, mostSlices: memoryNeed.mostSlices }),
      pass2: memoryOfPass2(memory, given),
    },
    temp: { bytes: sizes?.tempBytes, directories: places.tempDirs },
    output: {
      kind,
      path: path === '-' ? undefined : path,
      compression: compressionOf(spec.write, prepared.rowFormat),
      ...sizes?.output,
      files: kind === 'stream' ? undefined : expectedFiles(spec.cut, sizes?.output),
      splits: expectSplits(spec.keep, spec.cut, sizes?.output?.records),
    },
    openFiles,
    devices,
    resumed: resumedBy(prepared),
    isResumable: plan.isResumable,
    advice: adviseOn({ prepared, levels, devices, openFiles, tempBytes: sizes?.tempBytes?.expected ?? 0 }),
  };
}

function openFilesOf({ plan: { memory, memoryNeed, inline }, disks }: PreparedShuffle): ShufflePreview['openFiles'] {
  const limit = readOpenFileLimit();
  const dataFiles = staysInMemory(memory) && memoryNeed.exact ? 0 : memory.stripeCount * disks.count;
  const threads = inline ? 1 : memory.workers;
  const most = FILES_OF_PROCESS + threads * (FILES_OF_THREAD + dataFiles);
  return { most, limit: Number.isFinite(limit) ? limit : undefined };
}

function compressionOf({ compression, rows }: WriteSpec, format: RowFormat | undefined): string | undefined {
  return rows === undefined ? compression && nameOfCompression(compression) : format?.compressionOf?.(rows);
}

function codecsOf(inputs: Inputs): Readonly<Record<string, number>> {
  const codecs: Record<string, number> = {};
  for (const input of inputs) {
    const ofRows = input.rows?.format.toLowerCase();
    const name = isReadOnce(input) ? 'stream' : (ofRows ?? input.codec?.name ?? 'plain');
    codecs[name] = (codecs[name] ?? 0) + 1;
  }
  return codecs;
}

function resumedBy({ earlier, places }: PreparedShuffle): ShufflePreview['resumed'] {
  return earlier && places.paths && resumedWork(earlier, listCommittedSlices(places.paths.jobDirectory).length);
}

async function devicesOf(
  { inputsToRead, places, request }: PreparedShuffle,
  hasTemp: boolean,
): Promise<readonly PreviewedDevice[]> {
  const gates = new DeviceGates(request.ioLimits);
  const used = new Map<string, PreviewedDevice>();
  /** @param written a directory of temp data or output. */
  const use = (what: PreviewedDevice['uses'][number], path: string, role: FileRole, written?: string) => {
    const { id, name, deviceClass } = gates.deviceOf(path, role);
    const gate = gates.gateOf(path, role);
    const { uses = [], freeBytes = written === undefined ? undefined : readFreeBytes(written) } = used.get(id) ?? {};
    used.set(id, {
      id,
      name,
      class: deviceClass,
      uses: uses.includes(what) ? uses : [...uses, what],
      calls: gate === UNGATED ? undefined : gates.permits[gate],
      freeBytes,
    });
  };
  for (const [index, input] of inputsToRead.entries()) {
    await yieldAndCheckAbortAt(index, request.signal);
    if (isFileInput(input) && inputFactsOf(input.path).isOnDisk) use('inputs', input.path, 'input');
  }
  for (const directory of hasTemp ? places.tempDirs : []) use('temp', directory, 'temp', directory);
  if (places.outputDirectory !== undefined) use('output', places.outputDirectory, 'output', places.outputDirectory);
  return [...used.values()];
}

/**
 * Says what `shuffleTogether` will need with the same options, by the checks of the whole job and a preview for each
 * member. It writes nothing, holds no lock, and reads samples of the inputs.
 *
 * @param tuning sizes for tests.
 * @throws PileshufError as `shuffleTogether` before its first byte.
 */
export async function previewTogether(
  options: ShuffleTogetherOptions,
  tuning: Partial<Tuning> = {},
): Promise<TogetherPreview> {
  const { value: job } = await runJob(options, (scope) => prepareTogether(options, scope, true));
  const members: MemberPreview[] = [];
  for (const member of job.members) {
    const { name } = member;
    // Beside the output, as the staged files of the job are: the directory may not be there yet.
    const output = `${job.outputPath}.${name}`;
    const preview = await previewShuffle({ ...optionsOfMember(job, options, member), output }, tuning);
    const path = join(job.outputPath, name);
    members.push({ ...preview, name, isResumable: job.isResumable, output: { ...preview.output, path } });
  }
  return { members, warnings: members.flatMap(({ warnings }) => warnings) };
}
