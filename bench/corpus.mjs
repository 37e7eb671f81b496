// @ts-check
// Makes the seeded corpora: plain files of lines that are all different, because each has its number, so the checksum
// notices every lost, doubled or broken line. A line is a head with the number, a slice of a fixed block of text, and a
// tail. Drawing a slice costs a few nanoseconds and copying it runs at memory speed, so the disk sets the pace.
// `corpus.json` beside the files describes them. It is written last. A later bench with the same parameters reuses the
// files; otherwise it makes them again.

import fs from 'node:fs';
import path from 'node:path';
import seedrandom from 'seedrandom';
import { checksumLines } from './checksum.mjs';
import { drawColumns } from './parquet-columns.mjs';

/** @import { LineChecksum } from './checksum.mjs' */

/** @typedef {'sentences' | 'mixed' | 'documents' | 'tiny' | 'articles' | 'numbers'} CorpusKind */
/** @typedef {() => number} Random uniform in [0, 1) */
/** @typedef {{ byteLength: number, wordCount: number }} TextSize the number of different words */

/**
 * @typedef {object} CorpusParameters
 * @property {CorpusKind} kind
 * @property {string} seed
 * @property {number} fileCount
 * @property {number} sizeBytes each file ends with the line that reaches its share
 * @property {number | null} lineCount if given, each file has its share of the lines instead
 */

/**
 * @typedef {object} Inputs
 * @property {string} pattern a shell pattern for the files, from the work directory
 * @property {string[]} files absolute paths, in order
 * @property {number} bytes of the lines, before compression
 */

/** @typedef {Inputs & { parameters: CorpusParameters, folder: string, lines: number }} Corpus in a folder of its own */

/**
 * @typedef {object} LineShape
 * @property {string} head starts with the lowest number
 * @property {number} numberEnd offset in the head of the end of the number
 * @property {10 | 36} base of the number
 * @property {boolean} [isMixed] whether the first digit of the number changes most often: then no file is sorted
 * @property {(random: Random) => string} [drawColumns] what follows the text
 * @property {string} tail
 * @property {(random: Random) => number} drawTextByteLength
 * @property {TextSize} [text] the text that slices are drawn from; default `shortText`
 */

const formatVersion = 1; // rises when the same parameters give other bytes
const blockByteLength = 1 << 20;
const longestTextByteLength = 40_000;
/** Stays in the L2 or L3 cache, and is far longer than a line. */
const shortText = { byteLength: 1 << 20, wordCount: 4096 };
/**
 * A slice hardly repeats what a compressor still sees: compresses like text of a language, to a factor of 2.3 by zstd at
 * level 1 and 2.7 at level 3.
 */
const longText = { byteLength: 64 << 20, wordCount: 20_000 };
const mostBytesBesideText = 1024;

/** @type {Record<CorpusKind, LineShape>} */
const shapes = {
  // 20 to 190 bytes with the newline, uniform: mean 105.
  sentences: {
    head: '0000000000 ',
    numberEnd: 10,
    base: 10,
    tail: '\n',
    drawTextByteLength: (random) => 8 + Math.floor(random() * 171),
  },
  mixed: {
    head: '0000000000 ',
    numberEnd: 10,
    base: 10,
    isMixed: true,
    tail: '\n',
    drawTextByteLength: (random) => 8 + Math.floor(random() * 171),
  },
  // 30 bytes of JSON around 170 bytes plus an exponential of mean 2300: mean 2.5 KB, with a long tail like web pages.
  documents: {
    head: '{"id":"0000000000","text":"',
    numberEnd: 17,
    base: 10,
    tail: '"}\n',
    drawTextByteLength: drawDocumentByteLength,
  },
  // 8 bytes with the newline; seven digits to base 36 number 78e9 lines.
  tiny: { head: '0000000', numberEnd: 7, base: 36, tail: '\n', drawTextByteLength: () => 0 },
  // Rows of tables.
  articles: {
    head: '{"url":"https://example.org/0000000000","text":"',
    numberEnd: 38,
    base: 10,
    tail: '}\n',
    drawTextByteLength: drawDocumentByteLength,
    drawColumns: (random) => `"${drawColumns('articles', random)}`,
    text: longText,
  },
  numbers: {
    head: '{"id":1000000000',
    numberEnd: 16,
    base: 10,
    tail: '}\n',
    drawTextByteLength: () => 0,
    drawColumns: (random) => drawColumns('numbers', random),
  },
};

