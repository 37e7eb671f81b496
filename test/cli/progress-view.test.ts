/** The words of the live view and of the log, for any job and any width of the terminal. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { DiskRate, JobState } from '#src/cli/progress-meters.js';
import { logLine, viewLines } from '#src/cli/progress-view.js';
import { replaceHidden } from '#src/cli/visible-text.js';

const disk = (name: string, more: Partial<DiskRate> = {}): DiskRate => ({
  name,
  bytesRead: 0,
  bytesWritten: 0,
  callsUnderWay: 0,
  callLimit: 8,
  readBytesPerSecond: 105e6,
  writtenBytesPerSecond: 103e6,
  meanCalls: 3.2,
  ...more,
});

const STATE: JobState = {
  phase: 'scatter',
  bytesDone: 1.2e9,
  bytesResumed: 0,
  bytesTotal: 2.4e9,
  phaseSeconds: 8,
  phases: [
    { phase: 'scatter', bytes: 2.4e9 },
    { phase: 'shuffle', bytes: 2.4e9 },
    { phase: 'commit', bytes: 0 },
  ],
  bytesPerSecond: 210e6,
  meanBytesPerSecond: 195e6,
  workedSeconds: 8,
  jobDone: 0.309,
  jobSecondsLeft: 47.2,
  jobSeconds: 20,
  disks: [disk('vda')],
  memory: { residentBytes: 612e6, budgetBytes: 2 ** 30 },
};

/** No terminal takes more columns. */
function mostColumns(text: string): number {
  return [...text].reduce((sum, character) => sum + (character.charCodeAt(0) < 128 ? 1 : 2), 0);
}

