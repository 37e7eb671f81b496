/** The film of a terminal: what it shows, for how long, and that a page can show it. */
import { describe, expect, it } from 'vitest';
import { filmOf, framesOf } from '../../bench/film.mjs';

const look = { columns: 20, shortestSeconds: 0.1 };

describe('framesOf', () => {
  it('has each screen for as long as it stays', () => {
    const pieces = [
      { seconds: 0, text: '$ job\r\n' },
      { seconds: 0.5, text: '1%\r\nslow' },
      { seconds: 1, text: '\r\x1b[1A2%\x1b[J' },
      { seconds: 0.25, text: '' },
    ];
    expect(framesOf(pieces, look)).toEqual([
      { seconds: 0.5, lines: ['$ job'] },
      { seconds: 1, lines: ['$ job', '1%', 'slow'] },
      { seconds: 4, lines: ['$ job', '2%'] },
    ]);
  });

  it('leaves out what nobody could see, and keeps its time', () => {
    const pieces = ['a', 'b', 'c', 'd'].map((text) => ({ seconds: 0.06, text }));
    const frames = framesOf(pieces, look);
    expect(frames.map(({ lines }) => lines)).toEqual([['a'], ['abc'], ['abcd']]);
    expect(frames[0]?.seconds).toBeCloseTo(0.12);
  });
});

describe('filmOf', () => {
  const frames = [
    { seconds: 1, lines: ['a < b & c', '', '  indented'] },
    { seconds: 3, lines: ['end'] },
  ];
  const film = filmOf(frames, { columns: 20, title: 'A <title>', still: 1 });

  it('moves from screen to screen at their times', () => {
    expect(film).toContain('@keyframes film{0.00%{transform:translateY(0px)}25.00%{transform:translateY(-60px)}}');
    expect(film).toContain('animation:film 4.00s step-end infinite');
    expect(film).toContain('.film{transform:translateY(-60px)');
  });

  it('has the lines as text, at the place and as wide as their columns', () => {
    expect(film).toContain('<text y="15" textLength="75.6" lengthAdjust="spacingAndGlyphs">a &lt; b &amp; c</text>');
    expect(film).toContain('<text x="16.8" y="55" textLength="67.2" lengthAdjust="spacingAndGlyphs">indented</text>');
    expect(film).toContain('<title>A &lt;title&gt;</title>');
    expect(film.match(/<text/g)).toHaveLength(3);
  });
});
