/**
 * Decodes the pages of one leaf, of which one at a time is decoded. Values that lie in a page as PLAIN stores them stay where
 * they are, and those of a dictionary stay indexes, until rows are joined: so a dictionary of large values is not a bomb.
 *
 * A row of a repeated leaf may go on in the next page, so the last one of each page is carried until the next page, or the
 * end of the chunk, shows that it is whole.
 */
import { counted } from '../../../../errors.js';
import { inPhase } from '../../../../floor/phase-clock.js';
import { type Leaf, valueBytesOf } from '../leaf.js';
import type { PageHeader } from '../page-header.js';
import type { PageCodec } from '../row-group.js';
import type { ColumnMemory, Region } from './column-memory.js';
import { decompressPage, requireExpansion } from './page-codecs.js';
import { PageError, PageMemoryError } from './page-error.js';

/** The part of the header of a page that decoding needs. */
export type PageToDecode = Pick<
  PageHeader,
  | 'kind'
  | 'levelsApart'
  | 'uncompressedBytes'
  | 'valueCount'
  | 'encoding'
  | 'definitionEncoding'
  | 'repetitionEncoding'
  | 'definitionBytes'
  | 'repetitionBytes'
  | 'isCompressed'
> &
  Partial<Pick<PageHeader, 'rows'>>;

/** The facts of a column chunk that decoding needs. */
export interface ChunkToDecode {
  readonly codec: PageCodec;
  /** Entries in all its pages. Infinite: only some of its pages come, and a row begins with each. */
  readonly valueCount: number;
}

/** The words for the numbers of assembly/decode-problem.ts. */
const PROBLEMS = [
  'are damaged',
  'are cut off',
  'are not encoded as Parquet says',
  'are above the highest level of the column',
  'lie beyond the end of the dictionary',
  'are more or fewer than the page has',
  'have lengths that the page cannot hold',
];

/** The fields of assembly/leaf-state.ts, each a u32. */
const FIELDS = {
  width: 0,
  maxDefinition: 1,
  maxRepetition: 2,
  isIndexed: 3,
  entries: 4,
  definitions: 5,
  repetitions: 6,
  values: 7,
  dictionary: 8,
  rows: 9,
  carriedEntries: 10,
  carriedValues: 11,
  carriedBytes: 12,
  carriedDefinitions: 13,
  carriedRepetitions: 14,
  carriedPlain: 15,
  isCarriedWhole: 16,
  isDefined: 17,
} as const;
const STATE_BYTES = 4 * 18;
const LEVELS = 256;
/**
 * The place after the state of a table from each definition level of the file to that of the leaf, and of one that
 * changes nothing.
 */
const DEFINITIONS_AT = 80;
const REPETITIONS_AT = DEFINITIONS_AT + LEVELS;

const NOTHING: Region = { address: 0, byteLength: 0 };

/** The place of encoded values. */
interface Encoded {
  readonly from: number;
  readonly to: number;
  readonly count: number;
}

/** Properties of a leaf in a file, where they differ from those of the rows. */
export interface FileLeaf {
  readonly maxRepetition: number;
  /** The file has no type for it: all its values are null. */
  readonly isUntyped: boolean;
}

export class LeafReader {
  readonly #memory: ColumnMemory;
  readonly #leaf: Leaf;
  readonly #file: FileLeaf;
  readonly #width: number;
  /** The highest levels of the file. */
  readonly #mostDefinition: number;
  readonly #firstDefinition: number;
  readonly #state: Region;
  #pageRegions: Region[] = [];
  #dictionaryRegions: Region[] = [];
  #dictionaryCount = -1;
  /** Definition levels, repetition levels and values of the row that is carried; they grow. */
  readonly #carried: [Region, Region, Region];
  /** The decompressed page that is decoded now. */
  #body: Region = NOTHING;
  #codec: PageCodec = 'UNCOMPRESSED';
  /** Entries of the chunk in pages that did not come yet. */
  #missing = 0;

