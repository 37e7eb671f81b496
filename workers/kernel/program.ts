/** The WebAssembly programs of a thread: each is read and compiled once. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { SystemError } from '../../src/errors.js';
import { reasonOf } from '../../src/io/io-error.js';
import { shippedFile } from '../../src/io/shipped-file.js';

const compiled = new Map<string, WebAssembly.Module>();

/** @param moduleUrl the module that the file lies beside. */
export function compiledProgram(name: string, moduleUrl: string): WebAssembly.Module {
  const known = compiled.get(name);
  const program = known ?? new WebAssembly.Module(readProgram(shippedFile(name, moduleUrl)));
  if (known === undefined) compiled.set(name, program);
  return program;
}

function readProgram(url: URL): Uint8Array<ArrayBuffer> {
  try {
    return readFileSync(url);
  } catch (error) {
    const path = fileURLToPath(url);
    throw new SystemError('ERR_IO', `cannot read ${path}, a part of the program: ${reasonOf(error)}`, { cause: error });
  }
}
