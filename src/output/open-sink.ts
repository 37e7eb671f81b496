/** The sink that a target asks for. */
import type { JobControl } from '../io/job-control.js';
import { FilesSink } from './files-sink.js';
import type { OutputHasher, OutputSink, SinkBuffer, SinkStart } from './output-sink.js';
import type { OutputTarget } from './output-target.js';
import { StreamSink } from './stream-sink.js';

/** @param hasher undefined where nobody will ask what was written. */
export function openSink(
  target: OutputTarget,
  start: SinkStart,
  buffer: SinkBuffer,
  control: JobControl,
  hasher: OutputHasher | undefined,
): OutputSink {
  return target.kind === 'files'
    ? new FilesSink(target, start, buffer, control, hasher)
    : new StreamSink(target, start.turn, buffer, control);
}
