/** docs/ALIGNED.md: its commands, typed into a shell verbatim; and examples/order.py, which prints the members. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { shuffleTogether } from '#src/index.js';
import { isOnPath } from '../fixtures/foreign-program.js';
import { runShell } from '../fixtures/run-shell.js';
import { sampled } from '../fixtures/scale.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';
import { npyHeaderOf } from '../formats/any-headers.js';

const directory = useMemoryDirectory();
const root = new URL('../../', import.meta.url);
const page = readFileSync(new URL('docs/ALIGNED.md', root), 'utf8');
const examples = [...page.matchAll(/```sh\n(.*?)```/gs)].flatMap(([, block = '']) => block.split('\n').filter(Boolean));
const COUNT = 2000;
const NUMBERS = Array.from({ length: COUNT }, (_, i) => i);

const text = (write: (i: number) => string) => Buffer.from(NUMBERS.map(write).join(''));
const rows = () => Buffer.concat([npyHeaderOf('<u4', COUNT, []), Buffer.from(Uint32Array.from(NUMBERS).buffer)]);
const reads = (mate: number) =>
  text((i) => {
    const repeats = 1 + ((i * mate) % 5);
    return `@${i}/${mate}\n${'ACGT'.repeat(repeats)}\n+\n${'FFFF'.repeat(repeats)}\n`;
  });

/** What the file of a name holds: in each record, a number. */
function makeFile(name: string): Buffer {
  if (name.endsWith('.gz')) return gzipSync(makeFile(name.slice(0, -3)));
  if (name.endsWith('.npy')) return rows();
  if (/\.(fastq|fq)$/.test(name)) return reads(name.includes('R2') ? 2 : 1);
  if (name.endsWith('.csv')) return Buffer.concat([Buffer.from('id,text\n'), text((i) => `${i},"a\nb"\n`)]);
  return text((i) => `${i} ${'word '.repeat(i % 7)}\n`);
}

/** The numbers of its records, in order. */
function numbersIn(name: string, bytes: Buffer): number[] {
  if (name.endsWith('.gz')) return numbersIn(name.slice(0, -3), gunzipSync(bytes));
  if (name.endsWith('.npy')) {
    const body = bytes.subarray(npyHeaderOf('<u4', 0, []).byteLength);
    return Array.from({ length: body.byteLength / 4 }, (_, i) => body.readUInt32LE(4 * i));
  }
  return (bytes.toString('latin1').match(/^@?\d+/gm) ?? []).map((found) => Number(found.replace('@', '')));
}

it('there are the usual number of examples', () => {
  expect(examples).toHaveLength(7);
});

describe('an example', () => {
  it.each(
    sampled(
      examples.filter((line) => line.includes('--together')),
      2,
    ),
  )('%s', async (line) => {
    const tuples = [...line.matchAll(/--together (\S+)/g)].map(([, names = '']) => names.split(','));
    for (const name of tuples.flat()) writeFileSync(directory.path(name), makeFile(name));
    await runInSite(line);
    const names = readdirSync(directory.path('shuffled')).sort();
    const orders = (tuples[0] ?? []).map((name) => {
      const stem = name.replace(/\.(gz|npy|txt|fq|fastq)(\.gz)?$/, '');
      const isSplit = line.includes('--split');
      const ofMember = (each: string) => each.startsWith(`${stem}.`) || each.startsWith(`${stem}-`);
      const own = names.filter(isSplit ? (each) => each.includes(`.${stem}-`) : ofMember);
      expect(own).toHaveLength(isSplit ? 9 : line.includes('--shards 8') ? 8 : 1);
      return own.flatMap((each) => numbersIn(each, readFileSync(directory.path('shuffled', each))));
    });
    for (const order of orders) expect(order).toEqual(orders[0]);
    expect(orders[0]?.toSorted((a, b) => a - b)).toEqual(NUMBERS.flatMap((i) => tuples.map(() => i)));
    expect(orders[0]).not.toEqual(NUMBERS);
  });

  it('the two shuffles of one file each give one order', async () => {
    const lines = examples.filter((line) => !line.includes('--together'));
    const orders: number[][] = [];
    for (const line of lines) {
      const [, input = '', output = ''] = / (\w+\.\w+) .*-o (\S+)/.exec(line) ?? [];
      writeFileSync(directory.path(input), makeFile(input));
      await runInSite(line);
      orders.push(numbersIn(output, readFileSync(directory.path(output))));
    }
    expect(orders[0]).toHaveLength(COUNT);
    expect(orders[1]).toEqual(orders[0]);
  });
});

async function runInSite(line: string): Promise<void> {
  const script = `node=$1 command=$2; pileshuf() { "$node" "$command" -q "$@"; }; cd "$SITE" && ${line}`;
  const { exitCode, stderr } = await runShell(script, [], { SITE: directory.path() });
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
}

it('the program names its files', async () => {
  const [, code = ''] = /```ts\n(.*?)```/s.exec(page) ?? [];
  const call = /shuffleTogether\((\{.*\})\);/s.exec(code)?.[1] ?? expect.fail('no call');
  const options = new Function(`return ${call}`)();
  const tuple = options.together[0].map((name: string) => directory.path(name));
  for (const path of tuple) writeFileSync(path, rows());
  const { members } = await shuffleTogether({ ...options, together: [tuple], output: directory.path('shuffled') });
  expect(members.map(({ name }) => name)).toEqual(options.together[0]);
});

describe.skipIf(!isOnPath('python3'))('examples/order.py', () => {
  it('prints each member', async () => {
    const tuples = [1500, 0, 300].map((count, tuple) => {
      mkdirSync(directory.path(String(tuple)));
      return ['en.txt', 'fr.txt'].map((name) => {
        const path = directory.path(String(tuple), name);
        writeFileSync(
          path,
          NUMBERS.slice(0, count)
            .map((i) => `${name} ${i} ${'x'.repeat((i * name.length) % 31)}\n`)
            .join(''),
        );
        return path;
      });
    });
    const script = fileURLToPath(new URL('examples/order.py', root));
    const output = directory.path('shuffled');
    for (const headCount of [undefined, 7]) {
      rmSync(output, { recursive: true, force: true });
      const { members } = await shuffleTogether({ together: tuples, output, seed: '42', headCount });
      for (const [member, { files }] of members.entries()) {
        const words = ['42', '--key', 'ordinal', ...(headCount === undefined ? [] : ['-n', String(headCount)])];
        const inputs = tuples.map((tuple) => tuple[member] ?? '');
        const { stdout, stderr } = spawnSync('python3', [script, ...words, ...inputs], { encoding: 'latin1' });
        expect(stderr).toBe('');
        expect(stdout.length).toBeGreaterThan(10);
        expect(readFileSync(files[0] ?? '', 'latin1') === stdout).toBe(true);
      }
    }
  });
});
