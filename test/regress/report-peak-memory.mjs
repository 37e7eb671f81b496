// Loaded with `node --import`: at its end the process writes its peak resident memory, in bytes, to a file.
import { readFileSync, writeFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

const path = process.env['PEAK_MEMORY_FILE'];
if (isMainThread && path !== undefined) {
  process.on('exit', () => {
    const kibibytes = /^VmHWM:\s*(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
    writeFileSync(path, String(Number(kibibytes) * 1024));
  });
}
