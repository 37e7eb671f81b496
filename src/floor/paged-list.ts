/**
 * Long lists in pages. The items of a page are packed into bytes outside of the heap of JavaScript, or lie in a file, and
 * are made again when somebody asks for one: a million small objects would take ten times as much, and each collection of
 * garbage would visit them.
 */

/** A list that is only read. Arrays are such lists, too. An index counts from 0. */
export interface List<Item> extends Iterable<Item> {
  readonly length: number;
  at(index: number): Item | undefined;
  entries(): Iterable<[number, Item]>;
  find<Found extends Item>(test: (item: Item) => item is Found): Found | undefined;
  find(test: (item: Item) => boolean): Item | undefined;
  findIndex(test: (item: Item) => boolean): number;
  some(test: (item: Item) => boolean): boolean;
  every(test: (item: Item) => boolean): boolean;
  filter<Some extends Item>(test: (item: Item, index: number) => item is Some): Some[];
  filter(test: (item: Item, index: number) => boolean): Item[];
  map<To>(to: (item: Item, index: number) => To): To[];
  flatMap<To>(to: (item: Item, index: number) => readonly To[]): To[];
  reduce<Sum>(add: (sum: Sum, item: Item, index: number) => Sum, start: Sum): Sum;
}

export abstract class PagedList<Item> implements List<Item> {
  readonly #pageLength: number;
  /** The page that was asked for last: most callers go from item to item. */
  #open: { readonly number: number; readonly items: readonly Item[] } | undefined;

  /** @param pageLength how many items each page has, but for the last one. */
  constructor(pageLength: number) {
    this.#pageLength = pageLength;
  }

  abstract get length(): number;

  /** Makes the items of a full page, or of the last one. */
  protected abstract readPage(number: number): readonly Item[];

  at(index: number): Item | undefined {
    if (index >= this.length) return undefined;
    return this.#page(Math.floor(index / this.#pageLength))[index % this.#pageLength];
  }

  #page(number: number): readonly Item[] {
    if (this.#open?.number !== number) this.#open = { number, items: this.readPage(number) };
    return this.#open.items;
  }

  /** Returns a list of what is made of the items, each time somebody asks. */
  mapped<To>(to: (item: Item, index: number) => To): PagedList<To> {
    return new MappedList(this, this.#pageLength, to);
  }

  *[Symbol.iterator](): Generator<Item, void> {
    for (let number = 0; number * this.#pageLength < this.length; number++) yield* this.#page(number);
  }

  *entries(): Generator<[number, Item], void> {
    let index = 0;
    for (const item of this) yield [index++, item];
  }

  find<Found extends Item>(test: (item: Item) => item is Found): Found | undefined;
  find(test: (item: Item) => boolean): Item | undefined;
  find(test: (item: Item) => boolean): Item | undefined {
    for (const item of this) if (test(item)) return item;
    return undefined;
  }

  findIndex(test: (item: Item) => boolean): number {
    for (const [index, item] of this.entries()) if (test(item)) return index;
    return -1;
  }

  some(test: (item: Item) => boolean): boolean {
    return this.findIndex(test) >= 0;
  }

  every(test: (item: Item) => boolean): boolean {
    return !this.some((item) => !test(item));
  }

  filter<Some extends Item>(test: (item: Item, index: number) => item is Some): Some[];
  filter(test: (item: Item, index: number) => boolean): Item[];
  filter(test: (item: Item, index: number) => boolean): Item[] {
    return this.flatMap((item, index) => (test(item, index) ? [item] : []));
  }

  map<To>(to: (item: Item, index: number) => To): To[] {
    return Array.from(this, to);
  }

  flatMap<To>(to: (item: Item, index: number) => readonly To[]): To[] {
    const all: To[] = [];
    for (const [index, item] of this.entries()) all.push(...to(item, index));
    return all;
  }

  reduce<Sum>(add: (sum: Sum, item: Item, index: number) => Sum, start: Sum): Sum {
    let sum = start;
    for (const [index, item] of this.entries()) sum = add(sum, item, index);
    return sum;
  }
}

class MappedList<From, To> extends PagedList<To> {
  readonly #from: List<From>;
  readonly #pageLength: number;
  readonly #to: (item: From, index: number) => To;

  constructor(from: List<From>, pageLength: number, to: (item: From, index: number) => To) {
    super(pageLength);
    this.#from = from;
    this.#pageLength = pageLength;
    this.#to = to;
  }

  get length(): number {
    return this.#from.length;
  }

  protected readPage(number: number): readonly To[] {
    const items: To[] = [];
    const first = number * this.#pageLength;
    for (let index = first; index < first + this.#pageLength; index++) {
      const item = this.#from.at(index);
      if (item !== undefined) items.push(this.#to(item, index));
    }
    return items;
  }
}

/** Packs the items of a page, and makes them again. */
export interface Packing<Item> {
  readonly pageLength: number;
  pack(items: readonly Item[]): Uint8Array;
  unpack(page: Uint8Array): Item[];
}

/** A list in memory. The items after the last full page stand as they are. */
export class PackedList<Item> extends PagedList<Item> {
  readonly #packing: Packing<Item>;
  readonly #pages: Uint8Array[] = [];
  #rest: Item[] = [];

  constructor(packing: Packing<Item>) {
    super(packing.pageLength);
    this.#packing = packing;
  }

  get length(): number {
    return this.#pages.length * this.#packing.pageLength + this.#rest.length;
  }

  push(item: Item): void {
    const { pageLength, pack } = this.#packing;
    this.#rest.push(item);
    if (this.#rest.length < pageLength) return;
    this.#pages.push(pack(this.#rest));
    this.#rest = [];
  }

  protected readPage(number: number): readonly Item[] {
    const page = this.#pages[number];
    return page === undefined ? this.#rest : this.#packing.unpack(page);
  }
}
