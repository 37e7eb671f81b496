/** The WebAssembly programs of a thread: each is read and compiled once. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { brotliDecompressSync } from 'node:zlib';
import { SystemError } from '../errors.js';
import { reasonOf } from './io-error.js';
import { shippedFile } from './shipped-file.js';

const compiled = new Map<string, WebAssembly.Module>();

/**
 * @param name of the file; one that ends in `.br` is compressed.
 * @param moduleUrl the module that the file lies beside.
 */
export function compiledProgram(name: string, moduleUrl: string): WebAssembly.Module {
  const known = compiled.get(name);
  const program = known ?? new WebAssembly.Module(readProgram(shippedFile(name, moduleUrl)));
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
