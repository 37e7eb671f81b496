/** The charts of a report, drawn by Observable Plot as SVG text. Colours are those of the page: light, dark or printed. */
import {
  barX,
  binX,
  cell,
  dot,
  lineY,
  type Markish,
  type PlotOptions,
  rect,
  rectY,
  ruleX,
  ruleY,
  text,
} from '@observablehq/plot';
import type { JobProfile } from '../options.js';
import { draw } from './draw-chart.js';
import type { ExpectedRange, Moment, PileSizes, SampledRecord, WatchedDevice } from './report-facts.js';

/** More bars than that are drawn as one where they touch. */
const MOST_BARS = 1500;
/** More piles are drawn as a histogram. */
const MOST_PILES = 200;

/** The passes of a job, and each task on its thread. */
export function timelineChart({ seconds, tasks, workers }: JobProfile): string {
  const steps = ['prepare', 'pass1', 'between', 'pass2', 'commit', 'release'] as const;
  const names = {
    prepare: 'prepare',
    pass1: 'pass 1',
    between: 'between',
    pass2: 'pass 2',
    commit: 'commit',
    release: 'release',
  };
  let at = 0;
  const job = steps.map((step) => {
    const begin = at;
    at += seconds[step];
    return { row: 'job', begin, end: at, name: names[step], isPass: step.startsWith('pass') };
  });
  const threads = [...new Set(tasks.map(({ thread }) => thread))].sort((a, b) => a - b);
  const rows = new Map(threads.map((thread, i) => [thread, `worker ${i + 1}`]));
  const pass2Began = (job[3]?.begin ?? 0) - 0.0005;
  const bars = joined(
    tasks.map(({ thread, beganSeconds, seconds: phases }) => ({
      row: rows.get(thread) ?? '',
      begin: beganSeconds,
      end: beganSeconds + Object.values(phases).reduce((all, each) => all + each, 0),
      isPass2: beganSeconds >= pass2Began,
    })),
    at / MOST_BARS,
  );
  const label = `Timeline: the steps of the job, and the tasks of ${workers} workers`;
  const wide = job.filter(({ begin, end }) => end - begin > at * 0.09);
  const x = { label: 'seconds since the job began', domain: [0, at] };
  return draw(
    label,
    {
      height: 62 + 24 * (rows.size + 1),
      marginTop: 8,
      marginLeft: 80,
      x,
      y: { label: null, domain: ['job', ...rows.values()] },
    },
    [
      barX(job, { x1: 'begin', x2: 'end', y: 'row', fill: 'var(--quiet)', stroke: 'var(--page)' }),
      text(wide, { x: ({ begin, end }) => (begin + end) / 2, y: 'row', text: 'name', fill: 'currentColor' }),
      barX(bars, {
        x1: 'begin',
        x2: 'end',
        y: 'row',
        fill: ({ isPass2 }) => (isPass2 ? 'var(--second)' : 'var(--first)'),
      }),
    ],
  );
}

interface Bar {
  readonly row: string;
  readonly begin: number;
  readonly end: number;
  readonly isPass2: boolean;
}

/** The same time in fewer bars: those of one row that are closer than `gap` become one. */
function joined(bars: readonly Bar[], gap: number): Bar[] {
  const sorted = bars.toSorted((a, b) => (a.row < b.row ? -1 : a.row > b.row ? 1 : a.begin - b.begin));
  if (sorted.length <= MOST_BARS) return sorted;
  const result: Bar[] = [];
  for (const bar of sorted) {
    const last = result.at(-1);
    if (last !== undefined && last.row === bar.row && last.isPass2 === bar.isPass2 && bar.begin - last.end < gap)
      result[result.length - 1] = { ...last, end: Math.max(last.end, bar.end) };
    else result.push(bar);
  }
  return result;
}

/** What was read and written until some moment. */
export interface Amounts {
  readonly seconds: number;
  readonly readBytes: number;
  readonly writtenBytes: number;
}

/** Bytes a second, from one moment to the next. @param what reads and writes, for who does not see it. */
export function throughputChart(what: string, amounts: readonly Amounts[]): string {
  const lines = amounts.slice(1).flatMap((now, i) => {
    const before = amounts[i] ?? now;
    const megabytes = Math.max(1e-3, now.seconds - before.seconds) * 1e6;
    return [
      { seconds: now.seconds, what: 'read', speed: Math.max(0, now.readBytes - before.readBytes) / megabytes },
      { seconds: now.seconds, what: 'written', speed: Math.max(0, now.writtenBytes - before.writtenBytes) / megabytes },
    ];
  });
  const colours = { domain: ['read', 'written'], range: ['var(--first)', 'var(--second)'] };
  const options = {
    height: 220,
    marginLeft: 60,
    x: { label: 'seconds since the job began' },
    y: { label: 'MB/s', grid: true, zero: true },
  };
  return draw(`Megabytes a second that ${what}, over time`, { ...options, color: colours }, [
    ruleY([0]),
    lineY(lines, { x: 'seconds', y: 'speed', stroke: 'what', strokeWidth: 2 }),
  ]);
}

