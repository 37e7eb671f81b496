import { sum } from '../job/report/self-check.js';
import type { Moment } from '../options/report-facts.js';
import type { JobProfile, JobReport } from '../options/reports.js';
import { formatCount } from '../quantity.js';
import { bands, chart, dots, type Frame, linear, rectangle, steps, text, xAxis, yAxis } from './svg.js';
import { secondsOf } from './units.js';

const WIDTH = 760;
/** More bars than that are drawn as one where they touch. */
const MOST_BARS = 1500;
const JOB_SECONDS = 'seconds since the job began';

/** So that moments lie below each other in all charts of time. */
const frameOfTime = (height: number): Frame => ({ width: WIDTH, height, left: 80, right: 20, top: 30, bottom: 46 });

function scalesOf({ width, height, left, right, top, bottom }: Frame) {
  return { x: [left, width - right] as const, y: [height - bottom, top] as const };
}

const STEPS = {
  prepare: 'prepare',
  pass1: 'pass 1',
  between: 'between',
  pass2: 'pass 2',
  commit: 'commit',
  release: 'release',
} as const;

export function timelineChart(profile: JobProfile): string {
  const { seconds, tasks, workers } = profile;
  const threads = [...new Set(tasks.map(({ thread }) => thread))].sort((a, b) => a - b);
  const frame = { ...frameOfTime(62 + 24 * (threads.length + 1)), top: 8 };
  const total = secondsOf(profile);
  const x = linear(JOB_SECONDS, [0, total], scalesOf(frame).x);
  const y = bands(['job', ...threads.map((_, i) => `worker ${i + 1}`)], [frame.top, frame.height - frame.bottom]);
  const heightOf = (row: number) => [y.at(row) + 1, y.at(row + 1) - 1];
  let ended = 0;
  const job = (Object.keys(STEPS) as (keyof typeof STEPS)[]).flatMap((step) => {
    const began = ended;
    ended += seconds[step];
    const bar = rectangle([x.at(began), x.at(ended)], heightOf(0), { fill: 'var(--quiet)', stroke: 'var(--page)' });
    return seconds[step] > total * 0.09 ? [bar, text(x.at((began + ended) / 2), y.at(0.5) + 4, STEPS[step])] : [bar];
  });
  const pass2Began = seconds.prepare + seconds.pass1 + seconds.between - 0.0005;
  const bars = joined(
    tasks.map(({ thread, beganSeconds, seconds: phases }) => ({
      row: 1 + threads.indexOf(thread),
      began: beganSeconds,
      ended: beganSeconds + sum(Object.values(phases)),
      fill: beganSeconds >= pass2Began ? 'var(--second)' : 'var(--first)',
    })),
    total / MOST_BARS,
  ).map(({ row, began, ended: end, fill }) => rectangle([x.at(began), x.at(end)], heightOf(row), { fill }));
  const label = `Timeline: the steps of the job, and the tasks of ${workers} workers`;
  return chart(label, frame, [xAxis(x, frame), yAxis(y, frame), ...job, ...bars]);
}

interface Bar {
  readonly row: number;
  readonly began: number;
  readonly ended: number;
  readonly fill: string;
}

/** The same time in fewer bars: those of one row that are closer than `gap` become one. */
function joined(bars: readonly Bar[], gap: number): readonly Bar[] {
  if (bars.length <= MOST_BARS) return bars;
  const result: Bar[] = [];
  for (const bar of bars.toSorted((a, b) => a.row - b.row || a.began - b.began)) {
    const last = result.at(-1);
    if (last !== undefined && last.row === bar.row && last.fill === bar.fill && bar.began - last.ended < gap)
      result[result.length - 1] = { ...last, ended: Math.max(last.ended, bar.ended) };
    else result.push(bar);
  }
  return result;
}

/** Bytes a second from moment to moment. */
export function throughputChart(moments: readonly Moment[], profile: JobProfile): string {
  const speeds = speedsOf(moments);
  const mostOf = (column: 'read' | 'written') => speeds.reduce((most, speed) => Math.max(most, speed[column]), 0);
  const [mostRead, mostWritten] = [mostOf('read'), mostOf('written')];
  const frame = frameOfTime(220);
  const pixels = scalesOf(frame);
  const x = linear(JOB_SECONDS, [0, secondsOf(profile)], pixels.x);
  const y = linear('MB/s', [0, Math.max(mostRead, mostWritten, 1e-3)], pixels.y);
  const label = `Megabytes a second that the job reads from its inputs and writes to its output, over time: at most ${formatCount(mostRead)} read, ${formatCount(mostWritten)} written`;
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
  amounts: readonly Pick<Moment, 'seconds' | 'readBytes' | 'writtenBytes'>[],
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