/** @param {Random} random */
function drawDocumentByteLength(random) {
  return Math.min(longestTextByteLength, 170 + Math.floor(-2300 * Math.log(1 - random())));
}

/**
 * Makes the corpus under `workDir`, or reuses it.
 *
 * @param {string} workDir
 * @param {{ kind: CorpusKind, seed: string, fileCount?: number | undefined, sizeBytes?: number, lineCount?: number | undefined }} wanted
 * @returns {Corpus}
 */
export function makeCorpus(workDir, { kind, seed, fileCount = 8, sizeBytes = 0, lineCount }) {
  /** @type {CorpusParameters} */
  const parameters = {
    kind,
    seed,
    fileCount: lineCount === undefined ? fileCount : 1,
    sizeBytes,
    lineCount: lineCount ?? null,
  };
  const folder = lineCount === undefined ? `${kind}-${sizeBytes}-in-${fileCount}` : `${kind}-${lineCount}-lines`;
  const corpusDir = path.join(workDir, folder);
  const files = Array.from({ length: parameters.fileCount }, (_, i) => path.join(corpusDir, `part-${i}.txt`));
  const sizes = readSizesOfSame(corpusDir, parameters, files) ?? writeCorpus(corpusDir, parameters, files);
  return { parameters, folder, pattern: patternOf(folder), files, ...sizes };
}

/** @param {string} folder */
export function patternOf(folder) {
  return `${folder}/part-*`;
}

/** The corpus given several times, one after the other. @param {Corpus} corpus @param {number} passes @returns {Corpus} */
export function repeatCorpus(corpus, passes) {
  const { pattern, files, bytes, lines } = corpus;
  return {
    ...corpus,
    pattern: Array(passes).fill(pattern).join(' '),
    files: Array.from({ length: passes }, () => files).flat(),
    bytes: bytes * passes,
    lines: lines * passes,
  };
}

/** The first eighth of the files of a corpus, plain ones. @param {Corpus} corpus @returns {Inputs} */
export function firstEighthOf({ folder, files }) {
  const first = files.slice(0, files.length / 8);
  const bytes = first.reduce((sum, file) => sum + fs.statSync(file).size, 0);
  return { pattern: `${folder}/part-{0..${first.length - 1}}.*`, files: first, bytes };
}

/**
 * The checksum of plain inputs. The checksum of a whole corpus is computed once and kept beside its files.
 *
 * @param {Inputs} inputs
 * @returns {LineChecksum}
 */
export function checksumInputs({ pattern, files }) {
  const corpusDir = path.dirname(/** @type {string} */ (files[0]));
  if (pattern !== patternOf(path.basename(corpusDir))) return checksumLines(files);
  const file = path.join(corpusDir, 'checksum.json');
  if (!fs.existsSync(file)) fs.writeFileSync(file, `${JSON.stringify(checksumLines(files))}\n`);
  return JSON.parse(fs.readFileSync(file, 'utf8'));
}

/**
 * @param {string} corpusDir
 * @param {CorpusParameters} parameters
 * @param {string[]} files
 * @returns {{ bytes: number, lines: number } | undefined} undefined if files are missing or differ
 */
function readSizesOfSame(corpusDir, parameters, files) {
  const file = path.join(corpusDir, 'corpus.json');
  if (!fs.existsSync(file)) return undefined;
  const found = JSON.parse(fs.readFileSync(file, 'utf8'));
  if (JSON.stringify(found.parameters) !== JSON.stringify(parameters)) return undefined;
  if (found.formatVersion !== formatVersion || !files.every((each) => fs.existsSync(each))) return undefined;
  const bytes = files.reduce((sum, each) => sum + fs.statSync(each).size, 0);
  return bytes === found.bytes ? { bytes, lines: found.lines } : undefined;
}

/**
 * @param {string} corpusDir
 * @param {CorpusParameters} parameters
 * @param {string[]} files
 * @returns {{ bytes: number, lines: number }}
 */
