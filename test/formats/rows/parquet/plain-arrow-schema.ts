/** Arrow's schemas as programs write them into the metadata of Parquet files, and a reader of them for tests. */

/**
 * By pyarrow 25: a int64, at timestamp[us, America/New_York], s struct<x: int64, y: large_string>, l list<struct<x, y>>;
 * metadata pandas and k.
 */
export const ARROW_SCHEMA = [
  '/////8ACAAAQAAAAAAAKAA4ABgAFAAgACgAAAAABBAAQAAAAAAAKAAwAAAAEAAgACgAAALwAAAAEAAAAAgAAACwAAAAEAAAA5P///xAAAAAE',
  'AAAAAQAAAHYAAAABAAAAawAAAAgADAAEAAgACAAAAHQAAAAEAAAAZgAAAHsiaW5kZXhfY29sdW1ucyI6W3sia2luZCI6InJhbmdlIiwic3Rh',
  'cnQiOjAsInN0b3AiOjIsInN0ZXAiOjF9XSwiY29sdW1ucyI6W3sibmFtZSI6ImEifSx7Im5hbWUiOiJzIn1dfQAABgAAAHBhbmRhcwAABAAA',
  'AJwBAAA8AQAAuAAAAAQAAACE/v//AAABDBQAAAAYAAAABAAAAAEAAAAQAAAAAQAAAGwAAAAo////rP7//wAAAQ0YAAAAIAAAAAQAAAACAAAA',
  'RAAAABQAAAAEAAAAaXRlbQAAAABY////3P7//wAAAQIQAAAAFAAAAAQAAAAAAAAAAQAAAHkAAADM/v//AAAAAUAAAAAI////AAABAhAAAAAU',
  'AAAABAAAAAAAAAABAAAAeAAAAPj+//8AAAABQAAAADT///8AAAENGAAAABwAAAAEAAAAAgAAADwAAAAQAAAAAQAAAHMAAADc////YP///wAA',
  'ARQQAAAAGAAAAAQAAAAAAAAAAQAAAHkAAAAEAAQABAAAAIj///8AAAECEAAAABQAAAAEAAAAAAAAAAEAAAB4AAAAeP///wAAAAFAAAAAtP//',
  '/wAAAQoQAAAAHAAAAAQAAAAAAAAAAgAAAGF0AAAIAAwABgAIAAgAAAAAAAIABAAAABAAAABBbWVyaWNhL05ld19Zb3JrAAAAABAAFAAIAAYA',
  'BwAMAAAAEAAQAAAAAAABAhAAAAAcAAAABAAAAAAAAAABAAAAYQAAAAgADAAIAAcACAAAAAAAAAFAAAAAAAAAAA==',
].join('');

interface ArrowField {
  readonly name: string;
  readonly isNullable: boolean;
  readonly fields: readonly ArrowField[];
}

/** Places are those of FlatBuffers: a table has, at its start, the distance back to the places of its fields. */
export function readArrowSchema(text: string): { fields: readonly ArrowField[]; metadata: Record<string, string> } {
  const bytes = Buffer.from(text, 'base64');
  const follow = (at: number) => at + bytes.readUInt32LE(at);
  const slot = (table: number, field: number) => {
    const places = table - bytes.readInt32LE(table);
    const offset = 4 + 2 * field < bytes.readUInt16LE(places) ? bytes.readUInt16LE(places + 4 + 2 * field) : 0;
    return offset === 0 ? undefined : table + offset;
  };
  const string = (at: number | undefined) => {
    if (at === undefined) return '';
    const start = follow(at) + 4;
    const end = start + bytes.readUInt32LE(start - 4);
    if (bytes[end] !== 0) throw new Error('a string without its NUL');
    return bytes.toString('utf8', start, end);
  };
  const vector = (at: number | undefined) => {
    if (at === undefined) return [];
    const start = follow(at);
    return Array.from({ length: bytes.readUInt32LE(start) }, (_, i) => follow(start + 4 + 4 * i));
  };
  const field = (table: number): ArrowField => ({
    name: string(slot(table, 0)),
    isNullable: bytes[slot(table, 1) ?? -1] === 1,
    fields: vector(slot(table, 5)).map(field),
  });
  if (
    bytes.readUInt32LE(0) !== 0xffffffff ||
    bytes.readUInt32LE(4) !== bytes.byteLength - 8 ||
    bytes.byteLength % 8 !== 0
  )
    throw new Error('not a message of Arrow');
  const schema = follow(slot(follow(8), 2) ?? 0);
  const pairs = vector(slot(schema, 2)).map((pair) => [string(slot(pair, 0)), string(slot(pair, 1))]);
  return { fields: vector(slot(schema, 1)).map(field), metadata: Object.fromEntries(pairs) };
}
