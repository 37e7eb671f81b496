/**
 * Makes the pages of one leaf. Its first values decide how all are encoded: each encoding that may be shorter is tried on
 * them, compressed as pages will be. A dictionary that becomes too large ends; the pages after it are PLAIN. All this
 * happens between batches of rows, so it follows from the rows alone. A leaf with a carried dictionary decides nothing: each
 * of its chunks begins with that.
 */
import { crc32 } from 'node:zlib';
import { inPhase } from '../../../../floor/phase-clock.js';
import type { FinishedPage, FinishedPages } from '../../finished-pages.js';
import type { CarriedDictionary } from '../carried-dictionary.js';
import { type Leaf, valueBytesOf } from '../leaf.js';
import { ENCODINGS } from '../page-header.js';
import type { ChunkBounds, ChunkDescription, PageDescription } from '../row-group-description.js';
import { ThriftWriter } from '../thrift.js';
import { isBefore, shortBound, VALUE_ORDERS, type ValueOrder, withSignOfZero } from '../value-order.js';
import type { ColumnMemory } from './column-memory.js';
import { GrownRegion } from './grown-region.js';
import type { PageCompressor } from './page-compressors.js';
import { dictionaryLimitOf, MOST_DICTIONARY_ENTRIES, slotCountOf, slotsOf } from './page-sizes.js';

/** The words of `EncodedLeaf` (assembly/encode-leaf.ts), in their order. */
const WORDS = [
  'width',
  'isBoolean',
  'maxDefinition',
  'maxRepetition',
  'pageBytes',
  'dictionaryLimit',
  'entryLimit',
  'batchLimit',
  'sampleValues',
  'mode',
  'values',
  'valueCapacity',
  'valueBytes',
  'valueCount',
  'definitions',
  'repetitions',
  'levelCapacity',
  'entries',
  'dictionary',
  'dictionaryCapacity',
  'dictionaryBytes',
  'dictionaryCount',
  'slots',
  'slotCount',
  'offsets',
  'offsetCapacity',
  'batchBytes',
  'batchEntries',
] as const;
type Word = (typeof WORDS)[number];
const OFFSETS = Object.fromEntries(WORDS.map((word, i) => [word, 4 * i])) as Readonly<Record<Word, number>>;

const MODES = { sampling: 0, raw: 1, indexed: 2 } as const;
/** Values that decide. */
const SAMPLE_VALUES = 4096;
/** How many times as many values a column chunk is thought to have. */
const CHUNK_SAMPLES = 16;
/** Longer values are hardly ever repeated, and hashing them takes time. */
const MOST_DICTIONARY_VALUE_BYTES = 1024;
/** The part that another encoding must save: readers decode PLAIN fastest. */
const WORTHWHILE = 0.9;

const ANY_BYTES = 2 ** 32 - 1;
const NOTHING = new Uint8Array();

/** Longer values have bounds of about so many bytes (encode-bounds.ts). */
const MOST_BOUND_BYTES = 64;

const PAGE_TYPES = { data: 0, dictionary: 2 } as const;

/** The regions that the leaves of a writer use in turn. */
export interface SharedLeafRegions {
  readonly memory: ColumnMemory;
  readonly compressor: PageCompressor;
  /** The region for a page that is being encoded. */
  readonly area: GrownRegion;
  /** The region for the values of a batch that become indexes. */
  readonly scratch: GrownRegion;
}

export interface FinishedChunk {
  readonly description: ChunkDescription;
  /** The pages in the order in which they are written. */
  readonly pages: readonly FinishedPage[];
}

export class LeafEncoder {
  readonly #sharedRegions: SharedLeafRegions;
  readonly #address: number;
  readonly #order: ValueOrder;
  readonly #takesDelta: boolean;
  readonly #firstMode: number;
  readonly #pageBytes: number;
  readonly #carried: CarriedDictionary | undefined;
  readonly #values: GrownRegion;
  readonly #definitions: GrownRegion;
  readonly #repetitions: GrownRegion;
  readonly #dictionary: GrownRegion;
  readonly #slots: GrownRegion;
  readonly #offsets: GrownRegion;
  #isDelta = false;
  /** Rows of the row group before the page. */
  #pageRow = 0;
  #bounds: ChunkBounds | undefined;
  /** True if all values so far lie within `#bounds`. */
  #areBounded = true;
  #uncompressedBytes = 0;
  #pages: { readonly page: FinishedPage; readonly description: PageDescription }[] = [];

