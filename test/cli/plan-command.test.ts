/** `pileshuf plan` and `--dry-run` as a user calls them: what is printed where. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { beforeEach, describe, expect, it } from 'vitest';
import { describePreview } from '#src/cli/commands/plan-command.js';
import { previewShuffle } from '#src/index.js';
import { commandInProcess } from '../fixtures/command-in-process.js';
import { runCommand } from '../fixtures/run-command.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

const directory = useTestDirectory();
const schema = JSON.parse(readFileSync(new URL('../../examples/plan.schema.json', import.meta.url), 'utf8')) as object;
const validate = new Ajv({ strict: true }).compile(schema);

beforeEach(() => {
  mkdirSync(directory.path('in'));
  const lines = (name: string) => Array.from({ length: 500 }, (_, i) => `${name} ${i}\n`).join('');
  for (const name of ['a', 'b']) writeFileSync(directory.path('in', `${name}.txt`), lines(name));
});

const run = (...argv: string[]) => commandInProcess(argv, { cwd: directory.path() });

describe('pileshuf plan', () => {
  it('prints a plan to standard output, and writes nothing', async () => {
    const { exitCode, stdout, stderr } = await run('plan', 'in', '-o', 'out', '-S', '64M', '-q');
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(stdout.toString()).toMatch(/^inputs {6}2 inputs, 5\.78 kB \(plain\)\nrecords {5}1,000 records, 5\.78 kB\n/);
    expect(readdirSync(directory.path()).sort()).toEqual(['in', 'temp']);
  });

  it('is the same as --dry-run', async () => {
    const words = ['in', '-o', 'out', '--shards', '4', '-S', '64M'];
    const planned = await run('plan', ...words);
    const dry = await run(...words, '--dry-run');
    expect(dry.exitCode).toBe(0);
    expect(dry.stdout.toString()).toBe(planned.stdout.toString());
    expect(readdirSync(directory.path()).sort()).toEqual(['in', 'temp']);
  });

  it('prints JSON that fits its schema', async () => {
    const { stdout } = await run('plan', 'in', '-o', 'out', '--json', '--split', 'train=0.9,test=0.1');
    const report: unknown = JSON.parse(stdout.toString());
    expect(validate(report), JSON.stringify(validate.errors)).toBe(true);
    expect(stdout.toString().trim().split('\n')).toHaveLength(1);
  });

  it('of standard input does not read it, and says what is unknown', async () => {
    const { exitCode, stdout } = await runCommand(['plan'], { cwd: directory.path(), stdin: 'a\n' });
    expect(exitCode).toBe(0);
    expect(stdout.toString()).toContain('records     unknown number\n');
  });

  it('shows names with hidden characters on one line', async () => {
    writeFileSync(directory.path('in', 'a\u001b[31m\n'), 'x\n');
    const { stdout } = await run('plan', 'in', '-o', 'o\u001bt');
    expect(stdout.toString()).not.toContain('\u001b');
  });
});

describe('the text of a plan', () => {
  it('has lines of at most 80 columns for the largest numbers', async () => {
    const preview = await previewShuffle({ inputs: [directory.path('in')], output: '/dev/null' });
    const huge = { least: 123_456_789_012_345, expected: 234_567_890_123_456, most: 345_678_901_234_567 };
    const { inputs, output } = preview;
    const rowGroups = { count: huge.most, records: huge.least, recordBytes: huge.least };
    const lines = describePreview({
      ...preview,
      inputs: { ...inputs, bytes: huge.most, records: huge, recordBytes: huge },
      output: { ...output, records: huge, bytes: huge, compression: 'zstd 22', rowGroups },
      resumed: { pileSets: 123_456, outputBytes: huge.least },
      advice: [{ about: 'memory', text: 'with `memoryBytes` 12G one level of piles is enough, '.repeat(4) }],
    });
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
    expect(lines.join('\n')).toContain('with --memory 12G one level');
    expect(lines.join('\n')).toContain('about 235,000,000,000,000 records');
    expect(lines.join('\n')).toContain(
      'row groups  about 345,678,901,234,567, each of about 123,000,000,000,000 rows,',
    );
  });

  it('has no range whose ends are printed alike, and names -S only with its value', async () => {
    const preview = await previewShuffle({ inputs: [directory.path('in')], output: '/dev/null' });
    const records = { least: 1_199_900, expected: 1_200_000, most: 1_200_100 };
    const lines = describePreview({
      ...preview,
      inputs: { ...preview.inputs, records },
      memory: { ...preview.memory, budgetBytes: 10_700_000_001 },
    });
    expect(lines[1]).toMatch(/^records {5}about 1,200,000 records, 5\.78 kB$/);
    expect(lines).toContain('memory      10.7 GB');
  });
});
