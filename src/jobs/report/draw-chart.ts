/** Draws one chart as SVG text. Its colours are those of the page or picture that it is put into. */
import { type Markish, type PlotOptions, plot } from '@observablehq/plot';
import { SvgDocument } from './svg-document.js';

export const WIDTH = 760;

/** @param label what the chart shows, for who does not see it. */
export function draw(label: string, options: PlotOptions, marks: Markish[]): string {
  const document = new SvgDocument();
  const { x, ...rest } = options;
  // Room for text that is larger than Plot's.
  const ends = { marginTop: 30, marginBottom: 46, x: { labelOffset: 40, ...x } };
  const chart = plot({ document, width: WIDTH, className: 'chart', ariaLabel: label, ...ends, ...rest, marks });
  return String(chart).replace('<svg ', '<svg role="img" ').replace('font-size="10"', 'font-size="12"');
}
