// Loaded with `node --import`: each thread notes the native contexts that it opens, and closes, in a file.
import { appendFileSync } from 'node:fs';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { threadId } from 'node:worker_threads';
import zlib from 'node:zlib';

const path = process.env['NATIVE_CONTEXTS_FILE'] ?? '';
/** @param {string} what */
const note = (what) => appendFileSync(path, `thread ${threadId}: ${what}\n`);

const addon = createRequire(import.meta.url)('zstd-napi/binding');
for (const name of ['CCtx', 'DCtx']) {
  const construct = (/** @type {new () => object} */ Context) => {
    note(name);
    return new Context();
  };
  addon[name] = new Proxy(addon[name], { construct });
}

const { createGunzip } = zlib;
/** @param {import('node:zlib').ZlibOptions} options */
const value = (options) => {
  note('gunzip opened');
  return createGunzip(options).on('close', () => note('gunzip closed'));
};
Object.defineProperty(zlib, 'createGunzip', { value });
syncBuiltinESMExports();