describe('the live view', () => {
  it('has the whole job first, then its pace, then its disks', () => {
    expect(viewLines(STATE, 80)).toEqual([
      '[===---------]  30%  48 s left  pass 1 of 2  1.20 GB of 2.40 GB',
      '210 MB/s now  195 MB/s mean  memory 612 MB (-S 1G)',
      'vda reads 105 MB/s, writes 103 MB/s, 3.2 of 8 calls',
    ]);
  });

  it('says the most important on 40 columns', () => {
    expect(viewLines(STATE, 40)).toEqual([
      ' 30%  48 s left  pass 1 of 2',
      '210 MB/s now  195 MB/s mean',
      'vda r 105 MB/s w 103 MB/s 3.2/8',
    ]);
  });

  it('fits 80 columns with the longest numbers', () => {
    const long = { bytesDone: 999e9, bytesTotal: 9.99e12, jobDone: 0.05, jobSecondsLeft: 13_700 };
    expect(viewLines({ ...STATE, ...long }, 80)[0]).toBe(
      '[------------]   5%  3 h 48 min left  pass 1 of 2  999 GB of 9.99 TB',
    );
  });

  it('counts the disks that do not fit', () => {
    const disks = ['sda', 'sdb', 'sdc', 'sdd'].map((name) => disk(name));
    expect(viewLines({ ...STATE, disks }, 80)[2]).toBe(
      'sda r 105 MB/s w 103 MB/s 3.2/8  sdb r 105 MB/s w 103 MB/s 3.2/8  and 2 more',
    );
    expect(viewLines({ ...STATE, disks }, 240)[2]).toContain('sdc reads 105 MB/s');
    expect(viewLines({ ...STATE, disks: [] }, 80)).toHaveLength(2);
  });

  it('shows what is hidden in the name of a disk, and the beginning of a long one', () => {
    const line = (name: string) => viewLines({ ...STATE, disks: [disk(name)] }, 100)[2];
    expect(line('a\n\x1b[2J\u202e')).toMatch(/^a\\n\\x1b\[2J\\u202e reads /);
    expect(line(`server:/${'x'.repeat(50)}`)).toMatch(/^server:\/x{13}\.\.\. reads /);
  });

  it('leaves out what is not known, and the pace of a commit', () => {
    const unknown = { bytesTotal: undefined, jobDone: undefined, jobSecondsLeft: undefined, disks: [] };
    const budget = { residentBytes: 612e6, budgetBytes: undefined };
    expect(viewLines({ ...STATE, ...unknown, memory: budget }, 80)).toEqual([
      'pass 1 of 2  1.20 GB of an unknown total',
      '210 MB/s now  195 MB/s mean  memory 612 MB',
    ]);
    expect(viewLines({ ...STATE, phase: 'commit', jobDone: 1, disks: [] }, 80)).toEqual([
      '[===========-]  99%  48 s left  commit',
      'memory 612 MB (-S 1G)',
    ]);
    expect(viewLines({ ...STATE, member: { number: 2, of: 3, startShare: 0.3, endShare: 0.6 } }, 80)[0]).toContain(
      'pass 1 of 2 for member 2 of 3',
    );
  });
});

it('the line of a log says all', () => {
  expect(logLine(STATE)).toBe(
    '30% done, 48 s left; pass 1 of 2: 1.20 GB of 2.40 GB, 210 MB/s now, 195 MB/s mean; ' +
      'vda reads 105 MB/s, writes 103 MB/s, 3.2 of 8 calls; memory 612 MB (-S 1G)',
  );
});

it('a job on other machines has its tasks, and no memory of the one that waits', () => {
  const tasks = { running: 3, waiting: 1, reasons: ['Resources', 'Priority'] };
  const state = { ...STATE, disks: [], memory: undefined, tasks };
  expect(viewLines(state, 80).slice(1)).toEqual([
    '210 MB/s now  195 MB/s mean',
    '3 tasks run, 1 task waits (Resources, Priority)',
  ]);
  expect(logLine(state)).toMatch(/195 MB\/s mean; 3 tasks run, 1 task waits \(Resources, Priority\)$/);
});

describe('for any job', () => {
  const bytes = fc.double({ min: 0, max: 2 ** 62, noNaN: true });
  const seconds = fc.double({ min: 0, max: 1e9, noNaN: true });
  const unknown = <T>(known: fc.Arbitrary<T>) => fc.option(known, { nil: undefined });
  const name = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.string({ unit: 'binary' }),
    fc.string({ unit: fc.constantFrom('字', '😀', 'é', '한', '\u0301', '\u200d', 'ﬃ'), maxLength: 40 }),
  );
  const disks = fc.array(
    fc
      .record({
        name,
        readBytesPerSecond: bytes,
        writtenBytesPerSecond: bytes,
        meanCalls: fc.double({ min: 0, max: 4096, noNaN: true }),
        callLimit: fc.nat(4096),
      })
      .map((more) => disk(more.name, more)),
    { maxLength: 12 },
  );
  const states = fc
    .record({
      phase: fc.constantFrom('count', 'scatter', 'shuffle', 'commit', 'verify'),
      bytesDone: bytes,
      bytesTotal: unknown(bytes),
      bytesPerSecond: bytes,
      meanBytesPerSecond: bytes,
      jobDone: unknown(fc.double({ min: 0, max: 1, noNaN: true })),
      jobSecondsLeft: unknown(seconds),
      member: unknown(
        fc.record({ number: fc.nat(99_999), of: fc.nat(99_999), startShare: fc.nat(1), endShare: fc.nat(1) }),
      ),
      memory: unknown(fc.record({ residentBytes: bytes, budgetBytes: unknown(bytes) })),
      tasks: unknown(fc.record({ running: fc.nat(99_999), waiting: fc.nat(99_999), reasons: fc.array(name) })),
      disks,
    })
    .map((more): JobState => ({ ...STATE, ...more }));

  it('no line of the view is as wide as the terminal, or has a hidden character', () => {
    fc.assert(
      fc.property(states, fc.integer({ min: 1, max: 200 }), (state, columns) => {
        const lines = viewLines(state, columns);
        expect(lines.length).toBeGreaterThan(0);
        expect(lines.length).toBeLessThanOrEqual(3);
        for (const line of lines) {
          expect(mostColumns(line)).toBeLessThan(Math.max(2, columns));
          expect(replaceHidden(line, () => '?')).toBe(line);
          expect(line).toBe(line.trimEnd());
        }
      }),
    );
  });

  it('the percentage and the time left stand on any terminal from 40 columns', () => {
    fc.assert(
      fc.property(states, fc.integer({ min: 40, max: 200 }), (state, columns) => {
        const [first = ''] = viewLines(state, columns);
        if (state.jobDone !== undefined) expect(first).toMatch(/\d%/);
        if (state.jobSecondsLeft !== undefined) expect(first).toContain(' left');
      }),
    );
  });

  it('the line of a log is one line', () => {
    fc.assert(
      fc.property(states, (state) => {
        const line = logLine(state);
        expect(replaceHidden(line, () => '?')).toBe(line);
      }),
    );
  });
});
