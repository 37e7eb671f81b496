/**
 * The picture of a checked order: how alike records are by their distance, what drifts along the data, and how far records are
 * from their places. One SVG file that needs nothing else: its colours and letters are its own.
 */
import { dot, lineY, type Markish, type PlotOptions, rectY, ruleX, ruleY } from '@observablehq/plot';
import { randomDistanceParts } from '../../plan/order-curves.js';
import type { OrderReport, OrderVerdict } from '../../plan/order-verdict.js';
import { formatBytes, formatPlural } from '../../quantity.js';
import { draw, WIDTH } from './draw-chart.js';
import { escaped } from './svg-document.js';

const VERDICTS: Readonly<Record<OrderVerdict, string>> = {
  shuffled: 'Shuffled, as far as visible',
  'nothing-to-see': 'Nothing to see',
  'locally-shuffled': 'Locally shuffled',
  'not-shuffled': 'Not shuffled',
};

const COLOURS: Readonly<Record<string, string>> = {
  page: '#fff',
  quiet: '#e4e8ec',
  first: '#0b63b5',
  second: '#b3470b',
};
const INK = '#1b1f24';
const SOFT = '#57606a';

const MARGIN = 24;
const LEFT = 64;

/** As `CheckReport`. */
export interface CheckedOrder extends OrderReport {
  readonly files: number;
  readonly records: number;
  readonly isCounted: boolean;
  readonly bytes: number;
}

/** A part of the picture, drawn with its upper edge at `top`. */
interface Piece {
  readonly height: number;
  svgAt(top: number): string;
}

/** @returns the text of the file. */
export function orderPlot(report: CheckedOrder): string {
  const { verdict, files, records, isCounted, bytes, sampledRecords, windows } = report;
  const size = `${formatPlural(files, 'file')}, ${isCounted ? '' : 'about '}${formatPlural(records, 'record')}, ${formatBytes(bytes)}`;
  const title = `Is it shuffled? ${VERDICTS[verdict]}`;
  const looked =
    windows === 0
      ? 'too few records to look at'
      : `looked at ${formatPlural(sampledRecords, 'record')} in ${formatPlural(windows, 'place')}`;
  const pieces = [
    line(title, 22, 'font-weight="600"'),
    line(`${size}; ${looked}`, 13, `fill="${SOFT}"`),
    ...(windows === 0 ? [] : [...similarityPieces(report), ...driftPieces(report), ...travelPieces(report)]),
  ];
  let top = MARGIN;
  const drawn = pieces.map((piece) => {
    const svg = piece.svgAt(top);
    top += piece.height;
    return svg;
  });
  const [width, height] = [WIDTH + 2 * MARGIN, top + MARGIN];
  return `<?xml version="1.0" encoding="UTF-8"?>
<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escaped(title)}" font-family="system-ui, sans-serif" fill="${INK}" color="${INK}">
<title>${escaped(title)}</title>
<rect width="${width}" height="${height}" fill="${COLOURS['page']}" />
${drawn.join('\n').replace(/var\(--([a-z]+)\)/g, (_, name: string) => COLOURS[name] ?? INK)}
</svg>
`;
}

function line(text: string, sizePixels: number, attributes: string): Piece {
  const height = Math.round(sizePixels * 1.6);
  return {
    height,
    svgAt: (top) =>
      `<text x="${MARGIN}" y="${top + sizePixels}" font-size="${sizePixels}" ${attributes}>${escaped(text)}</text>`,
  };
}

function chart(label: string, options: PlotOptions & { readonly height: number }, marks: Markish[]): Piece {
  const { height } = options;
  return {
    height,
    svgAt: (top) => draw(label, options, marks).replace('<svg ', `<svg x="${MARGIN}" y="${top}" `),
  };
}

function heading(title: string, ...captions: readonly string[]): Piece[] {
  const space: Piece = { height: 18, svgAt: () => '' };
  return [space, line(title, 16, 'font-weight="600"'), ...captions.map((each) => line(each, 13, `fill="${SOFT}"`))];
}

