/** The seven defects of terashuf, each reproduced there: the same call must give the right result here. */

import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { shuffle } from '#src/index.js';
import type { Tuning } from '#src/plan/memory-plan.js';
import { withSabotage } from '../faults/sabotage.js';
import { DONE, seen, sortLines } from '../fixtures/command-outcome.js';
import { runCommand } from '../fixtures/run-command.js';
import { IN_TIME, runShell } from '../fixtures/run-shell.js';
import { fromCi, sampled } from '../fixtures/scale.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

const directory = useTestDirectory();

function write(name: string, content: string | Uint8Array): string {
  const path = directory.path(name);
  writeFileSync(path, content);
  return path;
}

function numberedLines(count: number): string {
  return Array.from({ length: count }, (_, i) => `line ${String(i).padStart(8, '0')}\n`).join('');
}

/** The environment that gives the command these sizes. */
function sizes(tuning: Partial<Tuning>): Record<string, string> {
  return { PILESHUF_TEST_TUNING: JSON.stringify(tuning) };
}

/** Everything goes to disk, on worker threads, in small pieces. */
const SPILLING: Partial<Tuning> = { keepInRam: false, inline: false, bufferBytes: 500, sliceBytes: 5000, pileCount: 8 };

describe('defect 1: a read that ends exactly at the last newline', () => {
  const LINES = 64;
  const text = numberedLines(LINES);
  const lineBytes = text.length / LINES;

  it.each(sampled([1, 2, 16, 32, 64], 2))('doubles nothing when it holds %d lines', async (linesOfRead) => {
    const plain = write('plain', text);
    const compressed = write('compressed', gzipSync(text));
    const output = directory.path('out');
    const tuning = { readBytes: linesOfRead * lineBytes, inline: true };
    const job = { inputs: [plain, compressed], output, tempDirs: [directory.temp], memoryBytes: 2 ** 26 };
    const report = await shuffle(job, tuning);
    expect(report.records).toBe(2 * LINES);
    expect(sortLines(readFileSync(output, 'latin1'))).toEqual(sortLines(text + text));
  });

  it.each(sampled([1, 16, 64], 3, 1))(
    'doubles nothing when a slice ends there, with %d lines',
    async (linesOfSlice) => {
      const output = directory.path('out');
      const tuning = { sliceBytes: linesOfSlice * lineBytes, inline: true };
      const job = { inputs: [write('in', text)], output, tempDirs: [directory.temp], memoryBytes: 2 ** 26 };
      expect((await shuffle(job, tuning)).records).toBe(LINES);
      expect(sortLines(readFileSync(output, 'latin1'))).toEqual(sortLines(text));
    },
  );

  it('doubles nothing of standard input', async () => {
    const result = await runCommand(['-q', '-T', directory.temp, '-S', '64M'], {
      stdin: text,
      env: sizes({ readBytes: text.length }),
    });
    expect(seen(result)).toEqual(DONE);
    expect(sortLines(result.stdout.toString('latin1'))).toEqual(sortLines(text));
  });
});

describe('defect 2: bytes 0xFF', () => {
  const lines = Array.from({ length: 1000 }, (_, i) =>
    Buffer.from([i & 0xff, 0xff, (i * 7) & 0xff, 0xff].map((byte) => (byte === 0x0a ? 0x0b : byte)).concat(0x0a)),
  );
  const bytes = Buffer.concat(lines);

  it.each([[['-q']], [['-q', '-z']]])('are bytes like all others: %j', async (options) => {
    const terminated = options.includes('-z') ? Buffer.from(bytes.map((byte) => (byte === 0x0a ? 0 : byte))) : bytes;
    const result = await runCommand([...options, write('in', terminated), '-T', directory.temp]);
    expect(seen(result)).toEqual(DONE);
    const separator = options.includes('-z') ? '\0' : '\n';
    const sorted = (content: Buffer) => content.toString('latin1').split(separator).sort();
    expect(sorted(result.stdout)).toEqual(sorted(terminated));
  });

  it('are no end of standard input', async () => {
    const result = await runCommand(['-q', '-T', directory.temp, '-S', '64M'], { stdin: bytes });
    expect(sortLines(result.stdout.toString('latin1'))).toEqual(sortLines(bytes.toString('latin1')));
  });
});

describe('defect 3: a full device', () => {
  it('is no success', async () => {
    const argv = ['-q', write('in', numberedLines(1000)), '-T', directory.temp];
    const result = await runShell('"$@" > /dev/full', argv);
    expect(seen(result)).toEqual({ exitCode: 1, lines: [expect.stringContaining('no space left on the device')] });
  });
});

