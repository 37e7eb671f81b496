import { AbortError } from '../errors.js';
import { JobControl } from '../floor/job-control.js';
import { WRITE_OPTIONS, type WriteOptions } from '../options/store-options.js';
import { requireNotRead, requireOpenStandardOutput, standardOutput } from '../places/outputs/output-stream.js';
import { writeToStream } from '../sinks/appended-shards.js';
import { STANDARD_OUTPUT } from '../sinks/output-target.js';
import { filesOfStore } from '../store/store-files.js';
import { requireKnownOptions } from '../values/known-options.js';
import type { Loader } from './loader.js';
import type { RecordBatch } from './record-cursor.js';

export interface WriteReport {
  readonly records: number;
  /** Bytes of the records, without their lengths. */
  readonly bytes: number;
}

/**
 * Writes whole epochs of a loader to standard output.
 * @throws UsageError if standard output is a file of the store; ClosedPipeError if the reader of the output closed it;
 *   AbortError; the errors of the loader
 */
export async function writeEpochs(loader: Loader, options: WriteOptions): Promise<WriteReport> {
  requireKnownOptions('writeEpochs()', options, WRITE_OPTIONS);
  const { endEpoch, withLengths = false, signal } = options;
  requireNotRead(STANDARD_OUTPUT, filesOfStore(loader.storeDirectory));
  requireOpenStandardOutput('');
  const output = standardOutput();
  const control = JobControl.create([], 0);
  const onAbort = () => control.abort();
  signal?.addEventListener('abort', onAbort);
  let records = 0;
  let bytes = 0;
  try {
    for await (const portion of loader.portions(endEpoch)) {
      if (signal?.aborted === true) throw new AbortError(signal.reason, 'incomplete');
      await writeToStream(output, withLengths ? prefixed(portion) : portion.bytes, control);
      records += portion.length;
      bytes += portion.bytes.byteLength;
    }
  } catch (error) {
    throw error instanceof AbortError ? new AbortError(error.cause ?? signal?.reason, 'incomplete') : error;
  } finally {
    signal?.removeEventListener('abort', onAbort);
  }
  return { records, bytes };
}

const LENGTH_BYTES = 4;

function prefixed(portion: RecordBatch): Uint8Array {
  const { bytes, ends } = portion;
  const written = Buffer.allocUnsafe(bytes.byteLength + LENGTH_BYTES * portion.length);
  let at = 0;
  let start = 0;
  for (const end of ends) {
    written.writeUInt32LE(end - start, at);
    written.set(bytes.subarray(start, end), at + LENGTH_BYTES);
    at += LENGTH_BYTES + end - start;
    start = end;
  }
  return written;
}
