/**
 * The command's messages during and after its work, with a simulated stream and clock: the pace of the displays, the
 * words, the JSON, and that messages and a bar never mix.
 */

import { Writable } from 'node:stream';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createReporter, type ReporterOptions } from '#src/cli/progress.js';
import { RateMeter } from '#src/cli/progress-rate.js';
import { formatBytes, formatCount, formatSeconds, formatWholeSeconds } from '#src/cli/quantity.js';
import { describeShuffle } from '#src/cli/report-text.js';
import { resumeAdviser } from '#src/cli/resume-command.js';
import { setUnfinishedJob } from '#src/errors.js';
import {
  AbortError,
  ClosedPipeError,
  InputError,
  type JobPhase,
  type ShuffleProgress,
  type ShuffleReport,
  SystemError,
  VerificationError,
} from '#src/index.js';

class PlayedStream extends Writable {
  readonly isTTY: boolean;
  readonly columns: number;
  text = '';

  constructor(isTTY: boolean, columns: number) {
    super({ decodeStrings: false });
    this.isTTY = isTTY;
    this.columns = columns;
  }

  override _write(text: string, _encoding: string, done: () => void): void {
    this.text += text;
    done();
  }

  lines(): string[] {
    return this.text.split('\n').slice(0, -1);
  }
}

function play(options: Partial<ReporterOptions>, isTTY = false, columns = 80) {
  const stream = new PlayedStream(isTTY, columns);
  const clock = { seconds: 50 };
  const reporter = createReporter(options, stream, () => clock.seconds);
  return { stream, clock, reporter };
}

/** Two passes that take equally long, and a commit that takes no time. */
const phases: ShuffleProgress['phases'] = [
  { phase: 'scatter', cost: 2 },
  { phase: 'shuffle', cost: 2 },
  { phase: 'commit', cost: 0 },
];
const inPhase = (
  phase: JobPhase,
  bytesDone: number,
  phaseSeconds: number,
  bytesTotal: number | undefined,
): ShuffleProgress => ({ phase, bytesDone, bytesResumed: 0, bytesTotal, phaseSeconds, phases });
const scatter = (bytesDone: number, phaseSeconds: number, bytesTotal = 4e9): ShuffleProgress =>
  inPhase('scatter', bytesDone, phaseSeconds, bytesTotal);
const ofPipe = (bytesDone: number, phaseSeconds: number): ShuffleProgress => ({
  ...inPhase('scatter', bytesDone, phaseSeconds, undefined),
  phases: phases.map(({ phase }) => ({ phase, cost: undefined })),
});

const report: ShuffleReport = {
  records: 19_047_619,
  bytes: 2_000_000_000,
  seed: '42',
  checksum: '0123456789abcdef',
  seconds: { total: 6.1, pass1: 3, pass2: 3, commit: 0.1 },
  inputCount: 8,
  leftOut: undefined,
  groups: undefined,
  duplicates: undefined,
  workers: 2,
  piles: 48,
  tempBytes: 0,
  decoders: {},
  shards: [],
  splits: undefined,
  resumed: undefined,
};

afterEach(() => {
  vi.unstubAllEnvs();
});

