/** The charts of the page, as SVG. Colours are those of the page: light, dark or printed. */
import { sum } from '../job/report/self-check.js';
import type { Moment } from '../options/report-facts.js';
import type { JobProfile, JobReport } from '../options/reports.js';
import { formatCount } from '../values/format-numbers.js';
import { numberText, secondsOf } from './format-text.js';

const ESCAPED: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Returns text for a page. Characters that no page may hold are replaced. */
export function escapedXml(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is replaced.
  return text.replace(/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, '\ufffd').replace(/[&<>"]/g, (c) => ESCAPED[c] ?? c);
}

const WIDTH = 760;
/** The margins in pixels. All charts have the same, so that moments lie below each other. */
const [LEFT, RIGHT, TOP, BOTTOM] = [80, 20, 30, 46];
const JOB_SECONDS = 'seconds since the job began';

type Range = readonly [from: number, to: number];
type Point = readonly [x: number, y: number];

interface Scale {
  readonly label: string;
  readonly at: (value: number) => number;
  readonly ticks: readonly { readonly at: number; readonly text: string }[];
}

/**
 * Returns an axis from the lowest value at pixel `from` to the highest at pixel `to`, with about `count` round ticks.
 */
export function linearScale(label: string, [lowest, highest]: Range, [from, to]: Range, count = 5): Scale {
  const span = highest - lowest || 1;
  const at = (value: number) => from + ((value - lowest) / span) * (to - from);
  const power = 10 ** Math.floor(Math.log10(span / count));
  const step = ([1, 2, 5].find((each) => each * power * count >= span * 0.999) ?? 10) * power;
  const ticks: { at: number; text: string }[] = [];
  for (let i = Math.ceil(lowest / step); i * step <= highest; i++)
    ticks.push({ at: at(i * step), text: numberText(Number((i * step).toPrecision(6))) });
  return { at, ticks, label };
}

const across = (width = WIDTH): Range => [LEFT, width - RIGHT];
const upwards = (height: number): Range => [height - BOTTOM, TOP];

const digits = (value: number) => String(Number(value.toFixed(1)));
const line = (d: string, style: string) => `<path d="${d}" fill="none" ${style} />`;
const text = (x: number, y: number, content: string, anchor = 'middle') =>
  `<text x="${digits(x)}" y="${digits(y)}" text-anchor="${anchor}">${escapedXml(content)}</text>`;
const bar = ([left, right]: Range, [top, bottom]: Range) =>
  `M${digits(left)},${digits(top)}H${digits(right)}V${digits(bottom)}H${digits(left)}Z`;
/** Each point lies at the end of a level part. */
const steps = (points: readonly Point[]) =>
  points.map(([x, y], i) => (i === 0 ? `M${digits(x)},${digits(y)}` : `V${digits(y)}H${digits(x)}`)).join('');

/** @param label what the chart shows, for those who do not see it. */
function chart(
  label: string,
  {
    width = WIDTH,
    height,
    x,
    y,
    name = 'chart',
  }: { width?: number; height: number; x: Scale; y: Scale; name?: string },
  marks: readonly string[],
): string {
  const bottom = height - BOTTOM;
  const parts = [
    ...x.ticks.map((tick) => line(`M${digits(tick.at)},${bottom}v6`, 'stroke="currentColor"')),
    ...x.ticks.map((tick) => text(tick.at, bottom + 20, tick.text)),
    text((LEFT + width - RIGHT) / 2, bottom + 38, x.label),
    ...y.ticks.map((tick) => text(LEFT - 8, tick.at + 4, tick.text, 'end')),
    text(4, TOP - 12, y.label, 'start'),
    ...marks,
  ];
  return `<svg role="img" class="${name}" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" fill="currentColor" font-size="12" xmlns="http://www.w3.org/2000/svg" aria-label="${escapedXml(label)}">${parts.join('')}</svg>`;
}

const STEPS = {
  prepare: 'prepare',
  pass1: 'pass 1',
  between: 'between',
  pass2: 'pass 2',
  commit: 'commit',
  release: 'release',
} as const;
const ROW = 24;

export function timelineChart(profile: JobProfile): string {
  const { seconds, tasks, workers } = profile;
  const threads = [...new Set(tasks.map(({ thread }) => thread))].sort((a, b) => a - b);
  const height = TOP + BOTTOM + ROW * (threads.length + 1);
  const total = secondsOf(profile);
  const x = linearScale(JOB_SECONDS, [0, total], across());
  const rowAt = (row: number) => TOP + ROW * row;
  const rows = ['job', ...threads.map((_, i) => `worker ${i + 1}`)];
  const y = { label: '', at: rowAt, ticks: rows.map((name, row) => ({ at: rowAt(row + 0.5), text: name })) };
  const barOf = (row: number, began: number, ended: number) =>
    bar([x.at(began), x.at(ended)], [rowAt(row) + 1, rowAt(row + 1) - 1]);
  let ended = 0;
  const job = (Object.keys(STEPS) as (keyof typeof STEPS)[]).flatMap((step) => {
    const began = ended;
    ended += seconds[step];
    const drawn = `<path d="${barOf(0, began, ended)}" fill="var(--quiet)" stroke="var(--page)" />`;
    return seconds[step] > total * 0.09
      ? [drawn, text(x.at((began + ended) / 2), rowAt(0.5) + 4, STEPS[step])]
      : [drawn];
  });
  const pass2Began = seconds.prepare + seconds.pass1 + seconds.between - 0.0005;
  const barsOf = (isPass2: boolean, colour: string) => {
    const own = tasks.filter(({ beganSeconds }) => beganSeconds >= pass2Began === isPass2);
    const bars = own.map(({ thread, beganSeconds: began, seconds: phases }) =>
      barOf(1 + threads.indexOf(thread), began, began + sum(Object.values(phases))),
    );
    // The stroke shows what is shorter than a pixel.
    return `<path d="${bars.join('')}" fill="${colour}" stroke="${colour}" stroke-width="0.3" />`;
  };
  const label = `Timeline: the steps of the job, and the tasks of ${workers} workers`;
  return chart(label, { height, x, y }, [...job, barsOf(false, 'var(--first)'), barsOf(true, 'var(--second)')]);
}

/** Bytes a second from moment to moment. */
export function throughputChart(moments: readonly Moment[], profile: JobProfile): string {
  const speeds = speedsOf(moments);
  const mostOf = (column: 'read' | 'written') => speeds.reduce((most, speed) => Math.max(most, speed[column]), 0);
  const [mostRead, mostWritten] = [mostOf('read'), mostOf('written')];
  const height = 220;
  const x = linearScale(JOB_SECONDS, [0, secondsOf(profile)], across());
  const y = linearScale('MB/s', [0, Math.max(mostRead, mostWritten, 1e-3)], upwards(height));
  const label = `Megabytes a second that the job reads from its inputs and writes to its output, over time: at most ${formatCount(mostRead)} read, ${formatCount(mostWritten)} written`;
  const stepsOf = (column: 'read' | 'written') =>
    steps(speeds.map((speed) => [x.at(speed.seconds), y.at(speed[column])] as const));
  return chart(label, { height, x, y }, [
    ...y.ticks.map(({ at }) => line(`M${LEFT},${digits(at)}H${WIDTH - RIGHT}`, 'stroke="var(--line)"')),
    line(stepsOf('read'), 'stroke="var(--first)" stroke-width="2"'),
    line(stepsOf('written'), 'stroke="var(--second)" stroke-width="2" stroke-dasharray="6 3"'),
  ]);
}

/** Megabytes a second until each moment. A last moment right after the others would make a peak, so it is joined. */
export function speedsOf(
  amounts: readonly Pick<Moment, 'seconds' | 'readBytes' | 'writtenBytes'>[],
): { readonly seconds: number; readonly read: number; readonly written: number }[] {
  const [first] = amounts;
  const last = amounts.at(-1);
  if (first === undefined || last === undefined) return [];
  const shortest = (last.seconds - first.seconds) / amounts.length / 2;
  let before = first;
  return amounts.flatMap((now) => {
    if (now === first) return { seconds: first.seconds, read: 0, written: 0 };
    const isApart = now.seconds - before.seconds >= shortest && last.seconds - now.seconds >= shortest;
    if (now !== last && !isApart) return [];
    const megabytes = Math.max(1e-3, now.seconds - before.seconds) * 1e6;
    const read = Math.max(0, now.readBytes - before.readBytes) / megabytes;
    const written = Math.max(0, now.writtenBytes - before.writtenBytes) / megabytes;
    before = now;
    return { seconds: now.seconds, read, written };
  });
}

export function scatterChart(sample: JobReport['sample'], recordCount: number): string {
  const [width, height] = [480, 456];
  const x = linearScale('place in the inputs, % of their bytes', [0, 100], across(width));
  const y = linearScale('place in the output, % of its records', [0, 100], upwards(height));
  const label = `Places of ${formatCount(sample.length)} sampled records in the inputs and in the output: the self-check says whether they show a pattern`;
  // A few small dots cannot be seen.
  const radius = sample.length > 1000 ? 1.2 : sample.length > 100 ? 2 : 3;
  const dots = sample.map(
    ({ fromPart, rank }) => `M${digits(x.at(fromPart * 100))},${digits(y.at((rank / recordCount) * 100))}h0`,
  );
  return chart(label, { width, height, x, y, name: 'square' }, [
    line(bar(across(width), upwards(height)), 'stroke="var(--line)"'),
    line(dots.join(''), `stroke="var(--first)" stroke-width="${2 * radius}" stroke-linecap="round"`),
  ]);
}