  /** @param address of its `EncodedLeaf`, all zeros. */
  constructor(
    sharedRegions: SharedLeafRegions,
    address: number,
    leaf: Leaf,
    order: ValueOrder,
    pageBytes: number,
    carried: CarriedDictionary | undefined,
  ) {
    const { memory } = sharedRegions;
    const region = () => new GrownRegion(memory);
    this.#sharedRegions = sharedRegions;
    this.#address = address;
    this.#order = leaf.type === 'FIXED_LEN_BYTE_ARRAY' && leaf.typeLength > MOST_BOUND_BYTES ? 'none' : order;
    this.#takesDelta = leaf.type === 'INT32' || leaf.type === 'INT64';
    this.#firstMode = carried !== undefined ? MODES.indexed : leaf.type === 'BOOLEAN' ? MODES.raw : MODES.sampling;
    this.#pageBytes = pageBytes;
    this.#carried = carried;
    [this.#values, this.#definitions, this.#repetitions] = [region(), region(), region()];
    [this.#dictionary, this.#slots, this.#offsets] = [region(), region(), region()];
    this.#set('width', valueBytesOf(leaf));
    this.#set('isBoolean', leaf.type === 'BOOLEAN' ? 1 : 0);
    this.#set('maxDefinition', leaf.maxDefinition);
    this.#set('maxRepetition', leaf.maxRepetition);
    this.#set('pageBytes', pageBytes);
    this.#set('dictionaryLimit', dictionaryLimitOf(pageBytes) + (carried?.values.byteLength ?? 0));
    this.#set('entryLimit', MOST_DICTIONARY_ENTRIES + (carried?.count ?? 0));
    this.#set('batchLimit', carried === undefined ? dictionaryLimitOf(pageBytes) : ANY_BYTES);
    this.#set('sampleValues', SAMPLE_VALUES);
    this.#set('mode', this.#firstMode);
  }

  #get(word: Word): number {
    return this.#sharedRegions.memory.wasm.word(this.#address + OFFSETS[word]) >>> 0;
  }

  #set(word: Word, value: number): void {
    this.#sharedRegions.memory.wasm.setWord(this.#address + OFFSETS[word], value);
  }