  /**
   * @param leaf as rows have it.
   * @param definitions for each definition level of the file the level of `leaf`; its last one is the highest of the leaf,
   *   and no other is.
   * @throws PageMemoryError
   */
  constructor(
    memory: ColumnMemory,
    leaf: Leaf,
    definitions: Uint8Array,
    file: FileLeaf = { ...leaf, isUntyped: false },
  ) {
    this.#memory = memory;
    this.#leaf = leaf;
    this.#file = file;
    this.#width = valueBytesOf(leaf);
    this.#mostDefinition = definitions.length - 1;
    this.#firstDefinition = definitions[0] ?? 0;
    this.#state = this.#allocate(REPETITIONS_AT + LEVELS, 'a column');
    const { address } = this.#state;
    memory.bytes.fill(0, address, address + STATE_BYTES);
    memory.bytes.set(definitions, address + DEFINITIONS_AT);
    for (let level = 0; level < LEVELS; level++) memory.bytes[address + REPETITIONS_AT + level] = level;
    const state = this.#fields();
    state[FIELDS.width] = this.#width;
    state[FIELDS.maxDefinition] = leaf.maxDefinition;
    state[FIELDS.maxRepetition] = leaf.maxRepetition;
    this.#carried = [NOTHING, NOTHING, NOTHING];
  }

  /** The address at which a joiner finds what is decoded. */
  get stateAddress(): number {
    return this.#state.address;
  }

  /** Whole rows that were not joined yet. */
  get availableRows(): number {
    const state = this.#fields();
    return (state[FIELDS.rows] ?? 0) + (state[FIELDS.isCarriedWhole] ?? 0);
  }

  /** All rows of the chunk before must have been joined. */
  beginChunk({ codec, valueCount }: ChunkToDecode): void {
    this.#requireNoRows();
    this.#codec = codec;
    this.#missing = valueCount;
    this.#releaseAll(this.#dictionaryRegions);
    this.#dictionaryCount = -1;
  }

  /**
   * Decodes a page of the dictionary or of data, and passes over others. All `availableRows` must have been joined.
   * @param body as it is stored, after the header.
   * @throws PageError, PageMemoryError. The leaf is of no use then, but to be closed.
   */
  addPage(page: PageToDecode, body: Uint8Array): void {
    if (page.kind === 'other') return;
    this.#requireNoRows();
    this.#carry(this.#fields()[FIELDS.entries] ?? 0);
    this.#releaseAll(this.#pageRegions);
    if (page.kind === 'dictionary') this.#decodeDictionary(page, body);
    else this.#decodeData(page, body);
  }

  /** The last row is whole. @throws PageError if the pages had fewer entries than the chunk. */
  endChunk(): void {
    if (this.#missing > 0 && !this.#isPart) {
      throw new PageError(`its pages end ${counted(this.#missing, 'value')} before those that the footer counts`);
    }
    if (this.#leaf.maxRepetition === 0) return;
    const state = this.#fields();
    // The first rows of the page may not have been joined yet: the last one is after them.
    if ((state[FIELDS.entries] ?? 0) > 0) state[FIELDS.rows] = (state[FIELDS.rows] ?? 0) + 1;
    if ((state[FIELDS.carriedEntries] ?? 0) > 0) state[FIELDS.isCarriedWhole] = 1;
  }

  close(): void {
    this.#releaseAll(this.#pageRegions);
    this.#releaseAll(this.#dictionaryRegions);
    for (const region of this.#carried) if (region.byteLength > 0) this.#memory.release(region);
    this.#memory.release(this.#state);
  }

  /** Passes over the next `count` rows, which must be whole ones of the first page of a part. */
  skipRows(count: number): void {
    if (count > this.availableRows) throw new RangeError('a page has fewer rows than are passed over');
    this.#memory.wasm.skipRows(this.#state.address, count);
  }

  get #isPart(): boolean {
    return this.#missing === Number.POSITIVE_INFINITY;
  }

  #requireNoRows(): void {
    if (this.availableRows > 0) throw new RangeError('a page comes before the rows of the one before it were joined');
  }

