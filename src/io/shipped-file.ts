/**
 * The files that pileshuf ships beside its modules: threads start with them, and the kernel is one. A program that
 * bundles pileshuf leaves them behind.
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { SystemError } from '../errors.js';

export const IF_BUNDLED =
  'if a bundler put pileshuf into another file, mark pileshuf external (esbuild: --external:pileshuf), else install pileshuf again';

/** @param moduleUrl the module that the file lies beside; undefined in CommonJS bundles, which do not know it. */
export function shippedFile(name: string, moduleUrl: string | undefined): URL {
  const url = moduleUrl === undefined ? undefined : new URL(name, moduleUrl);
  if (url !== undefined && existsSync(url)) return url;
  const place = moduleUrl === undefined ? 'the code of pileshuf' : fileURLToPath(moduleUrl);
  throw new SystemError('ERR_BUNDLED', `${name} of pileshuf is not beside ${place}; ${IF_BUNDLED}`);
}
