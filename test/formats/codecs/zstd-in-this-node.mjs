/**
 * Runs the cases with the zstd of `node:zlib`, in the Node that it is run by, where zstd-napi is hidden; prints what
 * became of them.
 */
import { encodersHere } from '#src/formats/codecs/zstd-encoder.js';
import { findZstdInNode, loadZstdAddon } from '#src/formats/codecs/zstd-native.js';
import { nodeDecoder } from '#src/formats/codecs/zstd-node-decoder.js';
import { packersHere } from '#src/formats/codecs/zstd-packer.js';
import { isSoundDecoder } from '#src/formats/codecs/zstd-probe.js';
import { decoderCases } from './zstd-decoder-cases.mjs';
import { encoderCases } from './zstd-encoder-cases.mjs';
import { packerCases } from './zstd-packer-cases.mjs';

const zstdInNode = findZstdInNode();
if (zstdInNode === undefined) throw new Error(`Node ${process.version} has no zstd`);
if (loadZstdAddon() !== undefined) throw new Error('zstd-napi is not hidden');
const [[openEncoder, ...otherEncoders], [packer, ...otherPackers]] = [encodersHere(), packersHere()];
if (openEncoder === undefined || packer === undefined || otherEncoders.length + otherPackers.length > 0)
  throw new Error(`Node ${process.version} is not all that writes zstd`);
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
for (const [name, run] of Object.entries(encoderCases)) await note(name, () => run(openEncoder));
for (const [name, run] of Object.entries(packerCases)) await note(name, () => run(packer));
console.log(JSON.stringify(outcomes));
