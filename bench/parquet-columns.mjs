// @ts-check
// The columns of tables: a corpus of one has lines of JSON, and its copy as Parquet has these types, in the words of
// Arrow.

/** @import { CorpusKind } from './corpus.mjs' */

/** @typedef {() => number} Random uniform in [0, 1) */
/** @typedef {(random: Random) => string | number} Draw */

/** @param {number} limit @returns {(random: Random) => number} whole numbers */
const below = (limit) => (random) => Math.floor(limit * random());
/** @param {Draw} draw @returns {Draw} */
const oftenNull = (draw) => (random) => (random() < 0.3 ? 'null' : draw(random));
/** @param {Random} random */
const time = (random) => `"${new Date(below(1.7e12)(random)).toISOString().slice(0, -1)}"`;

/** @type {Record<'articles' | 'numbers', Record<string, [type: string, Draw?]>>} some begin each line, the others are drawn */
const columns = {
  articles: {
    url: ['string'],
    text: ['string'],
    timestamp: ['timestamp[us]', time],
    score: ['double', (random) => random().toFixed(6)],
  },
  numbers: {
    id: ['int64'],
    time: ['timestamp[us]', time],
    day: ['int32', below(20_000)],
    hash: ['int64', below(2 ** 52)],
    offset: ['int64', below(2 ** 40)],
    user: ['int32', below(2 ** 31)],
    item: ['int32', (random) => Math.floor(500_000 * random() ** 3)],
    count: ['int32', below(1000)],
    rank: ['int16', below(2 ** 15)],
    kind: ['int8', below(5)],
    flag: ['int8', below(2)],
    price: ['double', (random) => (10_000 * random() ** 2).toFixed(2)],
    score: ['double', (random) => random()],
    latitude: ['double', (random) => 180 * random() - 90],
    weight: ['float', (random) => random().toFixed(4)],
    level: ['float', below(20)],
    rating: ['int32', oftenNull(below(6))],
    delay: ['double', oftenNull((random) => -Math.log(1 - random()))],
  },
};

/** Members of a JSON object, each after a comma. @param {keyof typeof columns} kind @param {Random} random */
export function drawColumns(kind, random) {
  return Object.entries(columns[kind])
    .map(([name, [, draw]]) => (draw === undefined ? '' : `,"${name}":${draw(random)}`))
    .join('');
}

/** @param {CorpusKind} kind @returns {string} a JSON object of the types by name */
export function columnTypes(kind) {
  const ofKind = kind === 'articles' || kind === 'numbers' ? columns[kind] : {};
  return JSON.stringify(Object.fromEntries(Object.entries(ofKind).map(([name, [type]]) => [name, type])));
}
