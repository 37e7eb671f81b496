/**
 * The command's messages during and after its work, with a simulated stream and clock: the pace of the displays, the
 * words, the JSON, and that messages and a bar never mix.
 */
import { Writable } from 'node:stream';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { describeShuffle } from '#src/cli/report-text.js';
import { createReporter, type ReporterOptions } from '#src/cli/reporter.js';
import { resumeAdviser } from '#src/cli/resume-command.js';
import { setUnfinishedJob } from '#src/errors.js';
import {
  AbortError,
  ClosedPipeError,
  InputError,
  type JobPhase,
  type ShuffleProgress,
  type ShuffleReport,
  VerificationError,
} from '#src/index.js';

class PlayedStream extends Writable {
  readonly isTTY: boolean;
  columns: number;
  rows: number;
  text = '';

  constructor(isTTY: boolean, columns: number, rows: number) {
    super({ decodeStrings: false });
    this.isTTY = isTTY;
    this.columns = columns;
    this.rows = rows;
  }

  override _write(text: string, _encoding: string, done: () => void): void {
    this.text += text;
    done();
  }

  lines(): string[] {
    return this.text.split('\n').slice(0, -1);
  }
}

function play(options: Partial<ReporterOptions>, isTTY = false, columns = 80, rows = 24) {
  const stream = new PlayedStream(isTTY, columns, rows);
  const clock = { seconds: 50 };
  const reporter = createReporter(options, stream, () => clock.seconds);
  return { stream, clock, reporter };
}

/** Two passes over as many bytes, and a commit. */
const phasesOf = (bytes: number | undefined): ShuffleProgress['phases'] => [
  { phase: 'scatter', bytes },
  { phase: 'shuffle', bytes },
  { phase: 'commit', bytes: 0 },
];
const inPhase = (
  phase: JobPhase,
  bytesDone: number,
  phaseSeconds: number,
  bytesTotal: number | undefined,
): ShuffleProgress => ({
  phase,
  bytesDone,
  bytesResumed: 0,
  bytesTotal,
  phaseSeconds,
  phases: phasesOf(bytesTotal),
  disks: [{ name: 'vda', bytesRead: 10 * bytesDone, bytesWritten: 5 * bytesDone, callsUnderWay: 3, callLimit: 8 }],
  memory: { residentBytes: 612e6, budgetBytes: 2 ** 30 },
});
const scatter = (bytesDone: number, phaseSeconds: number, bytesTotal = 4e9): ShuffleProgress =>
  inPhase('scatter', bytesDone, phaseSeconds, bytesTotal);
const ofPipe = (bytesDone: number, phaseSeconds: number): ShuffleProgress =>
  inPhase('scatter', bytesDone, phaseSeconds, undefined);

