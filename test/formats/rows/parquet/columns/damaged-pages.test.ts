/** Pages with changed bytes and headers that lie give an error or rows, and touch no memory but their own. */
import { describe, expect, it } from 'vitest';
import { ColumnMemory, type Region } from '#src/formats/rows/parquet/columns/column-memory.js';
import { PageError, PageMemoryError } from '#src/formats/rows/parquet/columns/page-error.js';
import type { Leaf, PhysicalType } from '#src/formats/rows/parquet/leaf.js';
import { PHYSICAL_TYPES } from '#src/formats/rows/parquet/leaf.js';
import { ENCODINGS, type Encoding } from '#src/formats/rows/parquet/page-header.js';
import type { PageCodec } from '#src/formats/rows/parquet/row-group.js';
import { drawsFor } from '../../../../fixtures/draws.ts';
import { encodingsOf } from '../../../../fixtures/parquet/encode-values.ts';
import { type MadePage, makePages, type PageOptions } from '../../../../fixtures/parquet/make-pages.ts';
import { entriesOf, type LeafShape, leafOf, type NestedValue } from '../../../../fixtures/parquet/rows-of-leaves.ts';
import { atScale } from '../../../../fixtures/scale.ts';
import { joinedRows } from './joined-rows.ts';

const GUARD = Buffer.alloc(64, 0xa5);
/** As far as loops may go beyond a region. */
const SLACK_BYTES = 32;

/** Each region has a guard behind it, which is looked at when it is released. */
class GuardedMemory extends ColumnMemory {
  readonly open = new Set<number>();

  override allocate(byteLength: number): Region | undefined {
    const region = super.allocate(byteLength + SLACK_BYTES + GUARD.byteLength);
    if (region === undefined) return undefined;
    this.bytes.set(GUARD, region.address + byteLength + SLACK_BYTES);
    this.open.add(region.address);
    return { address: region.address, byteLength };
  }

  override release({ address, byteLength }: Region): void {
    const at = address + byteLength + SLACK_BYTES;
    if (GUARD.compare(this.bytes, at, at + GUARD.byteLength) !== 0)
      throw new RangeError('bytes behind a region changed');
    if (!this.open.delete(address)) throw new RangeError('a region is released twice');
    super.release({ address, byteLength: byteLength + SLACK_BYTES + GUARD.byteLength });
  }
}

const openGuarded = () => new GuardedMemory({ takeSpare: () => false, giveSpare: () => {} }, 4 * 1024 * 1024);

const draw = drawsFor('damaged pages');
const whole = (most: number) => Math.floor(draw() * most);
const oneOf = <T>(list: readonly T[]): T => list[whole(list.length)] ?? (list[0] as T);

const REPETITIONS: readonly LeafShape['repetitions'][] = [
  ['required'],
  ['optional'],
  ['repeated', 'optional'],
  ['optional', 'repeated', 'repeated', 'optional'],
];
const CODECS: readonly PageCodec[] = ['UNCOMPRESSED', 'UNCOMPRESSED', 'SNAPPY', 'LZ4', 'LZ4_RAW', 'GZIP', 'BROTLI'];

interface Chunk {
  readonly leaf: Leaf;
  readonly codec: PageCodec;
  readonly pages: readonly MadePage[];
}

function drawChunk(): Chunk {
  const type = oneOf(Object.keys(PHYSICAL_TYPES) as PhysicalType[]);
  const typeLength = type === 'FIXED_LEN_BYTE_ARRAY' ? oneOf([1, 2, 3, 8, 20]) : 0;
  const repetitions = oneOf(REPETITIONS);
  const shape: LeafShape = { path: repetitions.map(String), repetitions, type, typeLength };
  const rows = Array.from({ length: 40 }, () => drawRow(shape, 0));
  const options: PageOptions = {
    codec: oneOf(CODECS),
    encoding: oneOf(encodingsOf({ type, typeLength })),
    version: oneOf([1, 2]),
    levels: oneOf(['RLE', 'RLE', 'BIT_PACKED']),
    entriesPerPage: oneOf([5, 40, 1000]),
  };
  const leaf = leafOf(shape);
  const pages = makePages(
    leaf,
    rows.flatMap((row) => entriesOf(shape, row)),
    options,
  );
  return { leaf, codec: options.codec ?? 'UNCOMPRESSED', pages };
}

