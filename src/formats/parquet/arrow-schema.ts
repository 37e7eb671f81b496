/**
 * The schema of Arrow in the metadata of a file, under `ARROW:schema`: an IPC message in base64, a FlatBuffer. It knows
 * time zones, dictionaries and large strings, which Parquet's schema does not; and readers take the metadata in it, not that
 * beside it. Fields and metadata are removed from it in place, by taking them out of the vectors that hold them:
 *
 *     message   u32 0xFFFFFFFF (not in old ones), u32 byte length, FlatBuffer
 *     table     i32 distance back to its vtable: u16 byte length, u16, for each field u16 its place in the table
 *     vector    u32 count, for each element u32 distance to it
 */
import type { SchemaNode } from './schema.js';

/** Of the schema Message.fbs: the number of a field in its table. */
const MESSAGE_HEADER = 2;
const SCHEMA_FIELDS = 1;
const SCHEMA_METADATA = 2;
const FIELD_NAME = 0;
const FIELD_DICTIONARY = 4;
const FIELD_CHILDREN = 5;
const DICTIONARY_IS_ORDERED = 2;
const PAIR_KEY = 0;
const PAIR_VALUE = 1;

const CONTINUATION = 0xffffffff;

/**
 * @param replace gives the new value of a key of the metadata; undefined: the key is removed.
 * @returns undefined: the text is no schema.
 */
export function withArrowMetadata(
  text: string,
  replace: (key: string, value: string) => string | undefined,
): string | undefined {
  return edited(text, (bytes, schema) => {
    const appended: AppendedString[] = [];
    const pairs = placeOf(bytes, schema, SCHEMA_METADATA);
    if (pairs === 0) return bytes;
    keepElements(bytes, pairs, (pair) => {
      const distance = fieldOf(bytes, pair, PAIR_VALUE);
      const value = distance === 0 ? '' : stringAt(bytes, placeOf(bytes, pair, PAIR_VALUE));
      const newValue = replace(stringAt(bytes, placeOf(bytes, pair, PAIR_KEY)), value);
      if (newValue !== undefined && newValue !== value && distance !== 0) appended.push({ distance, text: newValue });
      return newValue !== undefined;
    });
    return withStrings(bytes, appended);
  });
}

interface AppendedString {
  /** Where its distance stands. */
  readonly distance: number;
  readonly text: string;
}

/** Distances lead forward alone, so strings of another length have place at the end, and the old ones stay unused. */
function withStrings(message: Buffer, appended: readonly AppendedString[]): Buffer {
  const start = startOf(message);
  const end = start + message.readUInt32LE(start - 4);
  if (end > message.byteLength) throw new RangeError('the message is cut off');
  const pieces = [message.subarray(0, end)];
  let place = end;
  for (const { distance, text } of appended) {
    const bytes = Buffer.from(text);
    const oldPlace = distance + message.readUInt32LE(distance);
    if (message.readUInt32LE(oldPlace) === bytes.byteLength) {
      bytes.copy(message, oldPlace + 4);
      continue;
    }
    // A NUL ends it, and the message has a multiple of 8 bytes.
    const piece = Buffer.alloc(Math.ceil((4 + bytes.byteLength + 1) / 8) * 8);
    piece.writeUInt32LE(bytes.byteLength);
    bytes.copy(piece, 4);
    message.writeUInt32LE(place - distance, distance);
    pieces.push(piece);
    place += piece.byteLength;
  }
  message.writeUInt32LE(place - start, start - 4);
  return Buffer.concat(pieces);
}

/**
 * @param root of the whole table, and `selected` of the columns that stay.
 * @returns undefined: the text is no schema, or not of these columns.
 */
export function cutArrowSchema(text: string, root: SchemaNode, selected: SchemaNode): string | undefined {
  return edited(text, (bytes, schema) =>
    cutFields(bytes, placeOf(bytes, schema, SCHEMA_FIELDS), root, selected) ? bytes : undefined,
  );
}

/**
 * @param most of its leaves.
 * @returns for each leaf whether it is a dictionary, and of which kind; undefined: the text is no schema.
 */