  #decodeDictionary(page: PageToDecode, body: Uint8Array): void {
    if (page.encoding !== 'PLAIN' && page.encoding !== 'PLAIN_DICTIONARY') {
      throw new PageError(`its dictionary has the encoding ${page.encoding}, expected PLAIN`);
    }
    const { wasm } = this.#memory;
    this.#releaseAll(this.#dictionaryRegions);
    const count = page.valueCount;
    const regions = this.#dictionaryRegions;
    const plain = this.#decompressed(body, page.uncompressedBytes, regions);
    const values = { from: plain.address, to: plain.address + plain.byteLength, count };
    let place = plain.address;
    if (this.#leaf.type === 'BYTE_ARRAY') {
      // No table for a count that the page cannot have.
      if (count > plain.byteLength / 4) throw new PageError('its dictionary is cut off');
      place = this.#take(4 * count, 'a dictionary', regions);
      this.#check(wasm.tabulateByteArrays(values.from, values.to, count, place), 'the values of its dictionary');
    } else place = this.#plain(values, 'the values of its dictionary', regions);
    this.#fields()[FIELDS.dictionary] = place;
    this.#dictionaryCount = count;
  }

  #decodeData(page: PageToDecode, body: Uint8Array): void {
    const { valueCount } = page;
    const { maxDefinition, maxRepetition } = this.#leaf;
    if (valueCount > this.#missing) {
      throw new PageError(`it has ${counted(valueCount, 'value')}, but only ${this.#missing} of its column are left`);
    }
    this.#missing -= valueCount;
    const { region, levelBytes } = this.#pageBytes(page, body);
    const to = region.address + region.byteLength;

    let at = region.address;
    let repetitions = 0;
    let rowStarts = valueCount;
    if (maxRepetition > 0) {
      repetitions = this.#take(valueCount, 'repetition levels', this.#pageRegions);
      const { maxRepetition: most } = this.#file;
      if (most === 0) this.#memory.bytes.fill(0, repetitions, repetitions + valueCount);
      else {
        at = this.#decodeLevels('repetition', page, { from: at, to, count: valueCount }, most, repetitions);
        rowStarts = this.#memory.wasm.levelCount.value;
      }
    }
    if (page.rows !== undefined && page.rows !== rowStarts) {
      throw new PageError(`${counted(rowStarts, 'row')} begin in it; its header or page index claims ${page.rows}`);
    }
    if (page.levelsApart) at = region.address + page.repetitionBytes;
    let definitions = 0;
    let count = valueCount;
    if (maxDefinition > 0) definitions = this.#take(valueCount, 'definition levels', this.#pageRegions);
    if (this.#mostDefinition > 0) {
      const encoded = { from: at, to, count: valueCount };
      at = this.#decodeLevels('definition', page, encoded, this.#mostDefinition, definitions);
      count = this.#memory.wasm.levelCount.value;
    } else if (maxDefinition > 0) {
      this.#memory.bytes.fill(this.#firstDefinition, definitions, definitions + valueCount);
    }
    if (page.levelsApart) at = region.address + levelBytes;
    if (this.#file.isUntyped && count > 0) throw new PageError('it has values, but its column has no type');

    const isIndexed = page.encoding === 'PLAIN_DICTIONARY' || page.encoding === 'RLE_DICTIONARY';
    const values = count === 0 ? at : this.#decodeValues(page, { from: at, to, count });
    // Values that stay in the page are the last to need it.
    if (values < region.address || values > to) this.#releasePage(region);

    const state = this.#fields();
    state[FIELDS.isIndexed] = isIndexed ? 1 : 0;
    state[FIELDS.entries] = valueCount;
    state[FIELDS.definitions] = definitions;
    state[FIELDS.repetitions] = repetitions;
    state[FIELDS.values] = values;
    state[FIELDS.rows] = rowStarts;
    state[FIELDS.isDefined] = count === valueCount ? 1 : 0;
    if (maxRepetition > 0) this.#findRows(rowStarts);
  }

  /** The bytes in front of the first row belong to the row that is carried. */
  #findRows(rowStarts: number): void {
    const before = this.#memory.wasm.entriesBeforeRow(this.#state.address);
    const state = this.#fields();
    if (before > 0 && (this.#isPart || state[FIELDS.carriedEntries] === 0)) {
      throw new PageError('its first value continues a row, but no row begins before it');
    }
    state[FIELDS.rows] = Math.max(0, rowStarts - 1);
    this.#carry(before);
    const carried = this.#fields();
    if (rowStarts > 0 && (carried[FIELDS.carriedEntries] ?? 0) > 0) carried[FIELDS.isCarriedWhole] = 1;
  }

  /** Returns the bytes of a page. In version 2, levels stand before what is compressed. */
  #pageBytes(page: PageToDecode, body: Uint8Array): { region: Region; levelBytes: number } {
    const { uncompressedBytes } = page;
    if (!page.levelsApart) {
      return { region: this.#decompressed(body, uncompressedBytes, this.#pageRegions), levelBytes: 0 };
    }
    const levelBytes = page.definitionBytes + page.repetitionBytes;
    if (levelBytes > Math.min(body.byteLength, uncompressedBytes)) {
      throw new PageError(`it has ${counted(levelBytes, 'byte')} of levels, more than the whole page`);
    }
    const codec = page.isCompressed ? this.#codec : 'UNCOMPRESSED';
    const compressed = body.subarray(levelBytes);
    requireExpansion(codec, compressed.byteLength, uncompressedBytes - levelBytes);
    const region = this.#allocate(uncompressedBytes, 'a page');
    this.#pageRegions.push(region);
    this.#body = region;
    this.#memory.bytes.set(body.subarray(0, levelBytes), region.address);
    const values = { address: region.address + levelBytes, byteLength: uncompressedBytes - levelBytes };
    inPhase('decompress', () => decompressPage(this.#memory, codec, compressed, values));
    return { region, levelBytes };
  }

  #decompressed(body: Uint8Array, byteLength: number, regions: Region[]): Region {
    requireExpansion(this.#codec, body.byteLength, byteLength);
    const region = this.#allocate(byteLength, 'a page');
    regions.push(region);
    this.#body = region;
    inPhase('decompress', () => decompressPage(this.#memory, this.#codec, body, region));
    return region;
  }

  /**
   * Decodes levels to bytes at `target`, and counts those that begin a row, or that have a value.
   * @returns where they end.
   */
  #decodeLevels(
    kind: 'definition' | 'repetition',
    page: PageToDecode,
    { from, to, count }: Encoded,
    most: number,
    target: number,
  ): number {
    const { wasm } = this.#memory;
    const what = `its ${kind} levels`;
    const width = 32 - Math.clz32(most);
    const encoding = kind === 'definition' ? page.definitionEncoding : page.repetitionEncoding;
    let end: number;
    if (page.levelsApart) {
      end = from + (kind === 'definition' ? page.definitionBytes : page.repetitionBytes);
      this.#check(wasm.decodeLevels(from, end, width, count, target), what);
    } else if (encoding === 'BIT_PACKED') {
      end = from + Math.ceil((count * width) / 8);
      this.#check(wasm.decodeBitPackedLevels(from, to, width, count, target), what);
    } else if (encoding === 'RLE') {
      if (to - from < 4) throw new PageError(`${what} are cut off`);
      end = from + 4 + this.#u32At(from);
      if (end > to) throw new PageError(`${what} are longer than the page`);
      this.#check(wasm.decodeLevels(from + 4, end, width, count, target), what);
    } else throw new PageError(`${what} have the encoding ${encoding}, expected RLE or BIT_PACKED`);
    const { address } = this.#state;
    const table = address + (kind === 'definition' ? DEFINITIONS_AT : REPETITIONS_AT);
    const counted = kind === 'definition' ? this.#leaf.maxDefinition : 0;
    this.#check(wasm.mapLevels(target, count, most, table, counted), what);
    return end;
  }

  /** @returns where the values lie, as PLAIN stores them, or their indexes. */
  #decodeValues({ encoding }: PageToDecode, encoded: Encoded): number {
    const { type } = this.#leaf;
    const { wasm } = this.#memory;
    const { from, to, count } = encoded;
    const width = this.#width;
    const regions = this.#pageRegions;
    const what = `its values (${encoding})`;
    const isFixed = type !== 'BYTE_ARRAY' && type !== 'BOOLEAN';
    if (encoding === 'PLAIN') return this.#plain(encoded, what, regions);
    if (encoding === 'PLAIN_DICTIONARY' || encoding === 'RLE_DICTIONARY') {
      if (this.#dictionaryCount < 0) throw new PageError(`${what} need a dictionary, which no page before it has`);
      const target = this.#take(4 * count, 'indexes', regions);
      this.#check(wasm.decodeIndexes(from, to, count, target, this.#dictionaryCount), what);
      return target;
    }
    if (encoding === 'RLE' && type === 'BOOLEAN') {
      const target = this.#take(count, 'values', regions);
      this.#check(wasm.decodeRunBooleans(from, to, count, target), what);
      return target;
    }
    if (encoding === 'DELTA_BINARY_PACKED' && (type === 'INT32' || type === 'INT64')) {
      const target = this.#take(width * count, 'values', regions);
      const decode = type === 'INT32' ? wasm.decodeDelta32 : wasm.decodeDelta64;
      this.#check(decode(from, to, count, target), what);
      return target;
    }
    if (encoding === 'BYTE_STREAM_SPLIT' && isFixed) {
      if (width * count > to - from) throw new PageError(`${what} are cut off`);
      const target = this.#take(width * count, 'values', regions);
      this.#check(wasm.joinByteStreams(from, to, count, width, target), what);
      return target;
    }
    if (encoding === 'DELTA_LENGTH_BYTE_ARRAY' && type === 'BYTE_ARRAY') {
      return this.#withLengths(count, 1, (lengths) => {
        const target = this.#take(4 * count + to - from, 'values', regions);
        this.#check(wasm.decodeDeltaLengths(from, to, count, lengths, target), what);
        return target;
      });
    }
    if (encoding === 'DELTA_BYTE_ARRAY' && (type === 'BYTE_ARRAY' || type === 'FIXED_LEN_BYTE_ARRAY')) {
      return this.#withLengths(count, 2, (prefixes) => {
        const suffixes = prefixes + 4 * count;
        this.#check(wasm.decodePrefixes(from, to, count, prefixes, suffixes, width), what);
        const target = this.#take(wasm.expandedBytes.value, 'values', regions);
        wasm.expandPrefixes(count, prefixes, suffixes, width, target);
        return target;
      });
    }
    throw new PageError(`${what} of type ${type} cannot have this encoding`);
  }

  #plain({ from, to, count }: Encoded, what: string, regions: Region[]): number {
    const { type } = this.#leaf;
    const { wasm } = this.#memory;
    if (type === 'BYTE_ARRAY') {
      this.#check(wasm.checkByteArrays(from, to, count), what);
      return from;
    }
    const neededBytes = type === 'BOOLEAN' ? Math.ceil(count / 8) : this.#width * count;
    if (neededBytes > to - from) throw new PageError(`${what} are cut off`);
    if (type !== 'BOOLEAN') return from;
    const target = this.#take(count, 'values', regions);
    wasm.unpackBooleans(from, count, target);
    return target;
  }

  /** Lists of u32 for as long as `use` takes. */
  #withLengths(count: number, lists: number, use: (address: number) => number): number {
    const lengths = this.#allocate(4 * count * lists, 'lengths');
    try {
      return use(lengths.address);
    } finally {
      this.#memory.release(lengths);
    }
  }

  /** Moves the next entries of the page after the row that is carried. */
  #carry(entries: number): void {
    if (entries === 0 || this.#leaf.maxRepetition === 0) return;
    const { wasm } = this.#memory;
    const { address } = this.#state;
    const bytes = wasm.valueBytesOfEntries(address, entries);
    const { [FIELDS.carriedEntries]: carriedEntries = 0, [FIELDS.carriedBytes]: carriedBytes = 0 } = this.#fields();
    this.#growCarried(0, carriedEntries, entries);
    this.#growCarried(1, carriedEntries, entries);
    this.#growCarried(2, carriedBytes, bytes);
    const state = this.#fields();
    for (const [i, { address: place }] of this.#carried.entries()) state[FIELDS.carriedDefinitions + i] = place;
    wasm.carryEntries(address, entries);
  }

  #growCarried(list: 0 | 1 | 2, usedBytes: number, moreBytes: number): void {
    const region = this.#carried[list];
    if (usedBytes + moreBytes <= region.byteLength) return;
    // Doubled, so that a row of many pages is not copied with each of them.
    const grown = this.#allocate(Math.max(usedBytes + moreBytes, 2 * usedBytes), 'a row of several pages');
    this.#memory.bytes.copyWithin(grown.address, region.address, region.address + usedBytes);
    if (region.byteLength > 0) this.#memory.release(region);
    this.#carried[list] = grown;
  }

  #u32At(address: number): number {
    const [a = 0, b = 0, c = 0, d = 0] = this.#memory.bytes.subarray(address, address + 4);
    return a + 2 ** 8 * b + 2 ** 16 * c + 2 ** 24 * d;
  }

  #check(isRight: boolean, what: string): void {
    if (isRight) return;
    const { problem, problemAt } = this.#memory.wasm;
    const at = (problemAt.value >>> 0) - this.#body.address;
    const place = at >= 0 && at <= this.#body.byteLength ? ` (byte ${at} of the decompressed page)` : '';
    throw new PageError(`${what} ${PROBLEMS[problem.value] ?? PROBLEMS[0]}${place}`);
  }

  /** Good until memory is allocated. */
  #fields(): Uint32Array {
    return new Uint32Array(this.#memory.bytes.buffer, this.#state.address, STATE_BYTES / 4);
  }

  #take(byteLength: number, what: string, regions: Region[]): number {
    const region = this.#allocate(byteLength, what);
    regions.push(region);
    return region.address;
  }

  #allocate(byteLength: number, what: string): Region {
    const region = this.#memory.allocate(byteLength);
    if (region === undefined) throw new PageMemoryError(byteLength, what);
    return region;
  }

  #releasePage(region: Region): void {
    this.#memory.release(region);
    this.#pageRegions = this.#pageRegions.filter((each) => each !== region);
  }

  #releaseAll(regions: Region[]): void {
    for (const region of regions.splice(0)) this.#memory.release(region);
  }
}
