/**
 * Runs the cases with the zstd of `node:zlib` in the present Node, and prints the results. Its argument is the seed of the
 * cases.
 */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { isSoundDecoder } from '#src/formats/codecs/zstd.js';
import { findZstdInNode, nodeDecoder } from '#src/formats/codecs/zstd-decoders.js';
import { usableWriters } from '#src/formats/codecs/zstd-writer.js';
import { decoderCases } from './zstd-decoder-cases.mjs';
import { encoderCases, packerCases } from './zstd-writer-cases.mjs';

fc.configureGlobal({ seed: Number(process.argv[2]) });
const zstdInNode = findZstdInNode();
if (zstdInNode === undefined) throw new Error(`Node ${process.version} has no zstd`);
const [writer = assert.fail()] = usableWriters();
const decoder = nodeDecoder(zstdInNode);

/** @type {Record<string, string>} */
const outcomes = { 'is sound': (await isSoundDecoder(decoder)) ? 'passed' : 'failed' };

/** @type {(name: string, run: () => unknown) => Promise<void>} */
async function note(name, run) {
  try {
    await run();
    outcomes[name] = 'passed';
  } catch (error) {
    outcomes[name] = String(error);
  }
}

for (const [name, run] of Object.entries(decoderCases)) await note(name, () => run(decoder));
for (const [name, run] of Object.entries(encoderCases)) await note(name, () => run(writer));
for (const [name, run] of Object.entries(packerCases)) await note(name, () => run(writer));
console.log(JSON.stringify(outcomes));
