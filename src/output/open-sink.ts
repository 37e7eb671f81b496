/** The sink that a target asks for. */
import type { JobControl } from '../io/job-control.js';
import { FilesSink } from './files-sink.js';
import type { OutputSink, SinkBuffer, SinkStart } from './output-sink.js';
import type { OutputTarget } from './output-target.js';
import { StreamSink } from './stream-sink.js';

export function openSink(target: OutputTarget, start: SinkStart, buffer: SinkBuffer, control: JobControl): OutputSink {
  return target.kind === 'files'
    ? new FilesSink(target, start, buffer, control)
    : new StreamSink(target, start.turn, buffer, control);
}
