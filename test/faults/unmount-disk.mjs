/**
 * Loaded before the command (`node --import`): takes a file system away, under the eyes of the job, when a
 * thread opens its second file of pile data there for what PILESHUF_UNMOUNT says: to write or to read it.
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