describe('plain progress', () => {
  it.each(['auto', 'plain', 'bar'] as const)('of style %s without a terminal: after 2 s, then every 10 s', (style) => {
    const { stream, clock, reporter } = play({ style });
    for (let tenths = 0; tenths <= 250; tenths++) {
      clock.seconds = 50 + tenths / 10;
      reporter.progress(scatter(tenths * 1e7, tenths / 10));
    }
    expect(stream.lines()).toEqual([
      'pileshuf: 2% done, 1 min 18 s left; pass 1 of 2: 200 MB of 4.00 GB, 100 MB/s',
      'pileshuf: 15% done, 1 min 08 s left; pass 1 of 2: 1.20 GB of 4.00 GB, 100 MB/s',
      'pileshuf: 27% done, 58 s left; pass 1 of 2: 2.20 GB of 4.00 GB, 100 MB/s',
    ]);
  });

  it('prints nothing but the summary for a short job', () => {
    const { stream, clock, reporter } = play({});
    reporter.progress(scatter(4e9, 0.5));
    clock.seconds += 1.9;
    reporter.progress(inPhase('commit', 0, 0, undefined));
    reporter.done(describeShuffle(report), report);
    expect(stream.lines()).toHaveLength(1);
  });

  it('gives no percentage and no time left where the total is not known', () => {
    const { stream, clock, reporter } = play({ style: 'plain' });
    clock.seconds += 2;
    reporter.progress(ofPipe(300e6, 2));
    expect(stream.text).toBe('pileshuf: pass 1 of 2: 300 MB of an unknown total, 150 MB/s\n');
  });

  it('names the phases and leaves out what is not known yet', () => {
    const { stream, clock, reporter } = play({ style: 'plain' });
    for (const phase of ['scatter', 'shuffle', 'commit'] as const) {
      clock.seconds += 20;
      reporter.progress(inPhase(phase, 0, 0, 1000));
    }
    expect(stream.lines()).toEqual([
      'pileshuf: pass 1 of 2: 0 B of 1.00 kB',
      'pileshuf: pass 2 of 2: 0 B of 1.00 kB',
      'pileshuf: commit',
    ]);
  });
});

describe('JSON progress', () => {
  it('prints one object a line, at most one a second, and the ends of phases', () => {
    const { stream, clock, reporter } = play({ style: 'json' });
    for (let tenths = 1; tenths <= 15; tenths++) {
      clock.seconds = 50 + tenths / 10;
      reporter.progress(scatter(tenths * 1e7, tenths / 10, 15e7));
      reporter.progress(scatter(tenths * 1e7, tenths / 10, 15e7));
    }
    reporter.progress(inPhase('shuffle', 0, 0, undefined));
    const event = { event: 'progress', phase: 'scatter', bytesTotal: 15e7, bytesPerSecond: 1e8, pass: 1, passes: 2 };
    expect(stream.lines().map((line) => JSON.parse(line))).toEqual([
      { ...event, bytesDone: 1e7, secondsLeft: 1.4, jobDone: 0.033, jobSecondsLeft: 2.9 },
      { ...event, bytesDone: 11e7, secondsLeft: 0.4, jobDone: 0.367, jobSecondsLeft: 1.9 },
      { ...event, bytesDone: 15e7, secondsLeft: 0, jobDone: 0.5, jobSecondsLeft: 1.5 },
      {
        ...{
          event: 'progress',
          phase: 'shuffle',
          bytesDone: 0,
          bytesTotal: null,
          bytesPerSecond: 0,
          secondsLeft: null,
        },
        ...{ pass: 2, passes: 2, jobDone: 0.5, jobSecondsLeft: 1.5 },
      },
    ]);
  });

  it('prints warnings, the summary and errors as objects', () => {
    const { stream, reporter } = play({ style: 'json' });
    reporter.warning('a\nb');
    reporter.done(describeShuffle(report), report);
    reporter.failure(new InputError('ERR_INPUT_CORRUPT', 'x.gz: broken'), undefined);
    reporter.failure(new TypeError('oops'), undefined);
    expect(stream.lines().map((line) => JSON.parse(line))).toEqual([
      { event: 'warning', message: 'a\nb' },
      { event: 'summary', ...report },
      { event: 'error', code: 'ERR_INPUT_CORRUPT', message: 'x.gz: broken' },
      {
        event: 'error',
        code: 'ERR_INTERNAL',
        message: 'internal error: oops (DEBUG=pileshuf in the environment shows where)',
      },
    ]);
  });
});

