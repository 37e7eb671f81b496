/**
 * The files that pileshuf ships beside its modules: threads start with them, and each thread reads and compiles its
 * WebAssembly programs once.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { brotliDecompressSync } from 'node:zlib';
import { SystemError } from '../errors.js';
import { reasonOf } from './io-error.js';

const compiled = new Map<string, WebAssembly.Module>();

/**
 * @param name of the file; one that ends in `.br` is compressed.
 * @param moduleUrl the module that the file lies beside.
 */
export function compiledProgram(name: string, moduleUrl: string): WebAssembly.Module {
  const known = compiled.get(name);
  const program = known ?? new WebAssembly.Module(readProgram(new URL(name, moduleUrl)));
  if (known === undefined) compiled.set(name, program);
  return program;
}

function readProgram(url: URL): Uint8Array<ArrayBuffer> {
  try {
    const bytes = readFileSync(url);
    return url.pathname.endsWith('.br') ? brotliDecompressSync(bytes) : bytes;
  } catch (error) {
    const path = fileURLToPath(url);
    throw new SystemError('ERR_IO', `cannot read ${path}, a part of the program: ${reasonOf(error)}`, { cause: error });
  }
}

let version: string | undefined;

/** The version of pileshuf, as its package says it. */
export function ownVersion(): string {
  if (version === undefined) {
    const description: { version: string } = createRequire(import.meta.url)('pileshuf/package.json');
    version = description.version;
  }
  return version;
}
