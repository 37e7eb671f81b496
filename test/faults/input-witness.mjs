/**
 * A module loaded before the command (`node --import`). It records, as lines of JSON, each time that a worker thread opens
 * an input, which happens once a slice, and each write of output with its length.
 *
 * @typedef {{ opened: string } | { written: number }} Sighting
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { isMainThread } from 'node:worker_threads';

const log = process.env['PILESHUF_WITNESS'];
const { openSync, writeSync } = fs;
/** @type {Map<number, string>} */
const paths = new Map();

if (log !== undefined && !isMainThread) {
  /** @param {Sighting} sighting */
  const writeDown = (sighting) => {
    const fd = openSync(log, 'a');
    writeSync(fd, `${JSON.stringify(sighting)}\n`);
    fs.closeSync(fd);
  };
  fs.openSync = (path, ...rest) => {
    const fd = openSync(path, ...rest);
    paths.set(fd, String(path));
    if (/\.input$/.test(String(path))) writeDown({ opened: String(path) });
    return fd;
  };
  Object.assign(fs, {
    /** @param {Parameters<typeof fs.writeSync>} call */
    writeSync: (...call) => {
      const count = writeSync(...call);
      if (/\.part$/.test(paths.get(call[0]) ?? '')) writeDown({ written: count });
      return count;
    },
  });
  syncBuiltinESMExports();
}
