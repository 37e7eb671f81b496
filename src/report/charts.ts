import type { JobProfile, JobReport } from '../jobs/options.js';
import type { Moment, PileSizes, WatchedDevice } from '../jobs/report/report-facts.js';
import { formatCount } from '../quantity.js';
import { bands, chart, dots, type Frame, line, linear, rectangle, steps, text, xAxis, yAxis } from './svg.js';

const WIDTH = 760;
/** More bars than that are drawn as one where they touch. */
const MOST_BARS = 1500;
/** More piles are drawn as a histogram. */
export const MOST_PILES = 200;
const JOB_SECONDS = 'seconds since the job began';

/** So that moments lie below each other in all charts of time. */
const frameOfTime = (height: number): Frame => ({ width: WIDTH, height, left: 80, right: 20, top: 30, bottom: 46 });

function scalesOf({ width, height, left, right, top, bottom }: Frame) {
  return { x: [left, width - right] as const, y: [height - bottom, top] as const };
}

export function secondsOf({ seconds }: Pick<JobProfile, 'seconds'>): number {
  const { prepare, pass1, between, pass2, commit, release } = seconds;
  return prepare + pass1 + between + pass2 + commit + release;
}

export function timelineChart(profile: JobProfile): string {
  const { seconds, tasks, workers } = profile;
  const threads = [...new Set(tasks.map(({ thread }) => thread))].sort((a, b) => a - b);
  const frame = { ...frameOfTime(62 + 24 * (threads.length + 1)), top: 8 };
  const pixels = scalesOf(frame);
  const total = secondsOf(profile);
  const x = linear(JOB_SECONDS, [0, total], pixels.x);
  const y = bands('', ['job', ...threads.map((_, i) => `worker ${i + 1}`)], [frame.top, frame.height - frame.bottom]);
  const heightOf = (row: number) => [y.at(row) + 1, y.at(row + 1) - 1];
  const names = {
    prepare: 'prepare',
    pass1: 'pass 1',
    between: 'between',
    pass2: 'pass 2',
    commit: 'commit',
    release: 'release',
  };
  let ended = 0;
  const job = Object.entries(names).flatMap(([step, name]) => {
    const began = ended;
    ended += new Map<string, number>(Object.entries(seconds)).get(step) ?? 0;
    const bar = rectangle([x.at(began), x.at(ended)], heightOf(0), { fill: 'var(--quiet)', stroke: 'var(--page)' });
    return ended - began > total * 0.09 ? [bar, text(x.at((began + ended) / 2), y.at(0.5) + 4, name)] : [bar];
  });
  const pass2Began = seconds.prepare + seconds.pass1 + seconds.between - 0.0005;
  const bars = joined(
    tasks.map(({ thread, beganSeconds, seconds: phases }) => ({
      row: 1 + threads.indexOf(thread),
      began: beganSeconds,
      ended: beganSeconds + Object.values(phases).reduce((all, each) => all + each, 0),
      isPass2: beganSeconds >= pass2Began,
    })),
    total / MOST_BARS,
  ).map(({ row, began, ended: end, isPass2 }) =>
    rectangle([x.at(began), x.at(end)], heightOf(row), { fill: isPass2 ? 'var(--second)' : 'var(--first)' }),
  );
  const label = `Timeline: the steps of the job, and the tasks of ${workers} workers`;
  return chart(label, frame, [xAxis(x, frame), yAxis(y, frame), ...job, ...bars]);
}

interface Bar {
  readonly row: number;
  readonly began: number;
  readonly ended: number;
  readonly isPass2: boolean;
}

/** The same time in fewer bars: those of one row that are closer than `gap` become one. */
function joined(bars: readonly Bar[], gap: number): readonly Bar[] {
  if (bars.length <= MOST_BARS) return bars;
  const result: Bar[] = [];
  for (const bar of bars.toSorted((a, b) => a.row - b.row || a.began - b.began)) {
    const last = result.at(-1);
    if (last !== undefined && last.row === bar.row && last.isPass2 === bar.isPass2 && bar.began - last.ended < gap)
      result[result.length - 1] = { ...last, ended: Math.max(last.ended, bar.ended) };
    else result.push(bar);
  }
  return result;
}

/** What was read and written until some moment. */
type Amounts = Pick<Moment, 'seconds' | 'readBytes' | 'writtenBytes'>;

/** Bytes a second from moment to moment. `what` reads and writes, for those who do not see the chart. */
export function throughputChart(what: string, amounts: readonly Amounts[], total: number): string {
  const speeds = speedsOf(amounts);
  const mostRead = speeds.reduce((most, { read }) => Math.max(most, read), 0);
  const mostWritten = speeds.reduce((most, { written }) => Math.max(most, written), 0);
  const frame = frameOfTime(220);
  const pixels = scalesOf(frame);
  const x = linear(JOB_SECONDS, [0, total], pixels.x);
  const y = linear('MB/s', [0, Math.max(mostRead, mostWritten, 1e-3)], pixels.y);
  const label = `Megabytes a second that ${what}, over time: at most ${formatCount(mostRead)} read, ${formatCount(mostWritten)} written`;
  const pointsOf = (column: 'read' | 'written') =>
    speeds.map((speed) => [x.at(speed.seconds), y.at(speed[column])] as const);
  return chart(label, frame, [
    xAxis(x, frame),
    yAxis(y, frame, true),
    steps(pointsOf('read'), { stroke: 'var(--first)' }),
    steps(pointsOf('written'), { stroke: 'var(--second)', 'stroke-dasharray': '6 3' }),
  ]);
}

/** Megabytes a second until each moment. A last moment right after the others would make a peak, so it is joined. */
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

