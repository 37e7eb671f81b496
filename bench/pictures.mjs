/**
 * Draws the pictures of README.md and the docs, from real runs: `npm run docs:pictures` writes docs/pictures/*.svg. The
 * same numbers give the same pictures.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { axisY, cell, plot, text } from '@observablehq/plot';
import { SvgDocument } from '../dist/src/jobs/report/svg-document.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const command = join(root, 'dist/bundle/main.cjs');
const bufferShuffle = join(root, 'bench/peers/buffer-shuffle.py');
const pictures = join(root, 'docs/pictures');

const COUNT = 100_000;
const BUFFER = 10_000;
/** Cells on each side of a heat map. */
const SIDE = 25;
const SEED = '1';

/** A picture in a page has no colours but its own, and a ground of its own: the page may be dark where the system is light. */
const STYLE = `
svg { --page: #fff; --ink: #1b1f24; --soft: #57606a; --first: #0b63b5; --second: #b3470b; --quiet: #e4e8ec; color: var(--ink); font-family: system-ui, sans-serif; }
@media (prefers-color-scheme: dark) { svg { --page: #12161b; --ink: #e6e9ec; --soft: #a3adb8; --first: #6cb4ff; --second: #ffa163; --quiet: #303842; } }`;

/** @param {string} svg
 * @param {string} title */
function withStyle(svg, title) {
  return svg.replace(
    /^<svg ([^>]*)>/,
    `<svg xmlns="http://www.w3.org/2000/svg" $1 role="img"><title>${title}</title><style>${STYLE}\n</style><rect width="100%" height="100%" rx="8" fill="var(--page)"></rect>`,
  );
}

/**
 * The records of an input in the order of two outputs: that of a shuffle buffer, and that of pileshuf.
 */
function realOrders() {
  const directory = mkdtempSync(join(tmpdir(), 'pictures-'));
  const [input, output] = [join(directory, 'in'), join(directory, 'out')];
  const orderIn = (/** @type {string} */ text) => text.trimEnd().split('\n').map(Number);
  try {
    writeFileSync(input, Array.from({ length: COUNT }, (_, i) => `${i}\n`).join(''));
    const ofBuffer = execFileSync('python3', [bufferShuffle, SEED, String(BUFFER), input], { encoding: 'utf8' });
    execFileSync(process.execPath, [command, '-q', input, '-o', output, '--seed', SEED, '-T', directory]);
    return [
      { name: 'shuffle buffer of 10,000 records', order: orderIn(ofBuffer) },
      { name: 'pileshuf', order: orderIn(readFileSync(output, 'utf8')) },
    ];
  } finally {
    rmSync(directory, { recursive: true });
  }
}

