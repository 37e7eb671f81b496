/** The charts of a report, drawn by Observable Plot as SVG text. Colours are those of the page: light, dark or printed. */
import {
  barX,
  binX,
  cell,
  dot,
  frame,
  lineY,
  type Markish,
  type PlotOptions,
  rect,
  rectY,
  ruleX,
  ruleY,
  text,
} from '@observablehq/plot';
import { formatCount } from '../../quantity.js';
import type { JobProfile } from '../options.js';
import { draw } from './draw-chart.js';
import type { ExpectedRange, Moment, PileSizes, SampledRecord, WatchedDevice } from './report-facts.js';

/** More bars than that are drawn as one where they touch. */
const MOST_BARS = 1500;
/** More piles are drawn as a histogram. */
export const MOST_PILES = 200;

/** So that moments lie below each other in all charts of time. */
const TIME_MARGIN = 80;

/** How long all steps of a job took. */
export function secondsOf({ seconds }: Pick<JobProfile, 'seconds'>): number {
  const { prepare, pass1, between, pass2, commit, release } = seconds;
  return prepare + pass1 + between + pass2 + commit + release;
}

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
      marginLeft: TIME_MARGIN,
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

/**
 * Bytes a second, from one moment to the next.
 * @param what reads and writes, for who does not see it.
 * @param total the seconds of the job.
 */
export function throughputChart(what: string, amounts: readonly Amounts[], total: number): string {
  const speeds = speedsOf(amounts);
  const most = (column: 'read' | 'written') =>
    formatCount(speeds.reduce((all, each) => Math.max(all, each[column]), 0));
  const options = {
    height: 220,
    marginLeft: TIME_MARGIN,
    x: { label: 'seconds since the job began', domain: [0, total] },
    y: { label: 'MB/s', grid: true, zero: true },
  };
  const step = { x: 'seconds', strokeWidth: 2, curve: 'step-before' } as const;
  const label = `Megabytes a second that ${what}, over time: at most ${most('read')} read, ${most('written')} written`;
  return draw(label, options, [
    ruleY([0]),
    lineY(speeds, { ...step, y: 'read', stroke: 'var(--first)' }),
    lineY(speeds, { ...step, y: 'written', stroke: 'var(--second)', strokeDasharray: '6 3' }),
  ]);
}

/** Megabytes a second until each moment. A last moment that came at once after the others would make a peak: it is joined. */
export function speedsOf(
  amounts: readonly Amounts[],
): { readonly seconds: number; readonly read: number; readonly written: number }[] {
  const first = amounts[0];
  const last = amounts.at(-1);
  if (first === undefined || last === undefined) return [];
  const shortest = (last.seconds - first.seconds) / amounts.length / 2;
  const kept = [first];
  for (const now of amounts.slice(1, -1)) {
    const isApart = now.seconds - (kept.at(-1)?.seconds ?? 0) >= shortest && last.seconds - now.seconds >= shortest;
    if (isApart) kept.push(now);
  }
  if (last !== first) kept.push(last);
  const speeds = kept.slice(1).map((now, i) => {
    const before = kept[i] ?? now;
    const megabytes = Math.max(1e-3, now.seconds - before.seconds) * 1e6;
    return {
      seconds: now.seconds,
      read: Math.max(0, now.readBytes - before.readBytes) / megabytes,
      written: Math.max(0, now.writtenBytes - before.writtenBytes) / megabytes,
    };
  });
  return [{ seconds: first.seconds, read: 0, written: 0 }, ...speeds];
}

/** Calls under way on one device, and how many its gate lets through. */
export function callsChart(device: WatchedDevice, index: number, moments: readonly Moment[], total: number): string {
  const points = moments.map(({ seconds, traffic }) => ({ seconds, calls: traffic[index]?.calls ?? 0 }));
  const label = `Calls under way on ${device.name} over time; its gate lets ${device.mostCalls} through`;
  const x = { label: 'seconds since the job began', domain: [0, total] };
  const options = { height: 190, marginLeft: TIME_MARGIN, x };
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
  const ticks = records.length <= 12 ? records.map((_, pile) => pile) : 10;
  const x = { label: 'pile', domain: [-0.5, records.length - 0.5], ticks, tickFormat: 'd' };
  const options = { height: 240, marginLeft: 70, x, y: { label: 'records', grid: true, nice: true } };
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
    width: 480,
    height: 496,
    marginLeft: 40,
    marginRight: 20,
    x: { label: 'place in the inputs, % of their bytes', domain: [0, 100], ticks: 5 },
    y: { label: 'place in the output, % of its records', domain: [0, 100], ticks: 5 },
  };
  const label = `Places of ${formatCount(sample.length)} sampled records in the inputs and in the output: the self-check says whether they show a pattern`;
  // A few small dots cannot be seen.
  const r = sample.length > 1000 ? 1.2 : sample.length > 100 ? 2 : 3;
  const square = draw(label, options, [
    frame({ stroke: 'var(--line)' }),
    dot(points, { x: 'from', y: 'to', r, fill: 'var(--first)' }),
  ]);
  return square.replace('class="chart"', 'class="square"');
}

/** One cell of a heat map. */
export interface HeatCell {
  readonly row: string;
  readonly column: string;
  /** About how many standard deviations more than expected it has. */
  readonly surprise: number;
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
    opacity: { domain: [0, 4], range: [0, 1], clamp: true },
  };
  return draw(label, options, [
    cell(cells, {
      x: 'column',
      y: 'row',
      fill: ({ surprise }: HeatCell) => (surprise > 0 ? 'var(--first)' : 'var(--second)'),
      fillOpacity: ({ surprise }: HeatCell) => Math.abs(surprise),
      stroke: 'var(--line)',
    }),
  ]);
}
