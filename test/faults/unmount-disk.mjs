/**
 * A module loaded before the command (`node --import`). It unmounts a file system during the job, when a thread opens its
 * second file of pile data there. PILESHUF_UNMOUNT says whether this is an open for writing or for reading.
 */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const { path: mountPoint, when } = JSON.parse(process.env['PILESHUF_UNMOUNT'] ?? '{}');
const { openSync } = fs;
let opened = 0;

fs.openSync = (path, flags, mode) => {
  const isToWrite = (Number(flags ?? 0) & fs.constants.O_CREAT) !== 0;
  const isIt = String(path).startsWith(mountPoint) && String(path).endsWith('.pile');
  if (isIt && isToWrite === (when === 'write') && ++opened === 2) spawnSync('umount', ['--lazy', mountPoint]);
  return openSync(path, flags, mode);
};
syncBuiltinESMExports();