const report: ShuffleReport = {
  records: 19_047_619,
  bytes: 2_000_000_000,
  seed: '42',
  checksum: '0123456789abcdef',
  output: null,
  peakMemoryBytes: 300_000_000,
  seconds: { total: 6.1, pass1: 3, pass2: 3, commit: 0.1 },
  inputCount: 8,
  leftOut: undefined,
  blank: undefined,
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

/** Reports at these times, each with the clock set; waits while code is loaded. */
async function reportAt(played: ReturnType<typeof play>, atSeconds: number, progress: ShuffleProgress): Promise<void> {
  played.clock.seconds = 50 + atSeconds;
  played.reporter.progress(progress);
  await played.reporter.ready();
}

const TIME = /^pileshuf: \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ, /;

describe('plain progress', () => {
  it.each(['auto', 'plain', 'bar'] as const)(
    'of style %s without a terminal: after 10 s, then every 30 s',
    async (style) => {
      const played = play({ style });
      for (let tenths = 0; tenths <= 450; tenths++)
        await reportAt(played, tenths / 10, scatter(tenths * 1e7, tenths / 10, 6e9));
      const lines = played.stream.lines();
      for (const line of lines) expect(line).toMatch(TIME);
      const disk = 'vda reads 1.00 GB/s, writes 500 MB/s, 3.0 of 8 calls; memory 612 MB (-S 1G)';
      expect(lines.map((line) => line.replace(TIME, ''))).toEqual([
        `10 s so far: 8% done, 1 min 50 s left; pass 1 of 2: 1.00 GB of 6.00 GB, 100 MB/s now, 100 MB/s mean; ${disk}`,
        `40 s so far: 33% done, 1 min 20 s left; pass 1 of 2: 4.00 GB of 6.00 GB, 100 MB/s now, 100 MB/s mean; ${disk}`,
      ]);
    },
  );

  it('prints nothing but the summary for a short job', async () => {
    const played = play({});
    await reportAt(played, 0.1, scatter(4e9, 0.5));
    await reportAt(played, 9.9, inPhase('commit', 0, 0, undefined));
    played.reporter.done(describeShuffle(report), report);
    expect(played.stream.lines()).toHaveLength(1);
  });

  it('gives no percentage and no time left where the total is not known', async () => {
    const played = play({ style: 'plain' });
    await reportAt(played, 0, ofPipe(0, 0));
    await reportAt(played, 10, ofPipe(1500e6, 10));
    expect(played.stream.text).toContain(' 10 s so far: pass 1 of 2: 1.50 GB of an unknown total, 150 MB/s now, ');
  });
});

describe('the status', () => {
  it.each(['auto', 'bar', 'plain', 'none'] as const)('of style %s is a line that says all', async (style) => {
    const played = play({ style });
    await reportAt(played, 0, scatter(0, 0));
    await reportAt(played, 2, scatter(4e8, 2));
    expect(played.stream.text).toBe('');
    await played.reporter.status();
    await played.reporter.status();
    const lines = played.stream.lines().map((line) => line.replace(TIME, ''));
    expect(lines).toHaveLength(2);
    expect(lines[0]).toMatch(
      /^2 s so far: 5% done, 38 s left; pass 1 of 2: 400 MB of 4\.00 GB, 200 MB\/s now, .*memory /,
    );
    expect(lines[1]).toBe(lines[0]);
  });

  it('is an event for programs, also before a pass has begun', async () => {
    const played = play({ style: 'json' });
    await played.reporter.status();
    expect(JSON.parse(played.stream.text)).toMatchObject({
      event: 'progress',
      phase: null,
      bytesDone: 0,
      jobDone: null,
    });
    await reportAt(played, 2, scatter(4e8, 2));
    await played.reporter.status();
    const events = played.stream.lines().map((line) => JSON.parse(line));
    expect(events.map(({ event }) => event)).toEqual(['progress', 'plan', 'progress', 'progress']);
    expect(events[3]).toEqual(events[2]);
  });

  it('says so before a pass has begun, and nothing when the job is over or the command is quiet', async () => {
    const played = play({});
    await played.reporter.status();
    expect(played.stream.text).toMatch(/, 0 s so far: no pass has begun\n$/);
    played.reporter.close();
    await played.reporter.status();
    expect(played.stream.lines()).toHaveLength(1);
    const quiet = play({ quiet: true });
    await reportAt(quiet, 20, scatter(4e8, 2));
    await quiet.reporter.status();
    expect(quiet.stream.text).toBe('');
  });
});

describe('JSON progress', () => {
  it('prints one object a line: the plan, at most one a second, and the ends of phases', async () => {
    const played = play({ style: 'json' });
    await played.reporter.ready();
    for (let tenths = 1; tenths <= 15; tenths++) {
      await reportAt(played, tenths / 10, scatter(tenths * 1e7, tenths / 10, 15e7));
      await reportAt(played, tenths / 10, scatter(tenths * 1e7, tenths / 10, 15e7));
    }
    await reportAt(played, 1.5, inPhase('shuffle', 0, 0, undefined));
    const events = played.stream.lines().map((line) => JSON.parse(line));
    expect(events[0]).toEqual({
      event: 'plan',
      phases: phasesOf(15e7),
      bytesTotal: 15e7,
      memoryBudgetBytes: 2 ** 30,
      disks: [{ name: 'vda', callLimit: 8 }],
    });
    const told = ({ phase, bytesDone, bytesTotal, jobDone, jobSecondsLeft, jobSeconds }: Record<string, unknown>) =>
      [phase, bytesDone, bytesTotal, jobDone, jobSecondsLeft, jobSeconds].join(' ');
    expect(events.slice(1).map(told)).toEqual([
      'scatter 10000000 150000000 0.033 2.9 0.1',
      'scatter 110000000 150000000 0.367 1.9 1.1',
      'scatter 150000000 150000000 0.5 1.5 1.5',
      expect.stringMatching(/^shuffle 0 {2}/),
    ]);
    expect(events[2]).toMatchObject({
      ...{ pass: 1, passes: 2, memoryBytes: 612e6, bytesPerSecond: 1e8, meanBytesPerSecond: 1e8 },
      disks: [{ name: 'vda', bytesRead: 11e8, bytesWritten: 55e7, callsUnderWay: 3, callLimit: 8 }],
    });
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

describe('the live view', () => {
  const erased = '\r\x1b[J';

  /** Has the view drawn, which is not before half a second. */
  async function playUntilDrawn(options: Partial<ReporterOptions> = {}, columns = 80, rows = 24) {
    vi.stubEnv('TERM', 'xterm');
    const played = play(options, true, columns, rows);
    await reportAt(played, 0.4, scatter(12e8, 8));
    expect(played.stream.text).toBe('');
    await reportAt(played, 0.6, scatter(12e8, 8));
    expect(played.stream.text).toContain('%');
    return played;
  }
  const views = (text: string) => text.split('\x1b[J').length - 1;

  it('is drawn on a terminal in lines that end in their place, and gone before the summary', async () => {
    const { stream, reporter } = await playUntilDrawn();
    const view = [
      '[=-----------]  15%  46 s left  pass 1 of 2  1.20 GB of 4.00 GB',
      '150 MB/s now  150 MB/s mean  memory 612 MB (-S 1G)',
      'vda reads 0 B/s, writes 0 B/s, 3.0 of 8 calls',
    ];
    const drawn = `\r${view.join('\x1b[K\r\n')}\x1b[J\x1b[2A\r`;
    expect(stream.text).toBe(drawn);
    reporter.done(describeShuffle(report), report);
    reporter.progress(scatter(13e8, 9));
    reporter.close();
    expect(stream.text.startsWith(`${drawn}${erased}pileshuf: 19,047,619 records, `)).toBe(true);
    expect(stream.text.slice(drawn.length + erased.length).split('\n')).toEqual([expect.any(String), '']);
  });

  it('is drawn five times a second, and at once in a new phase', async () => {
    const played = await playUntilDrawn();
    for (let tenths = 1; tenths <= 10; tenths++)
      await reportAt(played, 0.600001 + tenths * 0.100001, scatter(1e8, 1 + tenths / 10));
    expect(views(played.stream.text)).toBe(1 + 5);
    await reportAt(played, 1.7, inPhase('shuffle', 0, 0, 4e9));
    expect(views(played.stream.text)).toBe(1 + 5 + 1);
    expect(played.stream.text).toContain('pass 2 of 2');
  });

  it('steps aside for a warning and for the status, and comes back', async () => {
    const played = await playUntilDrawn();
    played.reporter.warning('something to know');
    expect(played.stream.text.endsWith(`${erased}pileshuf: warning: something to know\n`)).toBe(true);
    await reportAt(played, 0.9, scatter(13e8, 9));
    expect(played.stream.text.split('something to know\n')[1]).toContain('[=-----------]  16%');
    await played.reporter.status();
    expect(played.stream.text.split(erased).at(-1)).toMatch(/^pileshuf: \d.* so far: 16% done, .*\n$/);
    await reportAt(played, 1.2, scatter(13e8, 9));
    expect(played.stream.text.endsWith('\x1b[2A\r')).toBe(true);
  });

  it('of style auto is gone before records come out on the same terminal, and does not come back', async () => {
    for (const style of ['auto', 'bar'] as const) {
      const played = await playUntilDrawn({ style, sharesTerminal: true });
      expect(played.stream.text).toContain('pass 1 of 2');
      await reportAt(played, 1, inPhase('shuffle', 0, 0, 4e9));
      const atRecords = played.stream.text;
      await reportAt(played, 6, inPhase('shuffle', 1e9, 5, 4e9));
      played.reporter.close();
      if (style === 'bar') expect(played.stream.text).toContain('pass 2 of 2');
      else expect(atRecords.endsWith(erased)).toBe(true);
    }
  });

  it('gives way to lines on a terminal that cannot move its cursor', async () => {
    vi.stubEnv('TERM', 'dumb');
    const played = play({ style: 'bar' }, true);
    await reportAt(played, 2, scatter(4e8, 2));
    expect(played.stream.text).toBe('');
    await reportAt(played, 10, scatter(20e8, 10));
    expect(played.stream.text).toMatch(/^pileshuf: .*pass 1 of 2: 2\.00 GB of 4\.00 GB.*\n$/);
  });
});

describe('messages', () => {
  it('keep warnings and the summary with style none, and lose both when quiet', () => {
    for (const quiet of [false, true]) {
      const { stream, clock, reporter } = play({ style: quiet ? 'plain' : 'none', quiet });
      clock.seconds += 60;
      reporter.progress(scatter(1e9, 60));
      reporter.warning('something to know');
      reporter.done(describeShuffle(report), report, 'what must be known');
      reporter.failure(new VerificationError('1 record missing'), undefined);
      const all = [
        'pileshuf: warning: something to know',
        'pileshuf: warning: what must be known',
        'pileshuf: 19,047,619 records, 2.00 GB (2,000,000,000 bytes) in 6.1 s, 328 MB/s, seed 42, checksum 0123456789abcdef',
        'pileshuf: verification failed: 1 record missing',
      ];
      expect(stream.lines()).toEqual(quiet ? [all[1], all[3]] : all);
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
