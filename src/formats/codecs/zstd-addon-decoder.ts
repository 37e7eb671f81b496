/**
 * Decodes zstd with the addon `zstd-napi`: libzstd itself, called in the thread that wants the bytes.
 */
import { DECODED_PIECE_BYTES, decodeInSteps, type SynchronousZstdDecoder } from './zstd-decoder.js';
import { type AddonDecompressor, MOST_WINDOW_LOG, type ZstdAddon } from './zstd-native.js';

interface Context {
  readonly decompressor: AddonDecompressor;
  readonly room: Uint8Array;
}

export function addonDecoder(addon: ZstdAddon): SynchronousZstdDecoder {
  // Only the garbage collector frees a context, with the window in it, so that they are used again.
  const idle: Context[] = [];
  const open = (): Context => {
    const decompressor = new addon.DCtx();
    decompressor.setParameter(addon.DParameter.windowLogMax, MOST_WINDOW_LOG);
    return { decompressor, room: new Uint8Array(DECODED_PIECE_BYTES) };
  };
  return {
    name: 'zstd-napi',
    mostWindowBytes: 2 ** MOST_WINDOW_LOG,
    open: () => {
      const context = idle.pop() ?? open();
      const { decompressor, room } = context;
      return {
        decode: (bytes, endsFrame) =>
          decodeInSteps(
            bytes.byteLength,
            endsFrame,
            (consumed, filled) => {
              const [missing, producedBytes, consumedBytes] = decompressor.decompressStream(
                room.subarray(filled),
                bytes.subarray(consumed),
              );
              return { consumedBytes, producedBytes, isFrameOver: missing === 0 };
            },
            (byteLength) => room.subarray(0, byteLength),
          ),
        close: () => {
          decompressor.reset(addon.ResetDirective.sessionOnly);
          idle.push(context);
        },
      };
    },
  };
}