export function callsChart(device: WatchedDevice, index: number, moments: readonly Moment[], total: number): string {
  const frame = frameOfTime(190);
  const pixels = scalesOf(frame);
  const x = linear(JOB_SECONDS, [0, total], pixels.x);
  const y = linear('calls', [0, device.mostCalls * 1.1], pixels.y, 4);
  const gate = y.at(device.mostCalls);
  const label = `Calls under way on ${device.name} over time; its gate lets ${device.mostCalls} through`;
  const points = moments.map(({ seconds, traffic }) => [x.at(seconds), y.at(traffic[index]?.calls ?? 0)] as const);
  return chart(label, frame, [
    xAxis(x, frame),
    yAxis(y, frame, true),
    line(
      pixels.x.map((at) => [at, gate] as const),
      { stroke: 'currentColor', 'stroke-dasharray': '4 3' },
    ),
    steps(points, { stroke: 'var(--first)' }),
  ]);
}

/** Records of each pile, around the mean; of many piles, how many lie how far from it. */
export function pilesChart({ records, expected }: PileSizes): string {
  const label = `Records of ${records.length} piles${expected === undefined ? '' : ', and where chance puts them'}`;
  const frame: Frame = { width: WIDTH, height: 240, left: 70, right: 20, top: 30, bottom: 46 };
  const pixels = scalesOf(frame);
  if (expected !== undefined && records.length > MOST_PILES && expected.standardDeviation > 0) {
    const counts = new Map<number, number>();
    for (const count of records) {
      const bar = Math.floor((4 * (count - expected.mean)) / expected.standardDeviation);
      counts.set(bar, (counts.get(bar) ?? 0) + 1);
    }
    const [least, most] = [Math.min(...counts.keys()), Math.max(...counts.keys())];
    const x = linear('standard deviations from the mean', [least / 4, (most + 1) / 4], pixels.x, 8);
    const y = linear('piles', [0, Math.max(...counts.values())], pixels.y);
    const bars = [...counts].map(([bar, count]) =>
      rectangle([x.at(bar / 4) + 0.5, x.at((bar + 1) / 4) - 0.5], [y.at(0), y.at(count)], { fill: 'var(--first)' }),
    );
    return chart(label, frame, [xAxis(x, frame), yAxis(y, frame, true), ...bars]);
  }
  const step = Math.ceil(records.length / MOST_PILES);
  const shown = records.map((count, pile) => ({ count, pile })).filter(({ pile }) => pile % step === 0);
  const { mean = 0, standardDeviation = 0 } = expected ?? {};
  const hasBand = standardDeviation > 0;
  const band = hasBand ? [mean - 2 * standardDeviation, mean + 2 * standardDeviation] : [];
  const values = [...shown.map(({ count }) => count), ...band];
  const x = linear('pile', [-0.5, records.length - 0.5], pixels.x, Math.min(10, records.length));
  const y = linear('records', [Math.min(...values), Math.max(...values)], pixels.y);
  const marks = hasBand
    ? [
        rectangle(pixels.x, band.map(y.at), { fill: 'var(--quiet)' }),
        line(
          pixels.x.map((at) => [at, y.at(mean)] as const),
          { stroke: 'currentColor', 'stroke-dasharray': '4 3' },
        ),
      ]
    : [];
  const points = shown.map(({ count, pile }) => [x.at(pile), y.at(count)] as const);
  return chart(label, frame, [...marks, xAxis(x, frame), yAxis(y, frame, true), dots(points, 3)]);
}

export function scatterChart(sample: JobReport['sample'], recordCount: number): string {
  const frame: Frame = { width: 480, height: 496, left: 40, right: 20, top: 30, bottom: 46 };
  const pixels = scalesOf(frame);
  const x = linear('place in the inputs, % of their bytes', [0, 100], pixels.x);
  const y = linear('place in the output, % of its records', [0, 100], pixels.y);
  const label = `Places of ${formatCount(sample.length)} sampled records in the inputs and in the output: the self-check says whether they show a pattern`;
  const points = sample.map(({ fromPart, rank }) => [x.at(fromPart * 100), y.at((rank / recordCount) * 100)] as const);
  // A few small dots cannot be seen.
  const radius = sample.length > 1000 ? 1.2 : sample.length > 100 ? 2 : 3;
  const border = rectangle(pixels.x, pixels.y, { fill: 'none', stroke: 'var(--line)' });
  return chart(label, frame, [xAxis(x, frame), yAxis(y, frame), border, dots(points, radius)], 'square');
}

/** @param surprises of the cells of each row: about how many standard deviations more than expected a cell has. */
export function heatChart(
  label: string,
  rows: readonly string[],
  columns: readonly string[],
  surprises: readonly (readonly number[])[],
  columnLabel: string,
): string {
  const left = Math.min(220, 20 + 7 * Math.max(...rows.map((row) => row.length)));
  const frame: Frame = { width: WIDTH, height: 62 + 22 * rows.length, left, right: 20, top: 8, bottom: 46 };
  const x = bands(columnLabel, columns, scalesOf(frame).x, 12);
  const y = bands('', rows, [frame.top, frame.height - frame.bottom]);
  const cells = surprises.flatMap((ofRow, row) =>
    ofRow.map((surprise, column) =>
      rectangle([x.at(column) + 1, x.at(column + 1) - 1], [y.at(row) + 1, y.at(row + 1) - 1], {
        fill: surprise > 0 ? 'var(--first)' : 'var(--second)',
        'fill-opacity': Math.min(1, Math.abs(surprise) / 4).toFixed(2),
        stroke: 'var(--line)',
      }),
    ),
  );
  return chart(label, frame, [xAxis(x, frame), yAxis(y, frame), ...cells]);
}
