/** The filter shuffle. */

/** Puts the first bytes of all elements together, then the second ones, and so on; or back. */
export function reordered(bytes: Uint8Array, elementBytes: number, isApart: boolean): Uint8Array {
  const count = Math.floor(bytes.byteLength / elementBytes);
  if (elementBytes < 2 || count < 2) return bytes;
  const result = Buffer.allocUnsafeSlow(bytes.byteLength);
  for (let byte = 0; byte < elementBytes; byte++) {
    const start = byte * count;
    if (isApart) for (let i = 0, at = byte; i < count; i++, at += elementBytes) result[start + i] = bytes[at] ?? 0;
    else for (let i = 0, at = byte; i < count; i++, at += elementBytes) result[at] = bytes[start + i] ?? 0;
  }
  result.set(bytes.subarray(count * elementBytes), count * elementBytes);
  return result;
}
