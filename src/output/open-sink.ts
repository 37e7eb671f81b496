import { AppendedSink } from './appended-sink.js';
import { ClaimedSink, FilesSink } from './files-sink.js';
import type { OutputSink, SinkParts } from './output-target.js';

/** @param byteLength of all records that will come, if that is known. */
export function openSink({ target, ...parts }: SinkParts, byteLength?: number): OutputSink {
  if (target.kind !== 'placed') return new AppendedSink({ target, ...parts });
  return target.isClaimed === true
    ? new ClaimedSink({ target, ...parts }, byteLength)
    : new FilesSink({ target, ...parts });
}
