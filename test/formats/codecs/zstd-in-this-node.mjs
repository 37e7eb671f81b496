/**
 * Runs the cases with the zstd of `node:zlib` in the present Node, with zstd-napi hidden, and prints the results. Its
 * argument is the seed of the cases.
 */
import fc from 'fast-check';
import { isSoundDecoder } from '#src/formats/codecs/zstd.js';
import { findZstdInNode, loadZstdAddon, nodeDecoder } from '#src/formats/codecs/zstd-decoders.js';
import { writersHere } from '#src/formats/codecs/zstd-writer.js';
import { decoderCases } from './zstd-decoder-cases.mjs';
import { encoderCases, packerCases } from './zstd-writer-cases.mjs';

fc.configureGlobal({ seed: Number(process.argv[2]) });
const zstdInNode = findZstdInNode();
if (zstdInNode === undefined) throw new Error(`Node ${process.version} has no zstd`);
if (loadZstdAddon() !== undefined) throw new Error('zstd-napi is not hidden');
const [writer, ...others] = writersHere();
if (writer === undefined || others.length > 0) throw new Error(`Node ${process.version} is not all that writes zstd`);
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
