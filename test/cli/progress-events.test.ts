/** The lines of `--progress json` of real commands, against examples/progress.schema.json. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { Ajv, type AnySchema } from 'ajv';
import { beforeEach, describe, expect, it } from 'vitest';
import { commandInProcess } from '../fixtures/command-in-process.js';
import { runCommand } from '../fixtures/run-command.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';

const directory = useMemoryDirectory();
const schema: AnySchema = JSON.parse(
  readFileSync(new URL('../../examples/progress.schema.json', import.meta.url), 'utf8'),
);

/** The same schema without room for fields that it does not name: those would be undocumented. */
function closed(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(closed);
  if (typeof part !== 'object' || part === null) return part;
  const entries = Object.entries(part).map(([name, value]) => [name, closed(value)]);
  const isOpen = 'properties' in part && !('additionalProperties' in part);
  return { ...Object.fromEntries(entries), ...(isOpen && { additionalProperties: false }) };
}

const ajv = new Ajv({ strict: true, allowUnionTypes: true });
const validate = ajv.compile(schema);
const validateClosed = ajv.compile(closed(schema) as AnySchema);

/** The events of a command, each valid. */
function eventsIn(stderr: string): { event: string; [field: string]: unknown }[] {
  expect(stderr.endsWith('\n')).toBe(true);
  const events = stderr
    .slice(0, -1)
    .split('\n')
    .map((line) => JSON.parse(line));
  for (const event of events) {
    expect(validateClosed(event), `${JSON.stringify(event)}: ${JSON.stringify(validateClosed.errors)}`).toBe(true);
    expect(validate(event)).toBe(true);
  }
  return events;
}

async function eventsOf(line: string): Promise<readonly { event: string; [field: string]: unknown }[]> {
  const argv = [...line.split(' '), '--progress', 'json'];
  const { stderr } = await commandInProcess(argv, { cwd: directory.path() });
  return eventsIn(stderr);
}

const lines = (count: number) => Array.from({ length: count }, (_, i) => `line ${i}\n`).join('');

beforeEach(() => {
  writeFileSync(directory.path('a.txt'), lines(3000));
  writeFileSync(directory.path('b.txt'), lines(3000));
  writeFileSync(directory.path('c.gz'), gzipSync(lines(100)));
  writeFileSync(directory.path('empty'), '');
  writeFileSync(directory.path('bad.gz'), gzipSync(lines(5000)).subarray(0, 9000));
  const groups = [
    { name: 'a', inputs: 'a.txt', share: 0.75 },
    { name: 'b', inputs: 'b.txt', share: 0.25 },
  ];
  writeFileSync(directory.path('mix.json'), JSON.stringify({ unit: 'records', groups }));
});

describe('the events of', () => {
  it.each([
    'a.txt b.txt c.gz -o out',
    'empty -o out',
    'a.txt -o out --shards 3',
    'a.txt -o out -n 5 --split x=0.5,y=0.5',
    'a.txt b.txt -o out --unique',
    'a.txt b.txt -o out --mix mix.json',
    'a.txt b.txt -o out --weight b.txt=1.5',
    'a.txt -o out.gz --compress gzip --job-dir job',
    '-i 1-5000 -o out',
    '--together a.txt,b.txt -o out',
  ])('%s: a plan, the phases to their ends, a summary', async (line) => {
    const events = (await eventsOf(line)).filter(({ event }) => event !== 'warning');
    expect(events.map(({ event }) => event)).toEqual(expect.arrayContaining(['plan', 'progress', 'summary']));
    expect(events[0]?.event).toBe('plan');
    expect(events.at(-1)?.event).toBe('summary');
    const planned = events.filter(({ event }) => event === 'plan').map(({ member, phases }) => [member, phases]);
    expect(planned).toHaveLength(line.includes('--together') ? 2 : 1);
    const seen = new Set(events.filter(({ event }) => event === 'progress').map(({ phase }) => phase));
    const [[, phases = []] = []] = planned;
    expect([...seen]).toEqual((phases as { phase: string }[]).map(({ phase }) => phase));
  });

  it('commands for stores and indexes', async () => {
    const last = async (line: string) => (await eventsOf(line)).map(({ event }) => event);
    expect(await last('append store a.txt b.txt --generation x')).toContain('plan');
    expect(await last('pile store c.gz --input-id c --generation y')).toContain('summary');
    expect(await last('shuffle-store store -o out')).toContain('plan');
    expect(await last('expire store --keep-last 1')).toEqual(['summary']);
    expect(await last('gc store')).toEqual(['summary']);
    expect(await last('index a.txt')).toContain('summary');
    rmSync(directory.path('a.txt.pileshuf-index'));
    const stream = await runCommand(['stream', directory.path('store'), '--progress', 'json']);
    expect(eventsIn(stream.stderr).map(({ event }) => event)).toEqual(['summary']);
  });

  it.each([
    ['a job that fails', 'bad.gz -o out', 'ERR_INPUT_CORRUPT'],
    ['words that are wrong', 'a.txt --shards 0', 'ERR_OPTION'],
    ['an input that is not there', 'none -o out', 'ERR_INPUT_MISSING'],
  ])('%s end with its error', async (_, line, code) => {
    const events = await eventsOf(line);
    expect(events.at(-1)).toMatchObject({ event: 'error', code });
    expect(events.filter(({ event }) => event === 'summary' || event === 'error')).toHaveLength(1);
  });

  it('an interrupted job end with its error', async () => {
    const run = await runCommand(
      ['a.txt', 'b.txt', '-o', 'out', '--job-dir', 'job', '--progress', 'json', '--unique'],
      {
        cwd: directory.path(),
        nodeOptions: ['--import', new URL('signal-at-open.mjs', import.meta.url).href],
        env: { PILESHUF_SIGNAL_AT: 'SIGTERM b.txt' },
      },
    );
    expect(eventsIn(run.stderr).at(-1)).toMatchObject({ event: 'error', code: 'ABORT_ERR' });
  });
});

it.each([
  {},
  { event: 'plan' },
  { event: 'warning' },
  { event: 'unknown', message: 'a' },
  { event: 'summary', records: -1 },
  { event: 'error', message: 'a', code: 'wrong' },
])('the schema refuses %j', (event) => {
  expect(validate(event)).toBe(false);
});