/** Calls under way on one device, and how many its gate lets through. */
export function callsChart(device: WatchedDevice, index: number, moments: readonly Moment[]): string {
  const points = moments.map(({ seconds, traffic }) => ({ seconds, calls: traffic[index]?.calls ?? 0 }));
  const label = `Calls under way on ${device.name} over time; its gate lets ${device.mostCalls} through`;
  const options = { height: 190, marginLeft: 60, x: { label: 'seconds since the job began' } };
  return draw(label, { ...options, y: { label: 'calls', grid: true, domain: [0, device.mostCalls * 1.1] } }, [
    ruleY([device.mostCalls], { stroke: 'currentColor', strokeDasharray: '4 3' }),
    lineY(points, { x: 'seconds', y: 'calls', stroke: 'var(--first)', strokeWidth: 2, curve: 'step' }),
  ]);
}

/** Records of each pile, around the mean; of many piles, how many lie how far from it. */
export function pilesChart({ records, expected }: PileSizes): string {
  const label = `Records of ${records.length} piles${expected === undefined ? '' : ', and where chance puts them'}`;
  if (expected !== undefined && records.length > MOST_PILES && expected.standardDeviation > 0) {
    const deviations = records.map((count) => (count - expected.mean) / expected.standardDeviation);
    const options = {
      height: 220,
      marginLeft: 60,
      x: { label: 'standard deviations from the mean' },
      y: { label: 'piles', grid: true },
    };
    return draw(label, options, [
      rectY(deviations, {
        ...binX({ y: 'count' }, { x: (value: number) => value, thresholds: 30 }),
        fill: 'var(--first)',
      }),
      ruleX([0], { stroke: 'currentColor' }),
      ruleY([0]),
    ]);
  }
  const points = evenly(
    records.map((count, pile) => ({ pile, count })),
    MOST_PILES,
  );
  const options = { height: 240, marginLeft: 70, x: { label: 'pile' }, y: { label: 'records', grid: true } };
  return draw(label, options, [...band(expected), dot(points, { x: 'pile', y: 'count', r: 3, fill: 'var(--first)' })]);
}

/** Two standard deviations around the mean. */
function band(expected: ExpectedRange | undefined): Markish[] {
  if (expected === undefined || expected.standardDeviation === 0) return [];
  const { mean, standardDeviation } = expected;
  const bounds = [{ low: mean - 2 * standardDeviation, high: mean + 2 * standardDeviation }];
  return [
    rect(bounds, { y1: 'low', y2: 'high', fill: 'var(--quiet)' }),
    ruleY([mean], { stroke: 'currentColor', strokeDasharray: '4 3' }),
  ];
}

function evenly<T>(values: readonly T[], most: number): T[] {
  const step = Math.max(1, Math.ceil(values.length / most));
  return values.filter((_, i) => i % step === 0);
}

/** Where the records of the sample came from, and where they went. */
export function scatterChart(sample: readonly SampledRecord[], recordCount: number): string {
  const points = sample.map(({ fromPart, rank }) => ({ from: fromPart * 100, to: (rank / recordCount) * 100 }));
  const options = {
    width: 560,
    height: 576,
    marginLeft: 60,
    x: { label: 'place in the inputs, % of their bytes', domain: [0, 100] },
    y: { label: 'place in the output, % of its records', domain: [0, 100] },
  };
  return draw('Places of sampled records in the inputs and in the output', options, [
    dot(points, { x: 'from', y: 'to', r: 1.2, fill: 'var(--first)' }),
  ]);
}

/** One cell of a heat map; `ratio` is 1 where there are as many records as expected. */
export interface HeatCell {
  readonly row: string;
  readonly column: string;
  readonly ratio: number;
}

export function heatChart(label: string, cells: readonly HeatCell[], columnLabel: string): string {
  const rows = [...new Set(cells.map(({ row }) => row))];
  const columns = [...new Set(cells.map(({ column }) => column))];
  const margin = Math.min(220, 20 + 7 * Math.max(...rows.map((row) => row.length)));
  const every = Math.ceil(columns.length / 12);
  const options: PlotOptions = {
    height: 62 + 22 * rows.length,
    marginTop: 8,
    marginLeft: margin,
    padding: 0.05,
    x: { label: columnLabel, domain: columns, ticks: columns.filter((_, i) => i % every === 0) },
    y: { label: null, domain: rows },
    opacity: { domain: [0, 2], range: [0.05, 1], clamp: true },
  };
  return draw(label, options, [cell(cells, { x: 'column', y: 'row', fill: 'var(--first)', fillOpacity: 'ratio' })]);
}
