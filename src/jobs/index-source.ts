/**
 * The file that is to be indexed, examined: what is asked of it can be done, or is refused here.
 */
import { InputError, UsageError } from '../errors.js';
import type { FramingSpec } from '../formats/record-format.js';
import { readInputHeaders, requireWholeRecords } from '../inputs/headers.js';
import { type JobInput, listInputs } from '../inputs/list-inputs.js';
import { RegularInput } from '../io/input-source.js';
import { statPath } from '../io/paths.js';
import { JobControl, UNGATED } from '../job-control.js';
import { readOpenFileLimit } from '../machine/limits.js';
import type { MemoryNeed } from '../plan/memory-plan.js';
import { memoryForDecoder } from '../plan/record-memory.js';
import type { IndexOptions } from './index-options.js';
import { completeRequest, type JobRequest } from './request.js';

export interface IndexSource {
  readonly request: JobRequest;
  readonly input: JobInput & { kind: 'file' };
  readonly framing: FramingSpec;
  /** For advice in messages. */
  readonly memoryNeed: MemoryNeed;
  /** @throws InputError ERR_INPUT_CHANGED */
  readonly requireUnchanged: () => void;
}

const USUAL_RECORD_BYTES = 200;

/** @throws InputError, UsageError */
export async function openSource(file: string, options: IndexOptions): Promise<IndexSource> {
  const { index, ...shared } = options;
  if (index === '') throw new UsageError('index: expected a path that is not empty');
  const request = completeRequest({ ...shared, inputs: [{ path: file }] });
  if (statPath(file, 'input')?.isDirectory() === true) {
    throw new InputError(
      'ERR_INPUT_UNREADABLE',
      `${file} is a directory; expected one file, and each has an index of its own`,
    );
  }
  const { inputs } = await listInputs(request.inputs, request.onWarning, undefined, request.signal);
  const memoryNeed = memoryNeedOf(request, inputs);
  const budgetFor = (byteLength: number) => memoryForDecoder(memoryNeed, byteLength);
  const withHeaders = await readInputHeaders(inputs, request, budgetFor);
  const framing = request.framing ?? withHeaders.first?.header.framing;
  requireWholeRecords(withHeaders.inputs, framing);
  const [input] = withHeaders.inputs;
  if (input?.kind !== 'file' || framing === undefined) {
    throw new InputError(
      'ERR_INPUT_UNREADABLE',
      `${file} is no regular file, in which records can be read in any order`,
    );
  }
  return { request, input, framing, memoryNeed, requireUnchanged: () => requireUnchanged(input) };
}

function memoryNeedOf({ memoryBytes, workers }: JobRequest, inputs: readonly JobInput[]): MemoryNeed {
  const [input] = inputs;
  return {
    budgetBytes: memoryBytes,
    workers,
    mostSlices: Number.POSITIVE_INFINITY,
    recordBytes: Math.max(1, input?.kind === 'file' ? input.version.byteLength : 1),
    meanRecordBytes: USUAL_RECORD_BYTES,
    exact: false,
    tempDiskCount: 1,
    tempDisksRotate: false,
    openFileLimit: readOpenFileLimit(),
    isResumable: false,
    holdsOutput: false,
    layout: undefined,
  };
}

/** Opening it compares it with what was planned. */
function requireUnchanged({ path, version }: JobInput & { kind: 'file' }): void {
  new RegularInput(path, version, JobControl.create([], 0), UNGATED).close();
}
