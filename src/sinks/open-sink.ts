import { AppendedSink } from './appended-sink.js';
import { ClaimedSink, FilesSink } from './files-sink.js';
import type { OutputSink, SinkParts } from './output-target.js';

/** @param byteLength of all records that will come, if that is known. */
export function openSink({ target, ...parts }: SinkParts, byteLength?: number): OutputSink {
  switch (target.kind) {
    case 'placed':
      return new FilesSink({ target, ...parts });
    case 'claimed':
      return new ClaimedSink({ target, ...parts }, byteLength);
    default:
      return new AppendedSink({ target, ...parts });
  }
}