describe('bar', () => {
  const erased = '\r\x1b[K';

  /** Has the bar drawn, which is not before half a second. */
  function playUntilDrawn(progress: ShuffleProgress, columns = 80) {
    vi.stubEnv('TERM', 'xterm');
    const played = play({ style: 'auto' }, true, columns);
    played.clock.seconds += 0.4;
    played.reporter.progress(progress);
    expect(played.stream.text).toBe('');
    played.clock.seconds += 0.2;
    played.reporter.progress(progress);
    return played;
  }

  it('is drawn on a terminal, within 80 columns, and gone before the summary', () => {
    const { stream, reporter } = playUntilDrawn(scatter(12e8, 8));
    const bar = '\r[=-----------]  15%  46 s left  pass 1 of 2  1.20 GB of 4.00 GB  150 MB/s\x1b[K\r';
    expect(stream.text).toBe(bar);
    reporter.done(describeShuffle(report), report);
    reporter.progress(scatter(13e8, 9));
    reporter.close();
    expect(stream.text.startsWith(`${bar}${erased}pileshuf: 19,047,619 records, `)).toBe(true);
    expect(stream.text.split('\n')).toEqual([expect.any(String), '']);
    expect(stream.text.split('\r')).toHaveLength(4);
  });

  it('is drawn five times a second, and at once in a new phase', () => {
    const { stream, clock, reporter } = playUntilDrawn(scatter(1e8, 1));
    for (let tenths = 1; tenths <= 10; tenths++) {
      clock.seconds += 0.1;
      reporter.progress(scatter(1e8, 1 + tenths / 10));
    }
    expect(stream.text.split('pass 1')).toHaveLength(1 + 1 + 5);
    reporter.progress(inPhase('shuffle', 0, 0, 4e9));
    expect(stream.text).toContain('pass 2 of 2');
  });

  it('fits 80 columns with the longest numbers', () => {
    const { stream } = playUntilDrawn(scatter(999e9, 722, 9.99e12));
    expect(stream.text.slice('\r'.length, stream.text.indexOf('\x1b')).length).toBeLessThan(80);
    expect(stream.text).toContain('[------------]   5%  3 h 49 min left  pass 1 of 2  999 GB of 9.99 TB  1.38 GB/s');
  });

  it.each([40, 12, 2])('is cut on a terminal of %d columns, where it would wrap', (columns) => {
    const { stream } = playUntilDrawn(scatter(12e8, 8), columns);
    const line = '[=-----------]  15%  46 s left  pass 1 of 2';
    expect(stream.text).toBe(`\r${line.slice(0, columns - 1)}\x1b[K\r`);
  });

  it('fits a terminal that does not say how wide it is', () => {
    const { stream } = playUntilDrawn(scatter(12e8, 8), 0);
    expect(stream.text).toContain('46 s left');
  });

  it('neither hides the cursor nor turns off wrapping: a process that is killed leaves a terminal in order', () => {
    const { stream, reporter } = playUntilDrawn(scatter(12e8, 8));
    reporter.close();
    expect(stream.text.split('\x1b').map((piece) => piece.slice(0, 2))).toEqual(['\r[', '[K', '[K']);
  });

  it('shows no percentage where the total is not known', () => {
    const { stream } = playUntilDrawn(ofPipe(12e8, 8));
    expect(stream.text).toContain('pass 1 of 2  1.20 GB of an unknown total  150 MB/s');
    expect(stream.text).not.toContain('%');
  });

  it('steps aside for a warning and comes back', () => {
    const { stream, clock, reporter } = playUntilDrawn(scatter(12e8, 8));
    reporter.warning('something to know');
    expect(stream.text.endsWith(`${erased}pileshuf: warning: something to know\n`)).toBe(true);
    clock.seconds += 0.3;
    reporter.progress(scatter(13e8, 9));
    expect(stream.text.split('something to know\n')[1]).toContain('[=-----------]  16%');
  });

  it('of style auto is gone before records come out on the same terminal, and does not come back', () => {
    vi.stubEnv('TERM', 'xterm');
    for (const style of ['auto', 'bar'] as const) {
      const { stream, clock, reporter } = play({ style, sharesTerminal: true }, true);
      clock.seconds += 0.6;
      reporter.progress(scatter(12e8, 8));
      expect(stream.text).toContain('pass 1 of 2');
      reporter.progress(inPhase('shuffle', 0, 0, 4e9));
      const atRecords = stream.text;
      clock.seconds += 5;
      reporter.progress(inPhase('shuffle', 1e9, 5, 4e9));
      reporter.close();
      if (style === 'bar') expect(stream.text).toContain('pass 2 of 2');
      else expect([atRecords, atRecords.endsWith('\r\x1b[K')]).toEqual([stream.text, true]);
    }
  });

  it('gives way to lines on a terminal that cannot move its cursor', () => {
    vi.stubEnv('TERM', 'dumb');
    const { stream, clock, reporter } = play({ style: 'bar' }, true);
    clock.seconds += 2;
    reporter.progress(scatter(4e8, 2));
    expect(stream.text).toBe('pileshuf: 5% done, 38 s left; pass 1 of 2: 400 MB of 4.00 GB, 200 MB/s\n');
  });
});

