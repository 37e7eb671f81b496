/** Opens the inputs of a job: lists what the caller names, looks whether it is what the job takes it for, reads its headers. */
import type { FramingSpec } from '../formats/framing-table.js';
import type { FoundHeader } from '../formats/header.js';
import type { MemoryNeed } from '../plan/memory-plan.js';
import { memoryFor } from '../plan/pass2-memory.js';
import { refuseForeignFiles } from '../sources/doubtful-records.js';
import { requireDirectory } from '../sources/file-choice.js';
import { readInputHeaders, requireWholeRecords } from '../sources/headers.js';
import type { Inputs } from '../sources/input.js';
import { type ListedInputs, listInputs } from '../sources/list-inputs.js';
import { asRows, openRows, type RowsOfInputs } from '../sources/rows.js';
import type { Callbacks, InputRequest, MachineRequest } from './request.js';

type ListingRequest = InputRequest & Callbacks & Pick<MachineRequest, 'memoryBytes' | 'workers'>;

interface Listing {
  /** The headers that files must have. Undefined: files without content are inputs, too. */
  readonly header: ListingRequest['read']['header'];
  /** True if the output can have a header, so that a warning may advise one. */
  readonly mayHaveHeaders: boolean;
  /** True if files of rows are inputs. Absent: no. */
  readonly takesRows?: boolean;
  /** True if inputs may lie on other machines. Absent: yes. */
  readonly readsRemote?: boolean;
}

export async function listNamedInputs(
  { inputs, read, fileChoice, service, signal, onWarning, onProgress, memoryBytes, workers }: ListingRequest,
  { header, mayHaveHeaders, takesRows = false, readsRemote = true }: Listing,
): Promise<NamedInputs> {
  const onRetry = retryCallback({ onProgress, onWarning });
  const remote = readsRemote ? { memoryBytes, workers, service, onRetry } : undefined;
  const request = { ...read, fileChoice, signal, header, format: read, takesRows, remote };
  const listed = await listInputs(inputs, onWarning, request);
  requireDirectory(fileChoice, listed.directories);
  const readAs = asRows(read, listed.inputs);
  refuseForeignFiles(listed.inputs, readAs, mayHaveHeaders, onWarning);
  return { ...listed, read: readAs };
}

/** Returns a call that tells what the job waits for, if somebody follows it. */
export function retryCallback({ onProgress, onWarning }: Pick<Callbacks, 'onProgress' | 'onWarning'>) {
  return onProgress === undefined ? undefined : onWarning;
}

interface NamedInputs extends ListedInputs {
  /** How the job reads them. */
  readonly read: ListingRequest['read'];
}

interface OpenedInputs {
  readonly inputs: Inputs;
  /** The header that all inputs share; undefined: no headers, or only streams. */
  readonly firstHeader: FoundHeader | undefined;
  /** The framing. Undefined: the headers of streams declare it, or the inputs hold rows. */
  readonly framing: FramingSpec | undefined;
  /** The rows of the inputs. Undefined: the inputs hold no rows. */
  readonly rows: RowsOfInputs | undefined;
}

/**
 * @param need for advice in messages.
 * @param rest whether keys of first samples are compared, and whether no task reads streams.
 */
export async function openHeaders(
  listed: Inputs,
  { read, memoryBytes, signal, onWarning }: Pick<ListingRequest, 'read' | 'memoryBytes' | 'signal' | 'onWarning'>,
  need: () => MemoryNeed,
  { comparesKeys = true, readsStreams = false } = {},
): Promise<OpenedInputs> {
  const rows = await openRows(listed, { read, signal, onWarning, writes: true });
  if (rows !== undefined) return { inputs: rows.inputs, rows, firstHeader: undefined, framing: undefined };
  const format = comparesKeys ? read : { ...read, framing: undefined };
  const budgetFor = (decoderBytes: number) => memoryFor(need(), { recordBytes: 0, decoderBytes });
  const request = { ...format, memoryBytes, signal, onWarning, readsStreams };
  const { inputs, first } = await readInputHeaders(listed, request, budgetFor);
  const framing = read.framing ?? first?.header.framing;
  requireWholeRecords(inputs, framing);
  return { inputs, firstHeader: first, framing, rows: undefined };
}
