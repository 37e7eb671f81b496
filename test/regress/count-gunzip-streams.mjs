// Loaded with `node --import`: notes the streams of gunzip that are opened, and closed, in a file.
import { appendFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import zlib from 'node:zlib';

const path = process.env['GUNZIP_STREAMS_FILE'] ?? '';

const { createGunzip } = zlib;
/** @param {import('node:zlib').ZlibOptions} options */
const value = (options) => {
  appendFileSync(path, 'opened\n');
  return createGunzip(options).on('close', () => appendFileSync(path, 'closed\n'));
};
Object.defineProperty(zlib, 'createGunzip', { value });
syncBuiltinESMExports();
