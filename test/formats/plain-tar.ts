/** Tar files, made and taken apart in the simplest way, by the published layout. Shares no code with the program. */

/** The ways to say a name and a size. */
export const TAR_DIALECTS = ['ustar', 'prefix', 'gnu', 'pax', 'base-256', 'v7'] as const;
export type TarDialect = (typeof TAR_DIALECTS)[number];

export interface TarEntry {
  /** Ends in a slash: a directory. */
  readonly name: string;
  readonly data?: Buffer;
  readonly dialect?: TarDialect;
}

interface HeaderFields {
  readonly name: string;
  readonly prefix?: string;
  readonly byteLength: number;
  readonly type: string;
  readonly isBase256?: boolean;
  /** That of GNU has blanks, and other things where the prefix would be. */
  readonly magic?: string;
}

/** One block of 512 bytes. */
export function tarHeader({ name, prefix = '', byteLength, type, isBase256, magic = 'ustar\x0000' }: HeaderFields) {
  const block = Buffer.alloc(512);
  block.write(name, 0, 100, 'utf8');
  block.write('0000644\0', 100);
  block.write('0001750\0', 108);
  block.write('0001750\0', 116);
  if (isBase256 === true) {
    block[124] = 0x80;
    block.writeBigUInt64BE(BigInt(byteLength), 128);
  } else block.write(`${byteLength.toString(8).padStart(11, '0')}\0`, 124);
  block.write('14000000000\0', 136);
  block.write(type, 156);
  block.write(magic, 257, 'latin1');
  block.write(magic.includes(' ') ? '14000000000\0' : prefix, 345);
  return withChecksum(block);
}

/** Fills in the sum of all bytes. */
export function withChecksum(block: Buffer): Buffer {
  block.fill(' ', 148, 156);
  const sum = block.reduce((all, byte) => all + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return block;
}

/** A header of this type, and its data. */
export function tarNote(type: string, text: string): Buffer {
  const data = Buffer.from(text);
  const name = 'LK'.includes(type) ? '././@LongLink' : 'PaxHeaders/note';
  return Buffer.concat([tarHeader({ name, byteLength: data.byteLength, type }), padded(data)]);
}

/** A line of a pax header; its length counts its own digits. */
export function paxLine(key: string, value: string): string {
  const rest = Buffer.byteLength(` ${key}=${value}\n`);
  let length = rest + 1;
  while (rest + String(length).length !== length) length += 1;
  return `${length} ${key}=${value}\n`;
}

/** All blocks of an entry. */
export function tarEntry({ name, data = Buffer.alloc(0), dialect = 'ustar' }: TarEntry): Buffer {
  const { byteLength } = data;
  const type = name.endsWith('/') ? '5' : '0';
  const blocks = (header: Buffer, ...before: Buffer[]) => Buffer.concat([...before, header, padded(data)]);
  switch (dialect) {
    case 'prefix': {
      const cut = name.lastIndexOf('/', name.length - 2);
      if (cut < 0) return tarEntry({ name, data });
      return blocks(tarHeader({ name: name.slice(cut + 1), prefix: name.slice(0, cut), byteLength, type }));
    }
    case 'gnu':
      return blocks(
        tarHeader({ name: name.slice(0, 9), byteLength, type, magic: 'ustar  \0' }),
        tarNote('K', 'a link that is not one\0'),
        tarNote('L', `${name}\0`),
      );
    case 'pax':
      // Its own name and size must not count.
      return blocks(
        tarHeader({ name: 'PaxHeaders/made.up', byteLength: 0, type }),
        tarNote('x', paxLine('path', name) + paxLine('size', String(byteLength)) + paxLine('mtime', '1.5')),
      );
    case 'v7':
      return blocks(tarHeader({ name, byteLength, type: '\0', magic: '' }));
    default:
      return blocks(tarHeader({ name, byteLength, type, isBase256: dialect === 'base-256' }));
  }
}

/** A whole tar file. */
export function tarOf(entries: readonly TarEntry[], zeroBlocks = 2): Buffer {
  return Buffer.concat([...entries.map(tarEntry), Buffer.alloc(zeroBlocks * 512)]);
}

function padded(data: Buffer): Buffer {
  return Buffer.concat([data, Buffer.alloc(-data.byteLength & 511)]);
}

/** Samples: members that follow each other with one key, directories with the sample behind them or the last one. */
export function splitTar(input: Buffer): Buffer[] {
  const records: { key: string; parts: Buffer[] }[] = [];
  let waiting: Buffer[] = [];
  let long: { path?: string; size?: number } = {};
  for (let at = 0; at < input.byteLength && input[at] !== 0; ) {
    const block = input.subarray(at, at + 512);
    const text = (from: number, to: number) => block.toString('latin1', from, to).split('\0')[0] ?? '';
    const type = text(156, 157);
    const size = block[124] === 0x80 ? Number(block.readBigUInt64BE(128)) : Number.parseInt(text(124, 136), 8);
    const isMember = !'xLK'.includes(type) || type === '';
    const end = at + 512 + Math.ceil((isMember ? (long.size ?? size) : size) / 512) * 512;
    const whole = input.subarray(at, end);
    const data = whole.subarray(512, 512 + size).toString('latin1');
    at = end;
    if (type === 'L') long.path = data.replace('\0', '');
    if (type === 'x') long = { path: /path=(.*)\n/.exec(data)?.[1] ?? '', size: Number(/size=(.*)\n/.exec(data)?.[1]) };
    waiting.push(whole);
    if (!isMember) continue;
    const prefix = text(257, 265) === 'ustar' ? text(345, 500) : '';
    const path = long.path ?? (prefix === '' ? text(0, 100) : `${prefix}/${text(0, 100)}`);
    long = {};
    if (path.endsWith('/')) continue;
    const slash = path.lastIndexOf('/') + 1;
    const key = path.slice(0, path.indexOf('.', slash));
    if (records.at(-1)?.key === key) records.at(-1)?.parts.push(...waiting);
    else records.push({ key, parts: waiting });
    waiting = [];
  }
  if (records.length === 0) records.push({ key: '', parts: [] });
  records.at(-1)?.parts.push(...waiting);
  return records.map(({ parts }) => Buffer.concat(parts)).filter(({ byteLength }) => byteLength > 0);
}
