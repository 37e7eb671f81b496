/**
 * Loaded before the command (`node --import`): writes down, as lines of JSON, how much temp data and
 * output there is whenever a file of pile data is removed, and what is left when its directory is.
 *
 * @typedef {{ stripe: number, tempBytes: number, outputBytes: number }} Removal after a file was removed
 * @typedef {Removal | { left: string[] }} Sighting
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { basename, join } from 'node:path';

const { temp, output, log } = JSON.parse(process.env['PILESHUF_WITNESS'] ?? '{}');
const { unlinkSync, readdirSync } = fs;
/** Whether it is the end, when all goes. */
let isLeaving = false;

fs.unlinkSync = (path) => {
  unlinkSync(path);
  const stripe = /\.(\d+)\.pile$/.exec(String(path))?.[1];
  if (stripe === undefined || isLeaving) return;
  writeDown({ stripe: Number(stripe), tempBytes: bytesOf(temp, '.pile'), outputBytes: bytesOf(output, '.part') });
};
// A directory is listed when it is removed with all that is in it.
Object.assign(fs, {
  /** @param {Parameters<typeof fs.readdirSync>} call */
  readdirSync: (...call) => {
    if (/\.disk-\d+$/.test(String(call[0]))) {
      isLeaving = true;
      writeDown({ left: filesBelow(String(call[0]), '.pile').map((file) => basename(file)) });
    }
    return readdirSync(...call);
  },
});
syncBuiltinESMExports();

/** @param {Sighting} sighting */
function writeDown(sighting) {
  fs.appendFileSync(log, `${JSON.stringify(sighting)}\n`);
}

/**
 * @param {string} root
 * @param {string} suffix
 */
function filesBelow(root, suffix) {
  const names = readdirSync(root, { encoding: 'utf8', recursive: true });
  return names.filter((name) => name.endsWith(suffix)).map((name) => join(root, name));
}

/**
 * @param {string} root
 * @param {string} suffix
 */
function bytesOf(root, suffix) {
  return filesBelow(root, suffix).reduce((sum, path) => sum + fs.statSync(path).size, 0);
}
