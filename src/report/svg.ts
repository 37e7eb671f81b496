/** Pieces of charts as SVG text: scales, axes and marks. Colours are those of the page: light, dark or printed. */
import { numberText } from './units.js';

const ESCAPED: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Text for a page; characters that no page may hold are replaced. */
export function escaped(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is replaced.
  return text.replace(/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, '\ufffd').replace(/[&<>"]/g, (c) => ESCAPED[c] ?? c);
}

/** In pixels. */
export interface Frame {
  readonly width: number;
  readonly height: number;
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

interface Scale {
  readonly at: (value: number) => number;
  readonly ticks: readonly { readonly at: number; readonly text: string }[];
  readonly label: string;
}

/** @param label what the chart shows, for those who do not see it. */
export function chart(label: string, { width, height }: Frame, marks: readonly string[], name = 'chart'): string {
  return `<svg role="img" class="${name}" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" fill="currentColor" font-size="12" text-anchor="middle" xmlns="http://www.w3.org/2000/svg" aria-label="${escaped(label)}">${marks.join('')}</svg>`;
}

/** From the lowest value at pixel `from` to the highest at pixel `to`, with about `count` round ticks. */
export function linear(
  label: string,
  [lowest, highest]: readonly [number, number],
  [from, to]: readonly [number, number],
  count = 5,
): Scale {
  const span = highest - lowest || 1;
  const at = (value: number) => from + ((value - lowest) / span) * (to - from);
  const power = 10 ** Math.floor(Math.log10(span / count));
  const step = ([1, 2, 5].find((each) => each * power * count >= span * 0.999) ?? 10) * power;
  const ticks: { at: number; text: string }[] = [];
  for (let i = Math.ceil(lowest / step); i * step <= highest; i++)
    ticks.push({ at: at(i * step), text: numberText(Number((i * step).toPrecision(6))) });
  return { at, ticks, label };
}

/** Equal places for names. */
export function bands(names: readonly string[], [from, to]: readonly [number, number]): Scale {
  const at = (band: number) => from + (band * (to - from)) / names.length;
  return { at, ticks: names.map((text, band) => ({ at: at(band + 0.5), text })), label: '' };
}

const digits = (value: number) => String(Number(value.toFixed(1)));
type Attributes = Readonly<Record<string, string | number>>;

function element(name: string, attributes: Attributes, content?: string): string {
  const written = Object.entries(attributes).map(
    ([key, value]) => ` ${key}="${typeof value === 'number' ? digits(value) : value}"`,
  );
  return `<${name}${written.join('')}${content === undefined ? ' />' : `>${escaped(content)}</${name}>`}`;
}

export function text(x: number, y: number, content: string, attributes: Attributes = {}): string {
  return element('text', { x, y, ...attributes }, content);
}

export function rectangle([x1, x2]: readonly number[], [y1, y2]: readonly number[], attributes: Attributes): string {
  const [left = 0, top = 0] = [Math.min(x1 ?? 0, x2 ?? 0), Math.min(y1 ?? 0, y2 ?? 0)];
  const [width, height] = [Math.abs((x2 ?? 0) - (x1 ?? 0)), Math.abs((y2 ?? 0) - (y1 ?? 0))];
  return element('rect', { x: left, y: top, width, height, ...attributes });
}

export function dots(points: readonly (readonly [number, number])[], r: number): string {
  return `<g fill="var(--first)">${points.map(([cx, cy]) => element('circle', { cx, cy, r })).join('')}</g>`;
}

function line(points: readonly (readonly [number, number])[], attributes: Attributes): string {
  const path = points.map(([x, y], i) => `${i === 0 ? 'M' : 'L'}${digits(x)},${digits(y)}`).join('');
  return element('path', { d: path, fill: 'none', ...attributes });
}

function straight(x: readonly [number, number], y: readonly [number, number], attributes: Attributes): string {
  return element('line', { x1: x[0], x2: x[1], y1: y[0], y2: y[1], ...attributes });
}

/** Each point lies at the end of a level part. */
export function steps(points: readonly (readonly [number, number])[], attributes: Attributes): string {
  const corners = points.flatMap(([x, y], i) => {
    const before = points[i - 1];
    return before === undefined ? [[x, y] as const] : [[before[0], y] as const, [x, y] as const];
  });
  return line(corners, { 'stroke-width': '2', ...attributes });
}

export function xAxis({ ticks, label }: Scale, { width, height, left, right, bottom }: Frame): string {
  const y = height - bottom;
  const marks = ticks.map(
    (tick) => straight([tick.at, tick.at], [y, y + 6], { stroke: 'currentColor' }) + text(tick.at, y + 20, tick.text),
  );
  return marks.join('') + text((left + width - right) / 2, y + 38, label);
}

export function yAxis({ ticks, label }: Scale, { width, left, right, top }: Frame, hasGrid = false): string {
  const marks = ticks.map(
    (tick) =>
      (hasGrid ? straight([left, width - right], [tick.at, tick.at], { stroke: 'var(--line)' }) : '') +
      text(left - 8, tick.at + 4, tick.text, { 'text-anchor': 'end' }),
  );
  return marks.join('') + (label === '' ? '' : text(4, top - 12, label, { 'text-anchor': 'start' }));
}
