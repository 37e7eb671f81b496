// @ts-check
// Makes a film of a terminal: an SVG that shows what a program wrote, when it wrote it. CSS moves a strip of screens past a
// window, so the film plays in a page without scripts. Pure.

import { Screen } from './screen.mjs';

/** @typedef {{ seconds: number, text: string }} Piece what came, and how long after the piece before */
/** @typedef {{ seconds: number, lines: string[] }} Frame a screen, and for how long it stays */

const columnWidth = 8.4;
const rowHeight = 20;
const margin = 16;
const lastSeconds = 4;

/**
 * The screens, each as long as nothing changes. What stays for a shorter time than the shortest is left out.
 * @param {readonly Piece[]} pieces
 * @param {{ columns: number, shortestSeconds: number }} look
 * @returns {Frame[]}
 */
export function framesOf(pieces, { columns, shortestSeconds }) {
  const screen = new Screen(columns);
  /** @type {Frame[]} */
  const frames = [];
  let shown = { seconds: 0, lines: /** @type {string[]} */ ([]) };
  for (const { seconds, text } of pieces) {
    shown.seconds += seconds;
    const { lines } = screen.write(text);
    if (lines.join('\n') === shown.lines.join('\n')) continue;
    if (shown.seconds >= shortestSeconds) frames.push(shown);
    // What is left out gives its time to what follows.
    shown = { seconds: shown.seconds >= shortestSeconds ? 0 : shown.seconds, lines };
  }
  return [...frames, { ...shown, seconds: lastSeconds }];
}

/**
 * @param {readonly Frame[]} frames at least one
 * @param {{ columns: number, title: string, still: number }} look `still`: the frame for who wants no motion
 * @returns {string} the SVG
 */
export function filmOf(frames, { columns, title, still }) {
  const rows = Math.max(...frames.map(({ lines }) => lines.length));
  const [innerWidth, frameHeight] = [columns * columnWidth, rows * rowHeight];
  const [width, height] = [Math.ceil(innerWidth + 2 * margin), frameHeight + 2 * margin];
  const totalSeconds = frames.reduce((all, { seconds }) => all + seconds, 0);
  let at = 0;
  const steps = frames.map(({ seconds }, i) => {
    const step = `${((100 * at) / totalSeconds).toFixed(2)}%{transform:translateY(${-i * frameHeight || 0}px)}`;
    at += seconds;
    return step;
  });
  const screens = frames.flatMap(({ lines }, i) =>
    lines.flatMap((line, row) => (line === '' ? [] : [textOf(line, i * frameHeight + row * rowHeight + 15)])),
  );
  const style = [
    `text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#e6e9ec;white-space:pre}`,
    `.film{transform:translateY(${-still * frameHeight}px);animation:film ${totalSeconds.toFixed(2)}s step-end infinite}`,
    `@keyframes film{${steps.join('')}}`,
    '@media (prefers-reduced-motion:reduce){.film{animation:none}}',
  ];
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img"><title>${escaped(title)}</title><style>${style.join('\n')}</style>
<rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8" fill="#12161b" stroke="#3a434d"/>
<svg x="${margin}" y="${margin}" width="${innerWidth}" height="${frameHeight}"><g class="film">
${screens.join('\n')}
</g></svg></svg>
`;
}

/** The text is as wide as its columns in every font. @param {string} line @param {number} y */
function textOf(line, y) {
  const [indent = ''] = /^ */.exec(line) ?? [];
  const text = line.slice(indent.length);
  const width = (text.length * columnWidth).toFixed(1);
  const x = indent === '' ? '' : ` x="${(indent.length * columnWidth).toFixed(1)}"`;
  return `<text${x} y="${y}" textLength="${width}" lengthAdjust="spacingAndGlyphs">${escaped(text)}</text>`;
}

/** @param {string} text */
function escaped(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