  /**
   * Makes room for the batch that is split next: decides, ends a dictionary or a page where it is time.
   * @param rows of the row group before the batch.
   */
  makeReady(rows: number, pages: FinishedPages): void {
    const newEntries = this.#sharedRegions.memory.wasm.newEntries(this.#address);
    const batchBytes = this.#get('batchBytes');
    const levels = Number(this.#get('maxDefinition') > 0) + Number(this.#get('maxRepetition') > 0);
    for (;;) {
      const mode = this.#get('mode');
      const valueBytes = this.#get('valueBytes') + (mode === MODES.indexed ? 4 * newEntries : batchBytes);
      const entries = this.#get('entries') + newEntries;
      const isFull = entries > newEntries && valueBytes + entries * levels > this.#pageBytes;
      if (mode === MODES.sampling && (isFull || this.#get('valueCount') >= SAMPLE_VALUES)) this.#decide(false);
      else if (mode === MODES.indexed && this.#isDictionaryOver(batchBytes)) {
        this.#finishPage(rows, pages);
        this.#set('mode', MODES.raw);
      } else if (isFull) this.#finishPage(rows, pages);
      else {
        this.#makeRoom(valueBytes, levels === 0 ? 0 : entries);
        if (mode === MODES.indexed) {
          if (this.#get('dictionaryCount') === 0) this.#beginDictionary();
          this.#growDictionary(batchBytes, newEntries);
          this.#sharedRegions.scratch.ensure(batchBytes);
        }
        return;
      }
    }
  }

  /** It is full, or long values come. */
  #isDictionaryOver(batchBytes: number): boolean {
    return (
      (this.#get('width') === 0 && batchBytes > this.#get('batchLimit')) ||
      this.#get('dictionaryBytes') > this.#get('dictionaryLimit') ||
      this.#get('dictionaryCount') > this.#get('entryLimit')
    );
  }

  #makeRoom(valueBytes: number, entries: number): void {
    this.#values.ensure(valueBytes, this.#get('valueBytes'), this.#pageBytes);
    const usedEntries = this.#get('entries');
    if (entries > 0) this.#definitions.ensure(entries, usedEntries, this.#pageBytes);
    if (entries > 0 && this.#get('maxRepetition') > 0) this.#repetitions.ensure(entries, usedEntries, this.#pageBytes);
    this.#noteRoom();
  }

  #noteRoom(): void {
    this.#set('values', this.#values.address);
    this.#set('valueCapacity', this.#values.byteLength);
    this.#set('definitions', this.#definitions.address);
    this.#set('repetitions', this.#repetitions.address);
    const levels = this.#get('maxRepetition') > 0 ? [this.#definitions, this.#repetitions] : [this.#definitions];
    this.#set('levelCapacity', Math.min(...levels.map(({ byteLength }) => byteLength)));
  }

  #beginDictionary(): void {
    const { count = 0, values = NOTHING } = this.#carried ?? {};
    if (count === 0) return;
    const { memory } = this.#sharedRegions;
    this.#dictionary.ensure(this.#get('dictionaryLimit'));
    this.#growDictionary(values.byteLength, count);
    memory.bytes.set(values, this.#dictionary.address);
    memory.wasm.beginDictionary(this.#address, values.byteLength, count);
  }

  #growDictionary(newBytes: number, newEntries: number): void {
    const { wasm } = this.#sharedRegions.memory;
    const [byteLength, count] = [this.#get('dictionaryBytes'), this.#get('dictionaryCount')];
    const usualBytes = this.#get('dictionaryLimit');
    this.#set('dictionary', this.#dictionary.ensure(byteLength + newBytes, byteLength, usualBytes));
    this.#set('dictionaryCapacity', this.#dictionary.byteLength);
    if (this.#get('width') === 0) {
      this.#set('offsets', this.#offsets.ensure(4 * (count + newEntries), 4 * count, 4 * this.#get('entryLimit')));
      this.#set('offsetCapacity', Math.floor(this.#offsets.byteLength / 4));
    }
    const slotCount = slotCountOf(count + newEntries);
    if (count > 0 && slotCount <= this.#get('slotCount')) return;
    const slots = this.#slots.ensure(4 * slotCount);
    this.#set('slots', slots);
    this.#set('slotCount', slotCount);
    wasm.clear(slots, 4 * slotCount);
    wasm.fillSlots(this.#address);
  }

  /** @param isWhole whether these are all values of the chunk. */
  #decide(isWhole: boolean): void {
    this.#set('mode', MODES.raw);
    this.#isDelta = false;
    const { memory, area } = this.#sharedRegions;
    const [valueCount, valueBytes, width] = [this.#get('valueCount'), this.#get('valueBytes'), this.#get('width')];
    const count = Math.min(valueCount, SAMPLE_VALUES);
    const byteLength = width > 0 ? count * width : memory.wasm.bytesOfArrays(this.#values.address, count);
    if (count === 0 || byteLength > count * MOST_DICTIONARY_VALUE_BYTES) return;
    // Indexes of all values; after them, what is tried.
    const indexes = area.ensure(4 * valueCount + 2 * byteLength + 8 * SAMPLE_VALUES);
    const tried = indexes + 4 * valueCount;
    this.#growDictionary(byteLength, count);
    memory.wasm.indexSample(this.#address, this.#values.address, count, indexes);
    const [distinct, distinctBytes] = [this.#get('dictionaryCount'), this.#get('dictionaryBytes')];
    const sizeOf = (encoding: number, from: number) =>
      this.#compressedBytes(tried, memory.wasm.encodeValues(this.#address, encoding, from, count, byteLength, tried));

    const total = isWhole ? valueCount : CHUNK_SAMPLES * count;
    const expected = Math.min(expectedDistinct(count, distinct), total);
    const mayIndex =
      expected < total &&
      expected <= MOST_DICTIONARY_ENTRIES &&
      (expected / distinct) * distinctBytes <= dictionaryLimitOf(this.#pageBytes);
    let isIndexed = false;
    if (mayIndex || this.#takesDelta) {
      const plainBytes = sizeOf(ENCODINGS.PLAIN, this.#values.address);
      const deltaBytes = this.#takesDelta
        ? sizeOf(ENCODINGS.DELTA_BINARY_PACKED, this.#values.address)
        : Number.POSITIVE_INFINITY;
      this.#isDelta = deltaBytes < WORTHWHILE * plainBytes;
      if (mayIndex) {
        const share = (expected / distinct) * (count / total);
        const dictionaryBytes = share * this.#compressedBytes(this.#dictionary.address, distinctBytes);
        const moreBits = Math.log2(slotsOf(expected) / slotsOf(distinct));
        const indexBytes = sizeOf(ENCODINGS.RLE_DICTIONARY, indexes) + (moreBits * count) / 8;
        isIndexed = dictionaryBytes + indexBytes < WORTHWHILE * (this.#isDelta ? deltaBytes : plainBytes);
      }
    }
    if (!isIndexed) {
      this.#forgetDictionary();
      return;
    }
    const rest = valueCount - count;
    this.#growDictionary(valueBytes - byteLength, rest);
    memory.wasm.indexSample(this.#address, this.#values.address + byteLength, rest, indexes + 4 * count);
    this.#values.ensure(4 * valueCount);
    this.#noteRoom();
    memory.wasm.copy(this.#values.address, indexes, 4 * valueCount);
    this.#set('valueBytes', 4 * valueCount);
    this.#set('mode', MODES.indexed);
  }

  #forgetDictionary(): void {
    for (const region of [this.#dictionary, this.#slots, this.#offsets]) region.release();
    this.#set('dictionaryCapacity', 0);
    this.#set('dictionaryBytes', 0);
    this.#set('dictionaryCount', 0);
    this.#set('slotCount', 0);
    this.#set('offsetCapacity', 0);
  }

  #compressedBytes(address: number, byteLength: number): number {
    return inPhase('compress', () => this.#sharedRegions.compressor.compress(address, byteLength)).byteLength;
  }

  /** @param rows of the row group before the next page. */
  #finishPage(rows: number, pages: FinishedPages): void {
    const { memory, area } = this.#sharedRegions;
    const [entries, valueCount] = [this.#get('entries'), this.#get('valueCount')];
    const encoding = this.#encodingOf(valueCount);
    area.ensure(Math.max(memory.wasm.pageBound(this.#address), this.#get('dictionaryCount')));
    const bounds = this.#findBounds(valueCount);
    const byteLength = memory.wasm.encodePage(this.#address, encoding, area.address);
    const writeHeader = (writer: ThriftWriter) => {
      writer.field(5).struct(() => {
        writer.field(1).i32(entries).field(2).i32(encoding).field(3).i32(ENCODINGS.RLE).field(4).i32(ENCODINGS.RLE);
      });
    };
    const page = this.#store(PAGE_TYPES.data, area.address, byteLength, writeHeader, pages);
    this.#pages.push({
      page,
      description: {
        byteLength: page.byteLength,
        rows: rows - this.#pageRow,
        nullCount: entries - valueCount,
        bounds,
        encoding,
        valueCount: entries,
      },
    });
    this.#pageRow = rows;
    this.#set('valueBytes', 0);
    this.#set('valueCount', 0);
    this.#set('entries', 0);
    this.#forgetLongValues();
  }

  #forgetLongValues(): void {
    const { area, scratch } = this.#sharedRegions;
    area.trim(16 * this.#pageBytes, 0, this.#pageBytes);
    for (const region of [scratch, this.#values, this.#definitions, this.#repetitions]) {
      region.trim(2 * this.#pageBytes, 0, this.#pageBytes);
    }
    this.#noteRoom();
  }

  #encodingOf(valueCount: number): number {
    if (this.#get('mode') === MODES.indexed) return ENCODINGS.RLE_DICTIONARY;
    return this.#isDelta && valueCount > 0 ? ENCODINGS.DELTA_BINARY_PACKED : ENCODINGS.PLAIN;
  }

  #store(
    type: number,
    address: number,
    byteLength: number,
    writeHeader: (writer: ThriftWriter) => void,
    pages: FinishedPages,
  ): FinishedPage {
    const body = inPhase('compress', () => this.#sharedRegions.compressor.compress(address, byteLength));
    const writer = new ThriftWriter();
    writer.struct(() => {
      writer.field(1).i32(type).field(2).i32(byteLength).field(3).i32(body.byteLength);
      writer.field(4).i32(crc32(body) | 0);
      writeHeader(writer);
    });
    const header = writer.take();
    this.#uncompressedBytes += header.byteLength + byteLength;
    return pages.add(header, body);
  }

  /** Finds the bounds of the page; widens those of the chunk. */
  #findBounds(valueCount: number): ChunkBounds | undefined {
    if (valueCount === 0) return undefined;
    const found = this.#boundsOfPage();
    // A page of NaN alone has no bounds, and changes none.
    if (found === undefined) this.#areBounded &&= this.#order === 'floating';
    else {
      const former = this.#bounds ?? found;
      const [first, last] = [
        isBefore(this.#order, found.least, former.least) ? found : former,
        isBefore(this.#order, former.most, found.most) ? found : former,
      ];
      const { least, isLeastExact } = first;
      this.#bounds = { least, isLeastExact, most: last.most, isMostExact: last.isMostExact };
    }
    return found;
  }

  #boundsOfPage(): ChunkBounds | undefined {
    const { memory, area } = this.#sharedRegions;
    const order = this.#order;
    if (order === 'none' || !memory.wasm.findBounds(this.#address, VALUE_ORDERS[order], area.address)) return undefined;
    const { leastAt, leastBytes, mostAt, mostBytes } = memory.wasm;
    const boundAt = (at: number, byteLength: number, isLeast: boolean) => {
      const bytes = memory.bytes.slice(at, at + Math.min(byteLength, MOST_BOUND_BYTES));
      if (order === 'floating') return withSignOfZero(bytes, isLeast);
      return byteLength <= MOST_BOUND_BYTES ? bytes : shortBound(order, bytes, isLeast);
    };
    const least = boundAt(leastAt.value >>> 0, leastBytes.value >>> 0, true);
    const most = boundAt(mostAt.value >>> 0, mostBytes.value >>> 0, false);
    if (least === undefined || most === undefined) return undefined;
    const isExact = (byteLength: number) => byteLength >>> 0 <= MOST_BOUND_BYTES;
    return { least, most, isLeastExact: isExact(leastBytes.value), isMostExact: isExact(mostBytes.value) };
  }

  /** The next rows begin another chunk. @param rows of the row group. */
  endChunk(rows: number, pages: FinishedPages): FinishedChunk {
    if (this.#get('mode') === MODES.sampling) this.#decide(true);
    if (this.#get('entries') > 0) this.#finishPage(rows, pages);
    const dictionary = this.#storeDictionary(pages);
    const description = {
      dictionaryBytes: dictionary?.byteLength ?? 0,
      uncompressedBytes: this.#uncompressedBytes,
      bounds: this.#areBounded ? this.#bounds : undefined,
      pages: this.#pages.map((each) => each.description),
    };
    const data = this.#pages.map(({ page }) => page);
    this.#pages = [];
    this.#pageRow = 0;
    this.#bounds = undefined;
    this.#areBounded = true;
    this.#uncompressedBytes = 0;
    this.#set('mode', this.#firstMode);
    return { description, pages: dictionary === undefined ? data : [dictionary, ...data] };
  }

  #storeDictionary(pages: FinishedPages): FinishedPage | undefined {
    const count = this.#get('dictionaryCount');
    // Readers want one before indexes, also where all values are null.
    if (count === 0 && (this.#carried === undefined || this.#pages.length === 0)) return undefined;
    const writeHeader = (writer: ThriftWriter) => {
      writer.field(7).struct(() => writer.field(1).i32(count).field(2).i32(ENCODINGS.PLAIN).field(3).boolean(false));
    };
    const [address, byteLength] = [this.#dictionary.address, this.#get('dictionaryBytes')];
    const page = this.#store(PAGE_TYPES.dictionary, address, byteLength, writeHeader, pages);
    this.#forgetDictionary();
    return page;
  }

  close(): void {
    this.#forgetDictionary();
    for (const region of [this.#values, this.#definitions, this.#repetitions]) region.release();
  }
}

/**
 * Returns how many values differ among those drawn alike, as a few of them show it: among n of K values, n * n / 2K are
 * equal to another.
 */
function expectedDistinct(count: number, distinct: number): number {
  if (distinct === count) return Number.POSITIVE_INFINITY;
  if (distinct <= count / 8) return distinct;
  return distinct <= count / 2 ? 1.25 * distinct : (count * count) / (2 * (count - distinct));
}
