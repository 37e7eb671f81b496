import type { JobControl } from '../job-control.js';
import { AppendedSink } from './appended-sink.js';
import { ClaimedSink } from './claimed-sink.js';
import { FilesSink } from './files-sink.js';
import type { OutputHasher, OutputSink, OutputTarget, SinkBuffer, SinkEnd, SinkStart } from './output-target.js';
import { StreamSink } from './stream-output.js';

/**
 * @param end undefined: only the records decide.
 * @param hasher undefined when no later attempt reads the output back.
 */
export function openSink(
  target: OutputTarget,
  start: SinkStart,
  end: SinkEnd | undefined,
  buffer: SinkBuffer,
  control: JobControl,
  hasher: OutputHasher | undefined,
): OutputSink {
  switch (target.kind) {
    case 'placed':
      if (target.isClaimed === true) return new ClaimedSink({ target, start, buffer, control, hasher });
      return new FilesSink(target, start, end, buffer, control, hasher);
    case 'appended':
      return new AppendedSink({ target, compression: target.compression, start, buffer, control, hasher });
    case 'stream': {
      const { compression } = target;
      if (compression === undefined) return new StreamSink(target, start.turn, buffer, control);
      return new AppendedSink({ target, compression, start, buffer, control, hasher: undefined });
    }
  }
}
