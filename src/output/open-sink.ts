/** The sink that a target asks for. */
import type { JobControl } from '../job-control.js';
import { CompressedSink } from './compressed-sink.js';
import { FilesSink } from './files-sink.js';
import { FilesAppender, StreamAppender } from './member-appender.js';
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
  switch (target.kind) {
    case 'placed':
      return new FilesSink(target, start, buffer, control, hasher);
    case 'appended': {
      const { compression, cuts } = target;
      const appender = new FilesAppender(target, control);
      return new CompressedSink({ compression, cuts, start, buffer, appender, control, hasher });
    }
    case 'stream': {
      const { compression } = target;
      if (compression === undefined) return new StreamSink(target, start.turn, buffer, control);
      const appender = new StreamAppender(target, control);
      return new CompressedSink({ compression, cuts: undefined, start, buffer, appender, control, hasher: undefined });
    }
  }
}
