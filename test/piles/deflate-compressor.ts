/** Compresses segments with deflate, which every Node has: pile sets do not depend on the compressor. */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { SegmentCompressor, SegmentExpander } from '#src/piles/segments.js';

export const deflateCompressor: SegmentCompressor & SegmentExpander = {
  compress: (bytes) => {
    const compressed = deflateRawSync(bytes, { level: 1 });
    return compressed.byteLength < bytes.byteLength ? compressed : undefined;
  },
  expand: (bytes, target) => {
    const expanded = inflateRawSync(bytes, { maxOutputLength: target.byteLength });
    if (expanded.byteLength !== target.byteLength) throw new Error('of another length');
    target.set(expanded);
  },
};
