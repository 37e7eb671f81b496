/** zstd files of several frames, made with the encoder that outputs are written with. */
import { openZstdEncoder, ZSTD_LEVELS } from '#src/formats/codecs/zstd-encoder.js';

const SKIPPABLE = Buffer.from('502a4d1803000000616263', 'hex');

/** Frames that declare their size, with skippable ones before, between and behind them. */
export function zstdFile(contents: readonly Uint8Array[]): Buffer {
  const encoder = openZstdEncoder(ZSTD_LEVELS.least);
  const frames = contents.flatMap((content, i) => [
    ...(i % 3 === 0 ? [SKIPPABLE] : []),
    encoder.compressFrame(content),
  ]);
  return Buffer.concat([...frames, SKIPPABLE]);
}
