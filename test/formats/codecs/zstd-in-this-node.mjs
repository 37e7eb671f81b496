/** Runs the cases with the zstd of `node:zlib`, in the Node that it is run by; prints what became of them. */
import { findZstdInNode } from '#src/formats/codecs/zstd-native.js';
import { nodeDecoder } from '#src/formats/codecs/zstd-node-decoder.js';
import { isSoundDecoder } from '#src/formats/codecs/zstd-probe.js';
import { decoderCases } from './zstd-decoder-cases.mjs';

const zstdInNode = findZstdInNode();
if (zstdInNode === undefined) throw new Error(`Node ${process.version} has no zstd`);
const decoder = nodeDecoder(zstdInNode);
/** @type {Record<string, string>} */
const outcomes = { 'is sound': (await isSoundDecoder(decoder)) ? 'passed' : 'failed' };
for (const [name, run] of Object.entries(decoderCases)) {
  outcomes[name] = await run(decoder).then(
    () => 'passed',
    (/** @type {unknown} */ error) => String(error),
  );
}
console.log(JSON.stringify(outcomes));
