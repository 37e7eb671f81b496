/**
 * The 512-byte header of a tar member (ustar, POSIX.1-1988), with the extensions of pax (POSIX.1-2001) and GNU tar: the
 * fields needed to find the next header, and the member's name. Names are bytes, held as latin1.
 */

/** Headers begin at multiples of this, and data is filled up to one. */
export const BLOCK_BYTES = 512;
/** Extended headers have some KiB of data. More is taken for damage. */
const MOST_EXTENDED_BYTES = 2 ** 20;

interface TarMember {
  readonly type: string;
  readonly name: string;
  /** True if members of its type have data, whatever size the header declares. */
  readonly hasData: boolean;
}

export interface TarHeader extends TarMember {
  readonly dataBytes: number;
  /** True if the map of a sparse file continues in further blocks before the data. */
  readonly continuesSparseMap: boolean;
}

/** The facts that extended headers declare for the next member, in place of its own. */
export interface MemberOverrides {
  readonly name?: string;
  readonly dataBytes?: number;
}

/** Returns the header, or the defect in words that complete "byte N ...". @param block 512 bytes. */
export function parseTarHeader(block: Uint8Array): TarHeader | string {
  if (!hasChecksum(block)) return 'is not a tar header: its checksum does not match';
  const dataBytes = numberAt(block, 124, 12);
  if (dataBytes === undefined) return 'is a tar header whose size is not a number';
  const { type, name, hasData } = tarMemberOf(block);
  return { type, name, dataBytes, hasData, continuesSparseMap: type === 'S' && block[482] !== 0 };
}

/** @param block a header, which is not checked. */
export function tarMemberOf(block: Uint8Array): TarMember {
  const magic = textAt(block, 257, 6);
  const name = fullName(block, magic);
  const type = typeOf(block, magic, name);
  return { type, name, hasData: !'123456'.includes(type) };
}

/** Returns whether a header is only an extension of the header of the next member, of its link, or of all members. */
export function isExtendedHeader({ type }: TarMember): boolean {
  return 'xXgLK'.includes(type);
}

export function problemOfExtendedHeader({ dataBytes }: TarHeader): string | undefined {
  if (dataBytes <= MOST_EXTENDED_BYTES) return undefined;
  return `is a tar header that claims ${dataBytes} bytes of notes on a member; expected some KiB`;
}

export function parseExtendedHeader({ type }: TarHeader, data: Buffer): MemberOverrides | string {
  if (type === 'L') return { name: textAt(data, 0, data.byteLength) };
  return type === 'K' ? {} : parsePax(data);
}

export function isZeroBlock(block: Uint8Array): boolean {
  return block.every((byte) => byte === 0);
}

export function storedDataBytes({ hasData, dataBytes }: TarHeader, overrides: MemberOverrides = {}): number {
  return hasData ? Math.ceil((overrides.dataBytes ?? dataBytes) / BLOCK_BYTES) * BLOCK_BYTES : 0;
}

function fullName(block: Uint8Array, magic: string): string {
  const name = textAt(block, 0, 100);
  // GNU headers, known by the blanks after the magic, have other fields in place of the prefix.
  const prefix = magic === 'ustar' ? textAt(block, 345, 155) : '';
  return prefix === '' ? name : `${prefix}/${name}`;
}

/**
 * Programs before POSIX marked files by NUL, and directories by a slash after their name. In headers with a magic, a
 * name that ends in a slash may be the beginning of a long one.
 */
function typeOf(block: Uint8Array, magic: string, name: string): string {
  const type = String.fromCharCode(block[156] ?? 0);
  if (type !== '\0') return type;
  return magic === '' && name.endsWith('/') ? '5' : '0';
}

/** The checksum adds all bytes, with blanks in its own place. Some old programs added signed bytes. */
function hasChecksum(block: Uint8Array): boolean {
  const stored = numberAt(block, 148, 8);
  let unsigned = 0;
  let signed = 0;
  for (let i = 0; i < BLOCK_BYTES; i++) {
    const byte = i >= 148 && i < 156 ? 0x20 : (block[i] ?? 0);
    unsigned += byte;
    signed += byte > 127 ? byte - 256 : byte;
  }
  return stored === unsigned || stored === signed;
}

/** Octal digits, or, after a byte of 0x80, a number of base 256, most significant byte first. */
function numberAt(block: Uint8Array, start: number, fieldBytes: number): number | undefined {
  if (block[start] === 0x80) {
    let value = 0;
    for (let i = start + 1; i < start + fieldBytes; i++) value = value * 256 + (block[i] ?? 0);
    return Number.isSafeInteger(value) ? value : undefined;
  }
  const text = textAt(block, start, fieldBytes).trim();
  if (!/^[0-7]*$/.test(text)) return undefined;
  return text === '' ? 0 : Number.parseInt(text, 8);
}

function textAt(bytes: Uint8Array, start: number, fieldBytes: number): string {
  if (bytes[start] === 0) return '';
  const field = Buffer.from(bytes.buffer, bytes.byteOffset + start, fieldBytes);
  const end = field.indexOf(0);
  return field.toString('latin1', 0, end < 0 ? fieldBytes : end);
}

/** Lines of `LENGTH KEY=VALUE\n`. LENGTH counts the whole line; a later line of a key replaces an earlier one. */
function parsePax(data: Buffer): MemberOverrides | string {
  const values = new Map<string, string>();
  for (let from = 0; from < data.byteLength; ) {
    const digits = /^\d{1,8}(?= )/.exec(data.toString('latin1', from, from + 9))?.[0] ?? '';
    const end = from + Number(digits);
    const line = data.toString('latin1', from + digits.length + 1, end - 1);
    const equals = line.indexOf('=');
    if (digits === '' || end > data.byteLength || data[end - 1] !== 0x0a || equals < 0) {
      return 'is a pax header that is not made of lines with their lengths';
    }
    values.set(line.slice(0, equals), line.slice(equals + 1));
    from = end;
  }
  // A sparse file has its name in a field of its own, and a made-up path.
  const name = values.get('GNU.sparse.name') || values.get('path');
  const size = values.get('size');
  if (size !== undefined && !/^\d{1,15}$/.test(size)) return 'is a pax header whose size is not a number';
  return { ...(name ? { name } : {}), ...(size === undefined ? {} : { dataBytes: Number(size) }) };
}