describe('messages', () => {
  it('keep warnings and the summary with style none, and lose both when quiet', () => {
    for (const quiet of [false, true]) {
      const { stream, clock, reporter } = play({ style: quiet ? 'plain' : 'none', quiet });
      clock.seconds += 60;
      reporter.progress(scatter(1e9, 60));
      reporter.warning('something to know');
      reporter.done(describeShuffle(report), report);
      reporter.failure(new VerificationError('1 record missing'), undefined);
      const all = [
        'pileshuf: warning: something to know',
        'pileshuf: 19,047,619 records, 2.00 GB (2,000,000,000 bytes) in 6.1 s, 328 MB/s, seed 42, checksum 0123456789abcdef',
        'pileshuf: verification failed: 1 record missing',
      ];
      expect(stream.lines()).toEqual(quiet ? all.slice(2) : all);
    }
  });

  it.each([
    [{ records: 0, bytes: 0, seconds: { ...report.seconds, total: 0 } }, '0 records, 0 bytes in 0.00 s, seed 42,'],
    [{ records: 1, bytes: 1 }, '1 record, 1 byte in 6.1 s, 0 B/s, seed 42,'],
    [{ records: 9, bytes: 1000 }, '9 records, 1.00 kB (1,000 bytes) in 6.1 s,'],
    [{ records: 9, duplicates: { records: 1, bytes: 3 } }, '9 records, 1 duplicate dropped, 2.00 GB ('],
    [{ seed: '' }, 'seed "",'],
    [{ seed: 'a b' }, 'seed "a b",'],
    [{ seed: 'a\n\u2028' }, 'seed "a\\n\\u2028",'],
    [{ seed: '3f2a-11:x' }, 'seed 3f2a-11:x,'],
    [{ resumed: { pileSets: 12, outputBytes: 32e8 } }, 'cdef, resumed from 12 slices and 3.20 GB of output\n'],
    [{ resumed: { pileSets: 1, outputBytes: 0 } }, 'cdef, resumed from 1 slice and 0 B of output\n'],
  ])('sum up %o', (fields, words) => {
    const { stream, reporter } = play({});
    const other = { ...report, ...fields };
    reporter.done(describeShuffle(other), other);
    expect(stream.lines()).toHaveLength(1);
    expect(stream.text).toContain(words);
  });

  it('stay on one line whatever a file is called', () => {
    const { stream, reporter } = play({});
    reporter.warning('a\nb\r\x1b[2J\u2028\t\0');
    expect(stream.text).toBe('pileshuf: warning: a\\nb\\r\\x1b[2J\\u2028\\t\\0\n');
  });

  // Characters that turn the direction of writing, and others that show nothing.
  const hidden = ['\u202e', '\u2066', '\u200b', '\u200f', '\ufeff', '\u00ad', '\u061c', '\u3164', '\u{e0041}', '\x7f'];

  it('show what is hidden in a name', () => {
    const { stream, reporter } = play({});
    reporter.warning(`${hidden.join(' ')} é 字 😀`);
    const shown = '\\u202e \\u2066 \\u200b \\u200f \\ufeff \\xad \\u061c \\u3164 \\u{e0041} \\x7f é 字 😀';
    expect(stream.text).toBe(`pileshuf: warning: ${shown}\n`);
  });

  it('say the same to programs, in JSON that shows it', () => {
    const { stream, reporter } = play({ style: 'json' });
    const message = hidden.join(' ');
    reporter.warning(message);
    expect(JSON.parse(stream.text)).toEqual({ event: 'warning', message });
    expect(stream.text).toMatch(/^[ -~]*\n$/);
  });

  it('show what is hidden in a stack', () => {
    vi.stubEnv('DEBUG', 'pileshuf');
    const { stream, reporter } = play({});
    reporter.failure(new TypeError('a\u202eb'), undefined);
    expect(stream.text).not.toContain('\u202e');
    expect(stream.lines()[1]).toBe('TypeError: a\\u202eb');
  });

  it('for people at the terminal reach nobody else', () => {
    const said = ([options, isTTY]: [Partial<ReporterOptions>, boolean]) => {
      const { stream, reporter } = play(options, isTTY);
      reporter.hint('waiting');
      return stream.text;
    };
    expect(said([{}, true])).toBe('pileshuf: waiting\n');
    const others: [Partial<ReporterOptions>, boolean][] = [
      [{}, false],
      [{ quiet: true }, true],
      [{ style: 'json' }, true],
      [{ style: 'none' }, true],
    ];
    expect(others.map(said)).toEqual(['', '', '', '']);
  });

  it('say which signal stopped the job', () => {
    const { stream, reporter } = play({});
    reporter.failure(new AbortError(), 'SIGTERM');
    expect(stream.text).toBe('pileshuf: interrupted by SIGTERM: stopped before the end; no output was written\n');
  });

  it('say where an unfinished job is kept, and how to resume it, on the same line', () => {
    const { stream, reporter } = play({ adviseResume: resumeAdviser(['a b'], false) });
    const aborted = new AbortError();
    setUnfinishedJob(aborted, { directory: '/tmp/job\n1' });
    reporter.failure(aborted, 'SIGINT');
    expect(stream.text).toBe(
      'pileshuf: interrupted by SIGINT: stopped before the end; no output was written; ' +
        "finished work is kept in /tmp/job\\n1; to resume: pileshuf 'a b' --resume\n",
    );
  });

  it('say so to programs in fields of their own', () => {
    const { stream, reporter } = play({ style: 'json', adviseResume: resumeAdviser(['a'], false) });
    const full = new SystemError('ERR_NO_SPACE', 'the disk is full');
    setUnfinishedJob(full, { directory: '/tmp/job' });
    reporter.failure(full, undefined);
    const resumed = { ...report, resumed: { pileSets: 12, outputBytes: 5 } };
    reporter.done(describeShuffle(resumed), resumed);
    expect(stream.lines().map((line) => JSON.parse(line))).toEqual([
      {
        event: 'error',
        code: 'ERR_NO_SPACE',
        message: 'the disk is full',
        resume: { directory: '/tmp/job', command: 'pileshuf a --resume', change: [], needsSpace: true },
      },
      { event: 'summary', ...report, resumed: { pileSets: 12, outputBytes: 5 } },
    ]);
  });

  it('name no command when nothing is kept', () => {
    const { stream, reporter } = play({ adviseResume: resumeAdviser(['a'], false) });
    reporter.failure(new VerificationError('1 record missing'), undefined);
    expect(stream.text).toBe('pileshuf: verification failed: 1 record missing\n');
  });

  it('are silent when the reader of the output went away', () => {
    for (const style of ['auto', 'json'] as const) {
      const { stream, reporter } = play({ style });
      reporter.failure(new ClosedPipeError(), undefined);
      expect(stream.text).toBe('');
    }
  });

  it('show a stack only to those who debug', () => {
    vi.stubEnv('DEBUG', 'other,pileshuf');
    const { stream, reporter } = play({});
    reporter.failure(new TypeError('oops'), undefined);
    expect(stream.lines()[0]).toBe('pileshuf: internal error: oops');
    expect(stream.lines()[2]).toMatch(/^ {4}at /);
  });
});