// That nothing is left in the temp directory is asserted behind every test.
describe('defect 4: temp files stay behind', () => {
  const text = numberedLines(5000);

  it('not when files cannot be opened any more', async () => {
    const output = directory.path('out');
    const argv = ['-q', write('in', text), '-T', directory.temp, '-o', output, '--workers', '4'];
    const env = sizes({ ...SPILLING, pileCount: 100, stripeCount: 100, bufferBytes: 64 });
    const result = await runShell('ulimit -n 80; exec "$@"', argv, env);
    expect(seen(result)).toEqual({
      exitCode: 1,
      lines: [expect.stringMatching(/^pileshuf: cannot .*: too many open files \(raise `ulimit -n`\)/)],
    });
    expect(existsSync(output)).toBe(false);
  });

  it('not when the disk is full', async () => {
    const argv = ['-q', write('in', text), '-T', directory.temp, '-o', directory.path('out'), '--workers', '2'];
    const { nodeOptions, env } = withSabotage({ act: 'fail', at: 'temp-write', nth: 30, errno: 'ENOSPC' });
    const result = await runCommand(argv, { nodeOptions, env: { ...env, ...sizes(SPILLING) } });
    expect(seen(result)).toEqual({ exitCode: 1, lines: [expect.stringContaining('no space left on the device')] });
  });

  it('not when the reader leaves', async () => {
    const argv = ['-q', write('in', text), '-T', directory.temp, '--workers', '2'];
    const script = `${IN_TIME} "$@" | true; exit "\${PIPESTATUS[0]}"`;
    expect(seen(await runShell(script, argv, sizes(SPILLING)))).toEqual({ exitCode: 141, lines: [] });
  });
});

describe.runIf(fromCi)('defect 5: the same seed with another memory', () => {
  it('gives the same order', async () => {
    const input = write('in', numberedLines(40_000));
    const outputs: string[] = [];
    for (const [memory, workers, pileCount] of [
      ['4M', 1, 40],
      ['9M', 2, 3],
      ['64M', 3, 1],
      ['1G', 2, undefined],
    ] as const) {
      const argv = ['-q', input, '--seed', '42', '-T', directory.temp, '-S', memory, '--workers', `${workers}`];
      const result = await runCommand(argv, {
        env: sizes({ inline: false, bufferBytes: 4096, ...(pileCount && { pileCount }) }),
      });
      expect(seen(result)).toEqual(DONE);
      outputs.push(result.stdout.toString('latin1'));
    }
    expect(new Set(outputs).size).toBe(1);
    expect(sortLines(outputs[0] ?? '')).toEqual(sortLines(readFileSync(input, 'latin1')));
  });
});

describe('defect 6: the header recipe', () => {
  const header = 'id,name';
  const rows = Array.from({ length: 500 }, (_, i) => `${i},name ${i}`);

  it.each([
    ['takes it off with tail', '{ head -n 1 "$CSV"; tail -n +2 "$CSV" | "$@"; }'],
    ['reads it first, from a file', '{ IFS= read -r header; printf "%s\\n" "$header"; "$@"; } < "$CSV"'],
    ['reads it first, from a pipe', 'cat "$CSV" | { IFS= read -r header; printf "%s\\n" "$header"; "$@"; }'],
  ])('prints it once when one %s', async (_, script) => {
    const csv = write('in.csv', `${[header, ...rows].join('\n')}\n`);
    const result = await runShell(script, ['-q', '-T', directory.temp, '-S', '64M'], { CSV: csv });
    expect(seen(result)).toEqual(DONE);
    const [first, ...others] = result.stdout.toString().split('\n');
    expect(first).toBe(header);
    expect(others.sort()).toEqual([...rows, ''].sort());
  });
});

describe('defect 7: an input without a final newline', () => {
  it('keeps its last record to itself', async () => {
    mkdirSync(directory.path('corpus'));
    for (const [i, text] of ['a 1\na 2', 'b 1', '', 'c 1\n'].entries()) write(`corpus/${i}`, text);
    const result = await runCommand(['-q', directory.path('corpus'), '-T', directory.temp]);
    expect(seen(result)).toEqual(DONE);
    expect(sortLines(result.stdout.toString())).toEqual(sortLines('a 1\na 2\nb 1\nc 1\n'));
    expect(readdirSync(directory.temp)).toEqual([]);
  });
});
