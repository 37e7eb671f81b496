/** Rows of drawn tables, row groups that a writer makes of them, and the rows that a reader finds in these. */
import { crc32 } from 'node:zlib';
import { JobControl, UNGATED } from '#src/floor/job-control.js';
import type { EncodedMember } from '#src/formats/encoded-members.js';
import { PageBlocks } from '#src/formats/rows/finished-pages.js';
import { ColumnMemory } from '#src/formats/rows/parquet/columns/column-memory.js';
import { rowGroupWriterBytes } from '#src/formats/rows/parquet/columns/page-sizes.js';
import { RowGroupWriter } from '#src/formats/rows/parquet/columns/row-group-writer.js';
import { type Leaf, type PhysicalType, valueBytesOf } from '#src/formats/rows/parquet/leaf.js';
import { type PageHeader, readPageHeader } from '#src/formats/rows/parquet/page-header.js';
import { decodeDescription, type RowGroupDescription } from '#src/formats/rows/parquet/row-group-description.js';
import type { TableSchema } from '#src/formats/rows/parquet/schema.js';
import type { TableWriteSpec } from '#src/formats/rows/parquet/table-output.js';
import { listStagedUnits } from '#src/formats/staged-units.js';
import { withLength } from '../../../../fixtures/parquet/encode-values.ts';
import { rowBytesOf } from '../../../../fixtures/parquet/rows-of-leaves.ts';
import { columnOrdersOf, type PlainElement, tableOf } from '../plain-footer.ts';
import { joinedRows } from './joined-rows.ts';

export interface Column {
  readonly type: PhysicalType;
  readonly typeLength?: number;
  /** Of the path from the root, the leaf last: 0 required, 1 optional, 2 repeated. */
  readonly repetitions?: readonly number[];
  readonly converted?: number;
}

export const PLAIN: TableWriteSpec = { codec: 'UNCOMPRESSED', level: 0 };

export function schemaOf(columns: readonly Column[]): TableSchema {
  const children = columns.map(({ type, typeLength, repetitions = [0], converted }, i) => {
    const leaf: PlainElement = {
      name: `c${i}`,
      type,
      repetition: repetitions.at(-1) ?? 0,
      ...(typeLength === undefined ? {} : { typeLength }),
      ...(converted === undefined ? {} : { converted }),
    };
    return repetitions
      .slice(0, -1)
      .reduceRight<PlainElement>((child, repetition) => ({ name: `g${i}`, repetition, children: [child] }), leaf);
  });
  return tableOf(children, { columnOrders: columnOrdersOf(columns.length) });
}

/** @param value without its length. */
export function drawRows(
  { leaves }: TableSchema,
  count: number,
  draw: () => number,
  value: (leaf: Leaf, index: number, row: number) => Uint8Array,
): Buffer[] {
  const whole = (most: number) => Math.floor(draw() * (most + 1));
  return Array.from({ length: count }, (_, row) =>
    Buffer.concat(
      leaves.map((leaf, index) => {
        const entries = Array.from({ length: leaf.maxRepetition === 0 ? 1 : 1 + whole(4) }, (_each, i) => {
          const definition = draw() < 0.5 ? leaf.maxDefinition : whole(leaf.maxDefinition);
          const repetition = i === 0 ? 0 : 1 + whole(leaf.maxRepetition - 1);
          return definition < leaf.maxDefinition
            ? { repetition, definition }
            : { repetition, definition, value: value(leaf, index, row) };
        });
        return rowBytesOf(leaf, entries);
      }),
    ),
  );
}

export const plainValue = (leaf: Leaf, bytes: Uint8Array) => (valueBytesOf(leaf) === 0 ? withLength(bytes) : bytes);

const noSpare = { takeSpare: () => false, giveSpare: () => {} };

/** The column memory has what a writer says that it needs; all blocks of pages are free again after each row group. */
export class MadeGroups {
  readonly control: JobControl;
  readonly writer: RowGroupWriter;
  readonly #spareBytes: number;
  readonly #blocks: PageBlocks;

  constructor(
    schema: TableSchema,
    spec: TableWriteSpec,
    { spareBytes = 2 ** 30, newPath = noFile, moreBytes = 0 } = {},
  ) {
    this.control = JobControl.create([], spareBytes);
    this.#spareBytes = spareBytes;
    const memory = new ColumnMemory(noSpare, rowGroupWriterBytes(schema.leaves, spec.dictionaries) + moreBytes);
    const newSpillPlace = () => ({ gate: UNGATED, path: newPath() });
    this.#blocks = new PageBlocks(this.control);
    const blocks = this.#blocks;
    this.writer = new RowGroupWriter({ memory, schema, spec, control: this.control, blocks, newSpillPlace });
  }

  make(rows: readonly Uint8Array[]): Buffer {
    for (const piece of rows) this.writer.add(piece);
    const member = this.writer.end();
    const bytes = bytesOf(member);
    member.release();
    if (this.control.spareBytes + this.#blocks.freeBytes !== this.#spareBytes) throw new Error('spare memory was kept');
    return bytes;
  }
}

function noFile(): string {
  throw new Error('pages went to a file');
}

export function bytesOf(member: EncodedMember): Buffer {
  const bytes = Buffer.concat([...member.pieces()].map((piece) => Buffer.from(piece)));
  if (bytes.byteLength !== member.byteLength) throw new Error(`${bytes.byteLength}, not ${member.byteLength} bytes`);
  return bytes;
}

export function makeGroup(schema: TableSchema, rows: readonly Uint8Array[], spec = PLAIN, moreBytes = 0): Buffer {
  const made = new MadeGroups(schema, spec, { moreBytes });
  try {
    return made.make(rows);
  } finally {
    made.writer.close();
  }
}

export function describeGroup(bytes: Buffer): RowGroupDescription {
  const read = (position: number, byteLength: number) => bytes.subarray(position, position + byteLength);
  const [unit] = listStagedUnits({ path: 'a.parquet', byteLength: bytes.byteLength, read }, 0);
  if (unit === undefined) throw new Error('no description');
  return decodeDescription(unit.description());
}

export interface Page {
  readonly header: PageHeader;
  readonly body: Buffer;
}

/** The pages of each leaf, in their order. */
export function pagesOf(bytes: Buffer): Page[][] {
  let at = 0;
  const next = (byteLength: number): Page => {
    const found = readPageHeader(bytes, at);
    if (found === undefined) throw new Error('a header is cut off');
    const { header, headerBytes } = found;
    const body = bytes.subarray(at + headerBytes, at + byteLength);
    if (body.byteLength !== header.compressedBytes || header.crc !== crc32(body)) throw new Error('a page is broken');
    at += byteLength;
    return { header, body };
  };
  return describeGroup(bytes).chunks.map(({ dictionaryBytes, pages }) => [
    ...(dictionaryBytes > 0 ? [next(dictionaryBytes)] : []),
    ...pages.map(({ byteLength }) => next(byteLength)),
  ]);
}

export function readGroup({ leaves }: TableSchema, bytes: Buffer, { codec } = PLAIN): Buffer[] {
  const pages = pagesOf(bytes);
  return joinedRows(leaves.map((leaf, i) => ({ leaf, codec, pages: pages[i] ?? [] })));
}