export function arrowDictionaries(text: string, most: number): ('ordered' | 'unordered' | undefined)[] | undefined {
  const leaves: ('ordered' | 'unordered' | undefined)[] = [];
  const visit = (bytes: Buffer, fields: number): void => {
    const count = fields === 0 ? 0 : bytes.readUInt32LE(fields);
    for (let i = 0; i < count; i += 1) {
      const place = fields + 4 + 4 * i;
      const field = place + bytes.readUInt32LE(place);
      const children = placeOf(bytes, field, FIELD_CHILDREN);
      if (children !== 0 && bytes.readUInt32LE(children) > 0) {
        visit(bytes, children);
        continue;
      }
      if (leaves.length === most) throw new RangeError('it has more leaves');
      const dictionary = placeOf(bytes, field, FIELD_DICTIONARY);
      const order = dictionary === 0 ? 0 : fieldOf(bytes, dictionary, DICTIONARY_IS_ORDERED);
      leaves.push(dictionary === 0 ? undefined : order > 0 && bytes[order] === 1 ? 'ordered' : 'unordered');
    }
  };
  return inSchema(text, (bytes, schema) => {
    visit(bytes, placeOf(bytes, schema, SCHEMA_FIELDS));
    return leaves;
  });
}

function edited(text: string, edit: (bytes: Buffer, schema: number) => Buffer | undefined): string | undefined {
  return inSchema(text, edit)?.toString('base64');
}

function inSchema<Result>(text: string, use: (bytes: Buffer, schema: number) => Result): Result | undefined {
  const bytes = Buffer.from(text, 'base64');
  try {
    const start = startOf(bytes);
    return use(bytes, placeOf(bytes, start + bytes.readUInt32LE(start), MESSAGE_HEADER));
  } catch (error) {
    // A place outside of the bytes.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Of the FlatBuffer. */
function startOf(message: Buffer): number {
  return message.readUInt32LE(0) === CONTINUATION ? 8 : 4;
}

/** Fields are those of the columns of a group, one by one; below other groups than structs they are not. */
function cutFields(bytes: Buffer, fields: number, group: SchemaNode, selected: SchemaNode): boolean {
  if (fields === 0 || bytes.readUInt32LE(fields) !== group.children.length) return false;
  const kept = new Map(selected.children.map((child) => [child.start, child]));
  let areKnown = true;
  keepElements(bytes, fields, (field, i) => {
    const column = group.children[i];
    const keptColumn = column === undefined ? undefined : kept.get(column.start);
    if (column === undefined || stringAt(bytes, placeOf(bytes, field, FIELD_NAME)) !== column.name) areKnown = false;
    else if (keptColumn !== undefined && keptColumn !== column)
      areKnown &&= cutFields(bytes, placeOf(bytes, field, FIELD_CHILDREN), column, keptColumn);
    return keptColumn !== undefined;
  });
  return areKnown;
}

/** Elements move to the front of the vector; their distances grow by what they move. */
function keepElements(bytes: Buffer, vector: number, isKept: (element: number, index: number) => boolean): void {
  const count = bytes.readUInt32LE(vector);
  let kept = 0;
  for (let i = 0; i < count; i += 1) {
    const place = vector + 4 + 4 * i;
    const element = place + bytes.readUInt32LE(place);
    if (!isKept(element, i)) continue;
    const newPlace = vector + 4 + 4 * kept;
    bytes.writeUInt32LE(element - newPlace, newPlace);
    kept += 1;
  }
  bytes.writeUInt32LE(kept, vector);
}

/** Where what the distance in a field of a table leads to lies; 0: the table has no such field. */
function placeOf(bytes: Buffer, table: number, field: number): number {
  const distance = fieldOf(bytes, table, field);
  return distance === 0 ? 0 : distance + bytes.readUInt32LE(distance);
}

function fieldOf(bytes: Buffer, table: number, field: number): number {
  const vtable = table - bytes.readInt32LE(table);
  const slot = 4 + 2 * field;
  const offset = slot < bytes.readUInt16LE(vtable) ? bytes.readUInt16LE(vtable + slot) : 0;
  return offset === 0 ? 0 : table + offset;
}

function stringAt(bytes: Buffer, place: number): string {
  return bytes.toString('utf8', place + 4, place + 4 + bytes.readUInt32LE(place));
}