function heatMap() {
  const orders = realOrders();
  const gap = 4;
  const cells = orders.flatMap(({ order }, panel) => {
    const counts = new Map();
    for (const [to, from] of order.entries()) {
      const key = Math.floor((to * SIDE) / COUNT) * SIDE + Math.floor((from * SIDE) / COUNT);
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    const first = panel * (SIDE + gap);
    return [...counts].map(([key, count]) => ({ x: first + (key % SIDE), y: Math.floor(key / SIDE), count }));
  });
  const names = orders.map(({ name }, panel) => ({ name, x: panel * (SIDE + gap) + Math.floor(SIDE / 2) }));
  const columns = Array.from({ length: 2 * SIDE + gap }, (_, i) => i);
  const rows = Array.from({ length: SIDE }, (_, i) => SIDE - 1 - i);
  const chart = plot({
    document: new SvgDocument(),
    className: 'chart',
    width: 772,
    height: 430,
    marginTop: 40,
    marginBottom: 36,
    marginLeft: 92,
    marginRight: 4,
    padding: 0,
    x: { domain: columns, axis: null },
    y: { domain: rows, axis: null },
    opacity: { type: 'sqrt', domain: [0, (5 * COUNT) / SIDE ** 2], range: [0.04, 1], clamp: true },
    marks: [
      cell(cells, { x: 'x', y: 'y', fill: 'var(--first)', fillOpacity: 'count' }),
      text(names, {
        x: 'x',
        text: 'name',
        frameAnchor: 'top',
        dy: -26,
        fontSize: 16,
        fontWeight: 600,
        fill: 'currentColor',
      }),
      text(names, {
        x: 'x',
        text: () => 'place in the input',
        frameAnchor: 'bottom',
        dy: 24,
        fontSize: 13,
        fill: 'currentColor',
      }),
      axisY([0, SIDE - 1], {
        label: null,
        tickSize: 0,
        tickFormat: (row) => (row === 0 ? 'first written' : 'last written'),
        fontSize: 12,
      }),
    ],
  });
  const title =
    'Where 100,000 records went: with a shuffle buffer of 10,000 they stay near their old places, with pileshuf they go anywhere';
  return withStyle(inPaths(String(chart)), title);
}

/**
 * Cells of one strength become one path, which takes a third of the bytes.
 * @param {string} svg
 */
function inPaths(svg) {
  return svg.replace(/(?:<rect [^>]*fill-opacity[^>]*><\/rect>)+/g, (rects) => {
    /** @type {Map<number, string>} */
    const paths = new Map();
    for (const [rect] of rects.matchAll(/<rect [^>]*>/g)) {
      const number = (/** @type {string} */ name) => Number(new RegExp(` ${name}="([^"]*)"`).exec(rect)?.[1]);
      const opacity = Math.round(20 * number('fill-opacity')) / 20;
      const cellPath = `M${number('x')},${number('y')}h${number('width')}v${number('height')}h${-number('width')}z`;
      paths.set(opacity, (paths.get(opacity) ?? '') + cellPath);
    }
    return [...paths].map(([opacity, d]) => `<path fill-opacity="${opacity}" d="${d}"></path>`).join('');
  });
}

/** @param {{ x: number, y: number, width: number, colour: string, label: string }} box */
function boxOf({ x, y, width, colour, label }) {
  const shape = `<rect x="${x}" y="${y - 18}" width="${width}" height="36" rx="4" fill="${colour}" fill-opacity="0.22" stroke="${colour}"/>`;
  return `${shape}<text x="${x + width / 2}" y="${y + 4}" text-anchor="middle" fill="var(--ink)">${label}</text>`;
}

/** @param {{ from: readonly [number, number], to: readonly [number, number], colour: string, label?: string }} line */
function lineOf({ from: [x1, y1], to: [x2, y2], colour, label = '' }) {
  const middle = (x1 + x2) / 2;
  const path = `<path d="M${x1},${y1}C${middle},${y1} ${middle},${y2} ${x2},${y2}" fill="none" stroke="${colour}" stroke-opacity="0.55"/>`;
  if (label === '') return path;
  return `${path}<text x="${middle}" y="${y1 - 8}" text-anchor="middle" font-size="11" fill="var(--soft)">${label}</text>`;
}

/** Inputs, pile sets p^k with their piles, merged piles and shards, in columns from the left to the right. */
function twoPasses() {
  const piles = 4;
  const [yOfSlice, yOfPile] = [
    [102, 190, 278],
    [91, 157, 223, 289],
  ];
  const headings = [
    { x: 60, words: 'inputs', under: 'cut into slices' },
    { x: 282, words: 'pass 1: scatter', under: 'a pile set for each slice' },
    { x: 505, words: 'merge', under: 'pile j of all sets' },
    { x: 700, words: 'pass 2: shuffle', under: 'shards of the output' },
  ];
  const parts = headings.map(
    ({ x, words, under }) =>
      `<text x="${x}" y="26" text-anchor="middle" font-weight="600" fill="currentColor">${words}</text><text x="${x}" y="44" text-anchor="middle" font-size="12" fill="var(--soft)">${under}</text>`,
  );
  const [first, second, soft] = ['var(--first)', 'var(--second)', 'var(--soft)'];
  for (const [k, y] of yOfSlice.entries()) {
    parts.push(boxOf({ x: 20, y, width: 80, colour: soft, label: `slice ${k + 1}` }));
    parts.push(lineOf({ from: [100, y], to: [186, y], colour: first, label: 'worker' }));
    for (let j = 0; j < piles; j++) {
      const label = `p<tspan font-size="9" dy="-5">${k + 1}</tspan><tspan font-size="9" dy="8">${j + 1}</tspan>`;
      parts.push(boxOf({ x: 188 + j * 48, y, width: 44, colour: first, label }));
    }
  }
  for (const [j, y] of yOfPile.entries()) {
    for (const from of yOfSlice) parts.push(lineOf({ from: [380, from], to: [458, y], colour: first }));
    parts.push(boxOf({ x: 460, y, width: 90, colour: second, label: `pile ${j + 1}` }));
    parts.push(lineOf({ from: [550, y], to: [648, y], colour: second, label: 'by key' }));
    parts.push(boxOf({ x: 650, y, width: 100, colour: soft, label: `shard ${j + 1}` }));
  }
  const foot =
    'Each record has a random key. Pile j holds one range of keys; in the order of their keys the records are shuffled.';
  parts.push(`<text x="390" y="350" text-anchor="middle" font-size="13" fill="${soft}">${foot}</text>`);
  const size = 'width="780" height="370" viewBox="0 0 780 370" font-size="14"';
  const title =
    'The two passes: slices are scattered on piles, the piles of all slices are merged, shuffled and written as shards';
  return withStyle(`<svg ${size}>${parts.join('\n')}</svg>`, title);
}

mkdirSync(pictures, { recursive: true });
for (const [name, draw] of Object.entries({ 'two-passes': twoPasses, 'from-where-to-where': heatMap })) {
  const svg = `${draw()}\n`;
  writeFileSync(join(pictures, `${name}.svg`), svg);
  console.log(`docs/pictures/${name}.svg: ${svg.length} bytes`);
}
