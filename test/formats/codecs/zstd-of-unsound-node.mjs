/**
 * Decodes two frames, with a skippable one between them, in a Node whose own zstd, if any, gives nothing, and prints
 * their content.
 */
import { syncBuiltinESMExports } from 'node:module';
import { Transform } from 'node:stream';
import zlib from 'node:zlib';
import { declared, skippable } from './zstd-samples.mjs';

if ('createZstdDecompress' in zlib) {
  const nothing = () => new Transform({ transform: (_bytes, _encoding, done) => done() });
  Object.defineProperty(zlib, 'createZstdDecompress', { value: nothing });
  syncBuiltinESMExports();
}

const { zstd } = await import('#src/formats/codecs/zstd.js');
const given = [Uint8Array.from(Buffer.concat([declared.stored, skippable, declared.stored]))];
const source = { path: 'in', start: 0, next: () => given.shift() ?? new Uint8Array() };
for await (const piece of zstd.decode(source, { reserve: () => true, budgetFor: () => '' }))
  process.stdout.write(piece);