describe('RateMeter', () => {
  it('measures the last ten seconds, not the whole phase', () => {
    const meter = new RateMeter();
    for (let seconds = 1; seconds <= 100; seconds++) {
      meter.measure(scatter(seconds * 1e6, seconds, 1e9));
    }
    const slower = 100e6;
    for (let seconds = 1; seconds <= 20; seconds++) {
      meter.measure(scatter(slower + seconds * 1e5, 100 + seconds, 1e9));
    }
    expect(meter.measure(scatter(slower + 21e5, 121, 1e9))).toMatchObject({ bytesPerSecond: 1e5, secondsLeft: 8979 });
  });

  it('begins anew with each phase, and never runs backwards', () => {
    const meter = new RateMeter();
    expect(meter.measure(scatter(5e8, 1))).toMatchObject({ bytesPerSecond: 5e8, secondsLeft: 7 });
    expect(meter.measure({ ...scatter(1e6, 1), phase: 'shuffle' })).toMatchObject({ bytesPerSecond: 1e6 });
    expect(meter.measure({ ...scatter(0, 30), phase: 'shuffle' })).toMatchObject({
      bytesPerSecond: 0,
      secondsLeft: undefined,
    });
    expect(meter.measure({ ...scatter(9e9, 40), phase: 'shuffle' })).toMatchObject({ secondsLeft: 0 });
  });

  it('does not count what an earlier attempt did', () => {
    const meter = new RateMeter();
    meter.measure({ ...scatter(2e9, 1), bytesResumed: 2e9 });
    expect(meter.measure({ ...scatter(3e9, 2), bytesResumed: 2e9 })).toMatchObject({
      bytesPerSecond: 5e8,
      secondsLeft: 2,
    });
  });
});