function similarityPieces({ similarity: { byDistance, ofDistant } }: OrderReport): Piece[] {
  const points = byDistance.map(({ records, mean, error }) => ({
    records,
    mean: 100 * mean,
    low: 100 * Math.max(0, mean - 2 * error),
    high: 100 * Math.min(1, mean + 2 * error),
  }));
  const options = {
    height: 260,
    marginLeft: LEFT,
    x: { type: 'log', label: 'distance in records', tickFormat: '~s' },
    y: { label: '% of words that both have', grid: true, nice: true },
  } as const;
  return [
    ...heading(
      'Similarity by distance',
      'How alike two records are, by how far one is behind the other. Bars are two standard errors.',
      'In a random order the dots lie on the dashed line, which is for records at random.',
    ),
    chart('Similarity of records by their distance', options, [
      ruleY([100 * ofDistant], { stroke: 'currentColor', strokeDasharray: '4 3' }),
      ruleX(points, { x: 'records', y1: 'low', y2: 'high', stroke: 'var(--first)' }),
      dot(points, { x: 'records', y: 'mean', r: 4, fill: 'var(--first)' }),
    ]),
  ];
}

/** Within so many standard errors nearly all parts of a random order lie. */
const USUAL_DEVIATIONS = 3;
/** A row is at least so high: noise looks like noise. */
const LEAST_DEVIATIONS = 5;

function driftPieces({ profile }: OrderReport): Piece[] {
  const rows = profile.map(({ name, deviations }, i) => {
    const isLast = i === profile.length - 1;
    const most = Math.max(LEAST_DEVIATIONS, ...deviations.map(Math.abs));
    const points = deviations.map((deviation, at) => ({ place: (100 * (at + 0.5)) / deviations.length, deviation }));
    const options = {
      height: isLast ? 132 : 100,
      marginLeft: LEFT,
      marginTop: 22,
      marginBottom: isLast ? 46 : 14,
      x: { domain: [0, 100], label: isLast ? 'place in the data, %' : null, ticks: isLast ? 10 : [] },
      y: { label: name, domain: [-most, most], ticks: 3 },
    };
    const usual = [{ low: -USUAL_DEVIATIONS, high: USUAL_DEVIATIONS }];
    return chart(`The ${name} of records along the data`, options, [
      rectY(usual, { x1: () => 0, x2: () => 100, y1: 'low', y2: 'high', fill: 'var(--quiet)' }),
      ruleY([0], { stroke: 'currentColor', strokeDasharray: '4 3' }),
      lineY(points, { x: 'place', y: 'deviation', stroke: 'var(--first)', strokeWidth: 2 }),
    ]);
  });
  return [
    ...heading(
      'Drift along the data',
      'The mean of each part of the data, in standard errors from the mean of all.',
      'A random order stays in the grey band. Sources one behind the other show as steps; a sorted order, or what',
      'a shuffle buffer leaves of it, as a slope.',
    ),
    ...rows,
  ];
}

function travelPieces({ travel }: OrderReport): Piece[] {
  const title = 'Travelled distances';
  if (travel === undefined)
    return heading(title, 'They are not known: the records have no numbers that look like ids.');
  const { distances } = travel;
  const width = 100 / distances.length;
  const bars = distances.map((part, i) => ({ from: i * width, to: (i + 1) * width, percent: 100 * part }));
  const random = randomDistanceParts(distances.length).map((part, i) => ({
    at: (i + 0.5) * width,
    percent: 100 * part,
  }));
  const options = {
    height: 260,
    marginLeft: LEFT,
    x: { label: 'distance, % of the data', domain: [0, 100] },
    y: { label: '% of records', grid: true, zero: true },
  };
  return [
    ...heading(
      title,
      'How far records are from where their numbers would have them. The line is what a random order gives.',
      'A shuffle buffer leaves nearly all records at distances of about its size or less.',
    ),
    chart('Distances of records from their places', options, [
      rectY(bars, { x1: 'from', x2: 'to', y: 'percent', fill: 'var(--first)', fillOpacity: 0.5, inset: 1 }),
      lineY(random, { x: 'at', y: 'percent', stroke: 'var(--second)', strokeWidth: 2 }),
      ruleY([0]),
    ]),
  ];
}