function drawRow(shape: LeafShape, depth: number): NestedValue {
  const kind = shape.repetitions[depth];
  if (kind === 'optional' && draw() < 0.2) return null;
  if (kind === 'repeated') return Array.from({ length: whole(4) }, () => drawRow(shape, depth + 1));
  if (kind !== undefined) return drawRow(shape, depth + 1);
  const { type, typeLength = 0 } = shape;
  if (type === 'BOOLEAN') return draw() < 0.5;
  if (type === 'BYTE_ARRAY') return 'some text to begin with'.slice(0, whole(24));
  return Buffer.from(
    Array.from({ length: { INT32: 4, FLOAT: 4, INT96: 12 }[String(type)] ?? (typeLength || 8) }, () => whole(3)),
  );
}

const BYTES = [0, 1, 2, 3, 0x7f, 0x80, 0xfe, 0xff];
const SIZES = [0, 1, 7, 8, 41, 1000, 2 ** 20, 2 ** 31 - 1];

/** Changes up to three bytes of a page, cuts it, or lets its header lie. */
function damaged({ header, body, ...rest }: MadePage): MadePage {
  const way = draw();
  const other = Buffer.from(body);
  if (way < 0.6 && body.byteLength > 0) {
    for (let i = whole(3); i >= 0; i--) {
      // Lengths and widths lie at the beginning.
      const at = draw() < 0.5 ? whole(Math.min(12, other.byteLength)) : whole(other.byteLength);
      other[at] = draw() < 0.5 ? oneOf(BYTES) : (other[at] ?? 0) ^ (1 << whole(8));
    }
    return { header, body: other, ...rest };
  }
  if (way < 0.7) return { header, body: other.subarray(0, whole(body.byteLength + 1)), ...rest };
  const number = () => (draw() < 0.5 ? oneOf(SIZES) : whole(100));
  const lie = oneOf([
    { uncompressedBytes: draw() < 0.5 ? number() : header.uncompressedBytes + whole(9) - 4 },
    { valueCount: draw() < 0.5 ? number() : header.valueCount + whole(5) - 2 },
    { encoding: oneOf(Object.keys(ENCODINGS) as Encoding[]) },
    { definitionEncoding: oneOf<Encoding>(['RLE', 'BIT_PACKED', 'PLAIN']) },
    { definitionBytes: number() },
    { repetitionBytes: number() },
    { isCompressed: !header.isCompressed },
    { levelsApart: !header.levelsApart },
    { kind: oneOf(['data', 'dictionary', 'other'] as const) },
  ]);
  const lying = { ...header, ...lie };
  return {
    header: {
      ...lying,
      uncompressedBytes: Math.max(0, lying.uncompressedBytes),
      valueCount: Math.max(0, lying.valueCount),
    },
    body,
    ...rest,
  };
}

