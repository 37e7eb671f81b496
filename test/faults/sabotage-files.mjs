/**
 * Faults of the disks: writes and reads that report more bytes than they moved. It patches `fs`, because every byte goes
 * through `fs`. Tests of the piles and of the sinks change what lies on a disk.
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

/** @type {Map<number, string>} */
const paths = new Map();

/** @param {number} fd */
export function pathOf(fd) {
  return paths.get(fd) ?? '';
}

/**
 * @param {import('./sabotage.js').Sabotage} sabotage
 * @param {() => boolean} isTheOne
 */
export function sabotageFiles(sabotage, isTheOne) {
  const { openSync, readSync, writeSync } = fs;
  fs.openSync = (path, ...rest) => {
    const fd = openSync(path, ...rest);
    paths.set(fd, String(path));
    return fd;
  };
  /**
   * @param {RegExp} pattern
   * @param {(byteLength: number, position: number) => number | undefined} shorten how much is really written; undefined: all
   */
  const onWrite = (pattern, shorten) =>
    Object.assign(fs, {
      /** @type {(fd: number, bytes: Uint8Array, offset: number, byteLength: number, position: number | null) => number} */
      writeSync: (fd, bytes, offset, byteLength, position) => {
        const count = pattern.test(pathOf(fd)) ? shorten(byteLength, position ?? 0) : undefined;
        if (count === undefined) return writeSync(fd, bytes, offset, byteLength, position);
        if (count > 0) writeSync(fd, bytes, offset, count, position);
        return byteLength;
      },
    });
  switch (sabotage.act) {
    // A write of pile data says that it wrote all and did not.
    case 'short-temp-write':
      onWrite(/\.pile$/, (byteLength) => (isTheOne() ? byteLength >> 1 : undefined));
      break;

    // The write that ends the output says that it wrote all and left one byte out.
    case 'short-output-write':
      onWrite(/\.part$/, (byteLength, position) =>
        position + byteLength === sabotage.outputBytes && isTheOne() ? byteLength - 1 : undefined,
      );
      break;

    // A read of an input says that the file ends here.
    case 'early-end':
      Object.assign(fs, {
        /** @param {Parameters<typeof fs.readSync>} call */
        readSync: (...call) => (/\.input$/.test(pathOf(call[0])) && isTheOne() ? 0 : readSync(...call)),
      });
      break;
  }
  syncBuiltinESMExports();
}
