/** Decodes with the codec's own command, from another project. */
import { execFileSync } from 'node:child_process';

export function decodeWithTool(codec: 'gzip' | 'zstd', stored: Uint8Array): Buffer {
  return execFileSync(codec, ['-dc'], { input: stored, maxBuffer: 2 ** 30, stdio: ['pipe', 'pipe', 'pipe'] });
}
