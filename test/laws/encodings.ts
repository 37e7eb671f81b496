/** The encodings of an input: plain, or compressed by the tests themselves. */
import { gzipSync } from 'node:zlib';
import { bgzfOf } from '../formats/codecs/bgzf-file.js';
import { zstdOf, zstdWithoutSizesOf } from '../formats/codecs/zstd-file.js';

/** `zstd`: frames that say their size and hold bytes as they are; `zstd blocks`: compressed ones that do not say it. */
export type Encoding = 'plain' | 'gzip' | 'gzip members' | 'bgzf' | 'zstd' | 'zstd blocks';

export const ENCODINGS: readonly Encoding[] = ['plain', 'gzip', 'gzip members', 'bgzf', 'zstd', 'zstd blocks'];

export function encode(bytes: Buffer, encoding: Encoding): Buffer {
  // Members of all sizes, some of them empty, so that most cuts lie inside a record; a few hundred at most.
  const scale = Math.ceil(bytes.byteLength / 5000);
  const memberBytes = [17, 0, 64, 5, 1, 30, 0, 0].map((size) => size * scale);
  const third = Math.ceil(bytes.byteLength / 3);
  const thirds = [0, 1, 2].map((i) => bytes.subarray(i * third, (i + 1) * third));
  switch (encoding) {
    case 'plain':
      return bytes;
    case 'gzip':
      return gzipSync(bytes, { level: 1 });
    case 'gzip members':
      return Buffer.concat([...thirds.map((part) => gzipSync(part, { level: 1 })), Buffer.alloc(bytes.byteLength % 5)]);
    case 'bgzf':
      return bgzfOf(bytes, memberBytes);
    case 'zstd':
      return zstdOf(bytes, memberBytes);
    case 'zstd blocks':
      return zstdWithoutSizesOf(thirds);
  }
}
