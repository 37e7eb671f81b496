/**
 * How the output is to be compressed, as it was asked for or as its name says, and the temp data.
 */
import { UsageError } from '../errors.js';
import { withoutCodecSuffix } from '../formats/codec-table.js';
import { openZstdPacker } from '../formats/codecs/zstd-writer.js';
import {
  type Compression,
  codecOfName,
  compressionOf,
  OUTPUT_CODECS,
  type OutputCodec,
  openEncoder,
} from '../formats/encoder-table.js';
import type { ShuffleOptions } from './options.js';

/** @throws UsageError also where nothing on this machine can compress so. */
export function chooseCompression(
  options: Pick<ShuffleOptions, 'compress' | 'output' | 'shards' | 'onWarning'>,
): Compression | undefined {
  const { compress, output, shards } = options;
  const codecByName = shards === undefined && output !== undefined ? codecOfName(output) : undefined;
  const compression = compress === undefined ? byName(codecByName) : asAskedFor(compress);
  if (codecByName !== undefined && codecByName !== compression?.codec) {
    options.onWarning?.(
      `the output ${output} will be ${compression === undefined ? 'plain' : compression.codec}, as asked for, though its name says ${codecByName}`,
    );
  }
  const isNamedOtherwise = shards === undefined && output !== undefined && withoutCodecSuffix(output) !== output;
  if (codecByName === undefined && isNamedOtherwise) {
    options.onWarning?.(
      `the output ${output} will be ${compression?.codec ?? 'plain'}, though its name says something else; ${OUTPUT_CODECS.join(' and ')} can be written`,
    );
  }
  if (compression !== undefined) openEncoder(compression);
  return compression;
}

function byName(codec: OutputCodec | undefined): Compression | undefined {
  return codec === undefined ? undefined : compressionOf(codec);
}

function asAskedFor(compress: NonNullable<ShuffleOptions['compress']>): Compression | undefined {
  if (compress === 'none') return undefined;
  // Callers without types may say anything.
  const codec = OUTPUT_CODECS.find((known) => known === compress?.codec);
  if (codec === undefined) {
    throw new UsageError(`compress: expected 'none', or an object with \`codec\` one of ${OUTPUT_CODECS.join(', ')}`);
  }
  return compressionOf(codec, compress.level);
}

/** The least that is gained for the least time: levels above cost more time than they save on any but the slowest disks. */
const USUAL_TEMP_LEVEL = 1;

/** @throws UsageError also where nothing on this machine can compress so. */
export function chooseTempLevel({ tempCompress }: Pick<ShuffleOptions, 'tempCompress'>): number | undefined {
  if (tempCompress === undefined) return undefined;
  const { codec, level = USUAL_TEMP_LEVEL } = tempCompress;
  if (codec !== 'zstd') throw new UsageError("tempCompress: expected an object with `codec` 'zstd'");
  openZstdPacker(level);
  return level;
}