function writeCorpus(corpusDir, parameters, files) {
  fs.rmSync(corpusDir, { recursive: true, force: true });
  fs.mkdirSync(corpusDir, { recursive: true });
  const random = seedrandom.alea(`${parameters.seed}/${parameters.kind}`);
  const shape = shapes[parameters.kind];
  const lines = lineMaker(shape, drawText(random, shape.text ?? shortText), random);
  const limits =
    parameters.lineCount === null
      ? { bytes: parameters.sizeBytes / files.length, lines: Number.POSITIVE_INFINITY }
      : { bytes: Number.POSITIVE_INFINITY, lines: parameters.lineCount / files.length };
  const total = { bytes: 0, lines: 0 };
  for (const file of files) {
    const written = writeFile(file, lines, limits);
    total.bytes += written.bytes;
    total.lines += written.lines;
  }
  const description = JSON.stringify({ formatVersion, parameters, ...total }, null, 2);
  fs.writeFileSync(path.join(corpusDir, 'corpus.json'), `${description}\n`);
  return total;
}

/**
 * @param {string} file
 * @param {(block: Buffer, offset: number) => number} appendLine
 * @param {{ bytes: number, lines: number }} limits
 */
function writeFile(file, appendLine, limits) {
  const block = Buffer.allocUnsafe(blockByteLength);
  const fullAt = blockByteLength - longestTextByteLength - mostBytesBesideText;
  const fd = fs.openSync(file, 'wx');
  const written = { bytes: 0, lines: 0 };
  let end = 0;
  while (written.bytes + end < limits.bytes && written.lines < limits.lines) {
    end = appendLine(block, end);
    written.lines++;
    if (end < fullAt) continue;
    writeAll(fd, block, end);
    written.bytes += end;
    end = 0;
  }
  writeAll(fd, block, end);
  written.bytes += end;
  fs.closeSync(fd);
  return written;
}

/** @param {number} fd @param {Buffer} block @param {number} byteLength */
function writeAll(fd, block, byteLength) {
  let offset = 0;
  while (offset < byteLength) offset += fs.writeSync(fd, block, offset, byteLength - offset);
}

/**
 * A function that writes the next line into a block and returns where it ends.
 *
 * @param {LineShape} shape
 * @param {Buffer} text
 * @param {Random} random
 */
function lineMaker(shape, text, random) {
  const head = Buffer.from(shape.head);
  const tail = Buffer.from(shape.tail);
  return (/** @type {Buffer} */ block, /** @type {number} */ offset) => {
    let end = offset;
    // For a few bytes a call of `copy` costs more than this loop.
    for (let i = 0; i < head.length; i++) block[end++] = /** @type {number} */ (head[i]);
    const byteLength = shape.drawTextByteLength(random);
    if (byteLength > 0) {
      const start = Math.floor(random() * (text.length - byteLength));
      end += text.copy(block, end, start, start + byteLength);
    }
    if (shape.drawColumns !== undefined) end += block.write(shape.drawColumns(random), end, 'latin1');
    for (let i = 0; i < tail.length; i++) block[end++] = /** @type {number} */ (tail[i]);
    addOne(head, shape);
    return end;
  };
}

const zero = 48;
const nine = 57;
const a = 97;
const z = 122;

/** @param {Buffer} head @param {LineShape} shape */
function addOne(head, { numberEnd, base, isMixed = false }) {
  for (let step = 1; step <= numberEnd; step++) {
    const i = isMixed ? step - 1 : numberEnd - step;
    const digit = head[i];
    if (digit === nine && base === 36) head[i] = a;
    else if (digit === nine || digit === z) head[i] = zero;
    else head[i] = /** @type {number} */ (digit) + 1;
    if (head[i] !== zero) return;
  }
}

/**
 * Sentences of words; low-numbered words are frequent, as in a language.
 *
 * @param {Random} random
 * @param {TextSize} size
 */
function drawText(random, { byteLength, wordCount }) {
  const syllables = 'ba co du fe gi ha ju ka lo mi ne pu ra so ti vu we xi yo ze en st al or'.split(' ');
  const draw = (/** @type {number} */ count) => Math.floor(random() * count);
  const words = Array.from({ length: wordCount }, () =>
    Array.from({ length: 1 + draw(4) }, () => syllables[draw(syllables.length)]).join(''),
  );
  let text = '';
  while (text.length < byteLength) text += words[Math.floor(words.length * random() ** 3)] + (draw(12) ? ' ' : '. ');
  return Buffer.from(text.slice(0, byteLength));
}
