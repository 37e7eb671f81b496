/** HDF5 data begin at byte 0, or after a block of the user, which has 512 bytes, 1024, 2048, ... */

export const HDF5_SIGNATURE = '\x89HDF\r\n\x1a\n';
const LEAST_BLOCK_BYTES = 512;

/** @param read returns fewer bytes at the end of the file. @returns undefined: it is not an HDF5 file. */
export function findStart(
  byteLength: number,
  read: (position: number, byteLength: number) => Uint8Array,
): number | undefined {
  for (let at = 0; at < byteLength; at = Math.max(LEAST_BLOCK_BYTES, 2 * at)) {
    const bytes = read(at, HDF5_SIGNATURE.length);
    if (bytes[0] === 0x89 && Buffer.from(bytes).toString('latin1') === HDF5_SIGNATURE) return at;
  }
  return undefined;
}
