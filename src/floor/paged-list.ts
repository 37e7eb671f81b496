/**
 * A long list in pages. The items of a full page are packed into bytes outside of the heap of JavaScript, and made again
 * when somebody asks for one: a million small objects would take ten times as much, and each collection of garbage would
 * visit them.
 */

/** A list that is only read. Arrays are such lists, too. */
export interface List<Item> extends Iterable<Item> {
  readonly length: number;
  at(index: number): Item | undefined;
  entries(): Iterable<[number, Item]>;
  find<Found extends Item>(test: (item: Item) => item is Found): Found | undefined;
  find(test: (item: Item) => boolean): Item | undefined;
  findIndex(test: (item: Item) => boolean): number;
  some(test: (item: Item) => boolean): boolean;
  every(test: (item: Item) => boolean): boolean;
  filter<Kept extends Item>(test: (item: Item, index: number) => item is Kept): Kept[];
  filter(test: (item: Item, index: number) => boolean): Item[];
  map<To>(to: (item: Item, index: number) => To): To[];
  flatMap<To>(to: (item: Item, index: number) => readonly To[]): To[];
  reduce<Sum>(add: (sum: Sum, item: Item, index: number) => Sum, start: Sum): Sum;
}

/** Packs the items of a page, and makes them again. */
export interface Packing<Item> {
  /** How many items a page has. */
  readonly pageLength: number;
  pack(items: readonly Item[]): Uint8Array;
  unpack(page: Uint8Array): Item[];
}

export class PagedList<Item> implements List<Item> {
  readonly #packing: Packing<Item>;
  readonly #pages: Uint8Array[] = [];
  /** The items after the last full page. */
  #rest: Item[] = [];
  /** The page that was asked for last: most callers go from item to item. */
  #open: { readonly number: number; readonly items: readonly Item[] } | undefined;

  constructor(packing: Packing<Item>) {
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

  at(index: number): Item | undefined {
    const { pageLength } = this.#packing;
    return this.#page(Math.floor(index / pageLength))[index % pageLength];
  }

  #page(number: number): readonly Item[] {
    const page = this.#pages[number];
    if (page === undefined) return number === this.#pages.length ? this.#rest : [];
    if (this.#open?.number !== number) this.#open = { number, items: this.#packing.unpack(page) };
    return this.#open.items;
  }

  *[Symbol.iterator](): Generator<Item, void> {
    for (let number = 0; number <= this.#pages.length; number++) yield* this.#page(number);
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

  filter<Kept extends Item>(test: (item: Item, index: number) => item is Kept): Kept[];
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