describe('quantities', () => {
  it.each([
    [0, '0 B'],
    [999, '999 B'],
    [1000, '1.00 kB'],
    [9994, '9.99 kB'],
    [9995, '10.0 kB'],
    [99_949, '99.9 kB'],
    [99_950, '100 kB'],
    [999_499, '999 kB'],
    [999_500, '1.00 MB'],
    [1_320_000_000_000, '1.32 TB'],
    [9_007_199_254_740_991, '9.01 PB'],
  ])('formatBytes(%d) is %s', (bytes, text) => {
    expect(formatBytes(bytes)).toBe(text);
  });

  it.each([
    [0.042, '0.04 s'],
    [0.994, '0.99 s'],
    [0.996, '1.0 s'],
    [9.94, '9.9 s'],
    [9.96, '10 s'],
    [59.6, '1 min 00 s'],
    [125, '2 min 05 s'],
    [3599.6, '1 h 00 min'],
    [11_220, '3 h 07 min'],
    [90_000, '25 h 00 min'],
  ])('formatSeconds(%d) is %s', (seconds, text) => {
    expect(formatSeconds(seconds)).toBe(text);
  });

  it('formats whole seconds and counts', () => {
    expect([0, 7, 59, 60].map(formatWholeSeconds)).toEqual(['0 s', '7 s', '59 s', '1 min 00 s']);
    expect([0, 999, 1000, 19_047_619].map(formatCount)).toEqual(['0', '999', '1,000', '19,047,619']);
  });
});
