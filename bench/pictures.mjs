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
import seedrandom from 'seedrandom';
import { SvgDocument } from '../dist/src/jobs/report/svg-document.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const command = join(root, 'dist/bundle/main.cjs');
const pictures = join(root, 'docs/pictures');

const COUNT = 10_000;
/** Cells on each side of a heat map. */
const SIDE = 25;
const SEED = '1';

/** A picture in a page has no colours but its own. */
const STYLE = `
svg { --ink: #1b1f24; --soft: #57606a; --first: #0b63b5; --second: #b3470b; --quiet: #e4e8ec; color: var(--ink); font-family: system-ui, sans-serif; }
@media (prefers-color-scheme: dark) { svg { --ink: #e6e9ec; --soft: #a3adb8; --first: #6cb4ff; --second: #ffa163; --quiet: #303842; } }`;

function withStyle(svg, title) {
  return svg.replace(
    /^<svg ([^>]*)>/,
    `<svg xmlns="http://www.w3.org/2000/svg" $1 role="img"><title>${title}</title><style>${STYLE}\n</style>`,
  );
}

/** The records of the input in the order of the output. */
function orderOfPileshuf() {
  const directory = mkdtempSync(join(tmpdir(), 'pictures-'));
  try {
    const [input, output] = ['in', 'out'].map((name) => join(directory, name));
    writeFileSync(input, Array.from({ length: COUNT }, (_, i) => `${i}\n`).join(''));
    execFileSync(process.execPath, [command, '-q', input, '-o', output, '--seed', SEED, '-T', directory]);
    return readFileSync(output, 'utf8').trimEnd().split('\n').map(Number);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** As loaders do it: each draw from the buffer makes room for the next record of the input. */
function orderOfBuffer(size) {
  const draw = seedrandom(SEED);
  const buffer = Array.from({ length: size }, (_, i) => i);
  return Array.from({ length: COUNT }, (_, i) => {
    const at = Math.floor(draw() * buffer.length);
    const taken = buffer[at];
    if (i + size < COUNT) buffer[at] = i + size;
    else buffer.splice(at, 1);
    return taken;
  });
}

function heatMap() {
  const orders = {
    'buffer of 1,000 records': orderOfBuffer(COUNT / 10),
    pileshuf: orderOfPileshuf(),
  };
  const gap = 4;
  const cells = Object.values(orders).flatMap((order, panel) => {
    const counts = new Map();
    for (const [to, from] of order.entries()) {
      const [column, row] = [from, to].map((place) => Math.floor((place * SIDE) / COUNT));
      const key = row * SIDE + column;
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    const first = panel * (SIDE + gap);
    return [...counts].map(([key, count]) => ({ x: first + (key % SIDE), y: Math.floor(key / SIDE), count }));
  });
  const names = Object.keys(orders).map((name, panel) => ({ name, x: panel * (SIDE + gap) + Math.floor(SIDE / 2) }));
  const columns = Array.from({ length: 2 * SIDE + gap }, (_, i) => i);
  const rows = Array.from({ length: SIDE }, (_, i) => SIDE - 1 - i);
  const chart = plot({
    document: new SvgDocument(),
    className: 'chart',
    width: 760,
    height: 430,
    marginTop: 40,
    marginBottom: 36,
    marginLeft: 80,
    marginRight: 4,
    padding: 0,
    x: { domain: columns, axis: null },
    y: { domain: rows, axis: null },
    opacity: { type: 'sqrt', domain: [0, (6 * COUNT) / SIDE ** 2], range: [0.04, 1], clamp: true },
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
    'Where 10,000 records went: with a buffer of 1,000 they stay near their old places, with pileshuf they go anywhere';
  return withStyle(inPaths(String(chart)), title);
}

/** Cells of one strength become one path, which takes a third of the bytes. */
function inPaths(svg) {
  return svg.replace(/(?:<rect [^>]*fill-opacity[^>]*><\/rect>)+/g, (rects) => {
    const paths = new Map();
    for (const [rect] of rects.matchAll(/<rect [^>]*>/g)) {
      const number = (name) => Number(new RegExp(` ${name}="([^"]*)"`).exec(rect)[1]);
      const opacity = Math.round(20 * number('fill-opacity')) / 20;
      const [x, y, width, height] = ['x', 'y', 'width', 'height'].map(number);
      paths.set(opacity, `${paths.get(opacity) ?? ''}M${x},${y}h${width}v${height}h${-width}z`);
    }
    return [...paths].map(([opacity, d]) => `<path fill-opacity="${opacity}" d="${d}"></path>`).join('');
  });
}

/** Inputs, pile sets p^k with their piles, merged piles and shards, in columns from the left to the right. */
function twoPasses() {
  const [inputs, piles, shards] = [3, 4, 4];
  const middle = 170;
  const box = (x, y, width, height, fill, label, tone = 'var(--ink)') =>
    `<rect x="${x}" y="${y}" width="${width}" height="${height}" rx="4" fill="${fill}" fill-opacity="0.22" stroke="${fill}"/><text x="${x + width / 2}" y="${y + height / 2 + 4}" text-anchor="middle" fill="${tone}">${label}</text>`;
  const line = (x1, y1, x2, y2, stroke) =>
    `<path d="M${x1},${y1}C${(x1 + x2) / 2},${y1} ${(x1 + x2) / 2},${y2} ${x2},${y2}" fill="none" stroke="${stroke}" stroke-opacity="0.55"/>`;
  const heading = (x, words, under) =>
    `<text x="${x}" y="26" text-anchor="middle" font-weight="600" fill="currentColor">${words}</text><text x="${x}" y="44" text-anchor="middle" font-size="12" fill="var(--soft)">${under}</text>`;
  const sub = (k, j) => `p<tspan font-size="9" dy="-5">${k}</tspan><tspan font-size="9" dy="8">${j}</tspan>`;
  const at = (i, count, gap) => middle + 20 + (i - (count - 1) / 2) * gap;
  const parts = [
    heading(60, 'inputs', 'cut into slices'),
    heading(282, 'pass 1: scatter', 'a pile set for each slice'),
    heading(505, 'merge', 'pile j of all sets'),
    heading(700, 'pass 2: shuffle', 'shards of the output'),
  ];
  for (let k = 0; k < inputs; k++) {
    const y = at(k, inputs, 88);
    parts.push(box(20, y - 18, 80, 36, 'var(--soft)', `slice ${k + 1}`));
    parts.push(
      line(100, y, 186, y, 'var(--first)'),
      `<text x="143" y="${y - 8}" text-anchor="middle" font-size="11" fill="var(--soft)">worker</text>`,
    );
    for (let j = 0; j < piles; j++) {
      const x = 188 + j * 48;
      parts.push(box(x, y - 18, 44, 36, 'var(--first)', sub(k + 1, j + 1)));
    }
  }
  for (let j = 0; j < piles; j++) {
    const y = at(j, piles, 66);
    for (let k = 0; k < inputs; k++) parts.push(line(380, at(k, inputs, 88), 458, y, 'var(--first)'));
    parts.push(box(460, y - 18, 90, 36, 'var(--second)', `pile ${j + 1}`));
    parts.push(
      line(550, y, 648, y, 'var(--second)'),
      `<text x="599" y="${y - 8}" text-anchor="middle" font-size="11" fill="var(--soft)">by key</text>`,
    );
  }
  for (let i = 0; i < shards; i++)
    parts.push(box(650, at(i, shards, 66) - 18, 100, 36, 'var(--soft)', `shard ${i + 1}`));
  const foot =
    'Each record has a random key. Pile j holds one range of keys; in the order of their keys the records are shuffled.';
  parts.push(`<text x="390" y="350" text-anchor="middle" font-size="13" fill="var(--soft)">${foot}</text>`);
  const size = 'width="780" height="370" viewBox="0 0 780 370" font-size="14"';
  return withStyle(
    `<svg ${size}>${parts.join('\n')}</svg>`,
    'The two passes: slices are scattered on piles, the piles of all slices are merged, shuffled and written as shards',
  );
}

mkdirSync(pictures, { recursive: true });
for (const [name, draw] of Object.entries({ 'two-passes': twoPasses, 'from-where-to-where': heatMap })) {
  const svg = `${draw()}\n`;
  writeFileSync(join(pictures, `${name}.svg`), svg);
  console.log(`docs/pictures/${name}.svg: ${svg.length} bytes`);
}