describe('damaged pages', () => {
  it('give an error or rows, in their own memory', () => {
    let memory = openGuarded();
    const outcomes = { rows: 0, refused: 0 };
    const chunks = Array.from({ length: atScale(120, 300, 600) }, drawChunk);
    for (let i = 0; i < atScale(2500, 25_000, 60_000); i++) {
      const { leaf, codec, pages } = oneOf(chunks);
      const at = whole(pages.length);
      const given = pages.map((page, k) => (k === at ? damaged(page) : page));
      try {
        joinedRows([{ leaf, codec, pages: given }], { memory, roomBytes: 300, rowsAtOnce: 7 });
        outcomes.rows += 1;
      } catch (error) {
        if (!(error instanceof PageError || error instanceof PageMemoryError)) throw error;
        expect(error.message).not.toContain('\n');
        outcomes.refused += 1;
      }
      expect(memory.open.size).toBe(0);
      if (i % 1000 === 0) memory = openGuarded();
    }
    expect(outcomes.rows).toBeGreaterThan(300);
    expect(outcomes.refused).toBeGreaterThan(300);
  });

  it('that are not the ones of the header are refused before they get memory', () => {
    const shape: LeafShape = { path: ['a'], repetitions: ['required'], type: 'INT64' };
    const [page] = makePages(leafOf(shape), entriesOf(shape, 1), { codec: 'SNAPPY' });
    if (page === undefined) throw new RangeError('no page');
    const read = (header: Partial<MadePage['header']>) => () =>
      joinedRows(
        [{ leaf: leafOf(shape), codec: 'SNAPPY', pages: [{ ...page, header: { ...page.header, ...header } }] }],
        {
          memory: openGuarded(),
        },
      );
    expect(read({ uncompressedBytes: 2 ** 31 - 1 })).toThrow(PageError);
    expect(read({ uncompressedBytes: 9 })).toThrow('its SNAPPY data is damaged, or does not have 9 bytes');
    expect(read({ valueCount: 2 })).toThrow('its values (PLAIN) are cut off');
    expect(read({ encoding: 'RLE_DICTIONARY' })).toThrow('need a dictionary, which no page before it has');
    expect(read({ encoding: 'DELTA_BYTE_ARRAY' })).toThrow('of type INT64 cannot have this encoding');
  });

  it('of version 2 with other rows than their headers claim are refused', () => {
    const shape: LeafShape = { path: ['a'], repetitions: ['repeated'], type: 'INT32' };
    const entries = [[1, 2], [], [3]].flatMap((row) => entriesOf(shape, row));
    const [page] = makePages(leafOf(shape), entries, { version: 2 });
    if (page === undefined) throw new RangeError('no page');
    const read = (rows: number) => () =>
      joinedRows(
        [{ leaf: leafOf(shape), codec: 'UNCOMPRESSED', pages: [{ ...page, header: { ...page.header, rows } }] }],
        {
          memory: openGuarded(),
        },
      );
    expect(read(3)).not.toThrow();
    expect(read(2)).toThrow('3 rows begin in it; its header or page index claims 2');
  });

  it('that expand beyond the memory are refused', () => {
    const shape: LeafShape = { path: ['a'], repetitions: ['required'], type: 'BYTE_ARRAY' };
    const rows = Array(900).fill('x'.repeat(5000));
    const pages = makePages(
      leafOf(shape),
      rows.flatMap((row) => entriesOf(shape, row)),
      {
        encoding: 'DELTA_BYTE_ARRAY',
        entriesPerPage: 900,
      },
    );
    const read = () => joinedRows([{ leaf: leafOf(shape), codec: 'UNCOMPRESSED', pages }], { memory: openGuarded() });
    expect(read).toThrow(new PageMemoryError(900 * 5004, 'values'));
  });

  it('with values of a dictionary that are large take no memory for each use', () => {
    const shape: LeafShape = { path: ['a'], repetitions: ['required'], type: 'BYTE_ARRAY' };
    const rows = Array(500).fill('y'.repeat(20_000));
    const entries = rows.flatMap((row) => entriesOf(shape, row));
    const pages = makePages(leafOf(shape), entries, { encoding: 'RLE_DICTIONARY', entriesPerPage: 500 });
    const [dictionary, data] = pages;
    expect(data?.body.byteLength).toBeLessThan(10);
    expect(dictionary?.body.byteLength).toBe(20_004);
    const joined = joinedRows([{ leaf: leafOf(shape), codec: 'UNCOMPRESSED', pages: pages.slice(0, 2) }], {
      memory: openGuarded(),
      rowsAtOnce: 3,
    });
    expect(joined.length).toBe(500);
    expect(joined[499]?.equals(joined[0] ?? Buffer.of())).toBe(true);
  });
});
