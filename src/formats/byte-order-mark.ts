/**
 * The mark with which some programs begin text in UTF-8. It is no part of the first record, which has position 0 all the
 * same; with a header, it is no part of the header. An output begins with the mark if every input with records does.
 */

export const UTF8_MARK = Uint8Array.of(0xef, 0xbb, 0xbf);

export function markBytesOf(head: Uint8Array): number {
  return head[0] === UTF8_MARK[0] && head[1] === UTF8_MARK[1] && head[2] === UTF8_MARK[2] ? UTF8_MARK.byteLength : 0;
}

export function mayBeMark(head: Uint8Array): boolean {
  return head.byteLength < UTF8_MARK.byteLength && head.every((byte, i) => UTF8_MARK[i] === byte);
}
