/** What a call of shuf reads and writes: few records in this process, many through the library. */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { runShuf } from '#src/cli/shuf/run-shuf.js';
import { shuffle } from '#src/index.js';
import { makePipe } from '../../fixtures/make-pipe.js';
import { atScale, fromCi, sampled } from '../../fixtures/scale.js';
import {
  builtCommand,
  runProgram,
  runShufCommand,
  runShufScript,
  shufInProcess,
} from '../../fixtures/shuf-in-process.js';
import { useMemoryDirectory } from '../../fixtures/temp-directory.js';
import { referenceOrder } from '../../laws/reference-order.js';

const directory = useMemoryDirectory();

const SOURCE = 'a source of random bytes';
const SEED = createHash('sha256').update(SOURCE).digest('hex');
const linesOf = (count: number) => Array.from({ length: count }, (_, i) => `line ${i}\n`).join('');
const ordered = (text: string | Buffer, terminator?: number) =>
  Buffer.concat(referenceOrder([Buffer.from(text)], SEED, terminator)).toString('latin1');

/** A call whose order is that of `SEED`. */
async function shuf(words: readonly string[], stdin: string | Buffer = '') {
  writeFileSync(directory.path('source'), SOURCE);
  const cwd = directory.path();
  const { stdout, ...rest } = await shufInProcess(['--random-source=source', ...words], { cwd, stdin });
  return { ...rest, stdout: stdout.toString('latin1') };
}

const quiet = (stdout: string) => ({ end: 0, stdout, stderr: '' });

it.runIf(process.platform === 'linux').each([
  [['in'], 'write'],
  [[], 'read'],
])('a closed stream is no stream: %j', async (words, call) => {
  writeFileSync(directory.path('in'), 'a\n');
  // As Node opens it in its place.
  const nothing = openSync('/dev/null', 'r+');
  const error = openSync(directory.path('error'), 'w');
  const source = [...words].map((name) => directory.path(name));
  const end = await runShuf(source, 'shuf', { input: nothing, output: nothing, error });
  for (const fd of [nothing, error]) closeSync(fd);
  const told = readFileSync(directory.path('error'), 'latin1');
  expect([end, told]).toEqual([1, `shuf: ${call} error: Bad file descriptor\n`]);
});

describe('few records', () => {
  it.each([
    ['lines', 'a\nb\nc\nd\n'],
    ['a last line without its newline', 'a\nb\nc'],
    ['empty lines', '\n\na\n\n'],
    ['bytes 00 and FF', Buffer.from('\0\xff\n\xff\0\n\0', 'latin1')],
    ['nothing', ''],
  ])('are ordered as pileshuf orders them: %s', async (_, text) => {
    writeFileSync(directory.path('in'), text);
    expect(await shuf(['in'])).toEqual(quiet(ordered(text)));
    expect(await shuf([], text)).toEqual(quiet(ordered(text)));
    expect(await shuf(['-z'], text)).toEqual(quiet(ordered(text, 0)));
  });

  it('are words, which may hold newlines', async () => {
    expect(await shuf(['-e', 'a', 'b', 'c'])).toEqual(quiet(ordered('a\nb\nc\n')));
    const { stdout } = await shuf(['-e', 'a\nb', '', 'c']);
    expect(stdout).toHaveLength('a\nb\n\nc\n'.length);
    expect(stdout).toContain('a\nb\n');
  });

  it('are the first ones of the order', async () => {
    const all = ordered(linesOf(9)).split('\n');
    expect(await shuf(['-n4'], linesOf(9))).toEqual(quiet(`${all.slice(0, 4).join('\n')}\n`));
  });

  it('come in another order each time without a random source', async () => {
    const orders = new Set<string>();
    for (let i = 0; i < 3; i++) {
      const { stdout } = await shufInProcess([], { cwd: directory.path(), stdin: linesOf(50) });
      orders.add(stdout.toString());
    }
    expect(orders.size).toBe(3);
  });

  it('are taken as they are, whatever they look like', async () => {
    const packed = gzipSync('a\nb\n');
    writeFileSync(directory.path('in.gz'), packed);
    expect(await shuf(['in.gz'])).toEqual(quiet(ordered(packed)));
    expect(await shuf(['-o', 'out.gz', 'in.gz'])).toEqual(quiet(''));
    expect(readFileSync(directory.path('out.gz')).toString('latin1')).toBe(ordered(packed));
  });

  it('come from /proc and from named pipes', async () => {
    const { stdout } = await shuf(['/proc/self/limits']);
    expect(stdout.split('\n').sort()).toEqual(readFileSync('/proc/self/limits', 'latin1').split('\n').sort());
    makePipe(directory.path('pipe'));
    const writer = spawn('sh', ['-c', 'echo a >pipe; sleep 0.1'], { cwd: directory.path(), stdio: 'ignore' });
    expect(await shuf(['pipe'])).toEqual(quiet('a\n'));
    await once(writer, 'exit');
  });
});

describe('many records', () => {
  const text = linesOf(atScale(30_000, 200_000));

  it('come in the same order', async () => {
    writeFileSync(directory.path('in'), text);
    await shuffle({ inputs: [directory.path('in')], output: directory.path('expected'), seed: SEED });
    const expected = readFileSync(directory.path('expected'));
    writeFileSync(directory.path('source'), SOURCE);
    const calls = ['shuf in', 'cat in | shuf -', 'shuf <in', 'cat in | shuf /dev/stdin', 'shuf <(cat in)'];
    for (const call of sampled(calls, 4)) {
      const result = runShufScript(`${call} --random-source=source`, directory.path());
      expect({ ...result, stdout: result.stdout.equals(expected) }).toEqual({ end: 0, stdout: true, stderr: '' });
    }
  });

  it('replace their own file', async () => {
    const fewer = linesOf(10_000);
    writeFileSync(directory.path('in'), fewer, { mode: 0o640 });
    expect(await shuf(['in', '-o', 'in'])).toEqual(quiet(''));
    expect(readFileSync(directory.path('in'), 'latin1') === ordered(fewer)).toBe(true);
    expect(statSync(directory.path('in')).mode & 0o777).toBe(0o640);
  });

  it.runIf(fromCi)('may be a compressed file, taken as it is', () => {
    const packed = gzipSync(text, { level: 0 });
    writeFileSync(directory.path('in'), packed);
    const { stdout } = runShufCommand(['in'], { cwd: directory.path() });
    const sorted = (bytes: Buffer) => bytes.toString('latin1').split('\n').sort().join('\n');
    expect(sorted(stdout) === sorted(Buffer.concat([packed, Buffer.from('\n')]))).toBe(true);
  });

  it.runIf(fromCi)('end with the signal that ends the process', async () => {
    writeFileSync(directory.path('in'), text);
    const child = spawn(process.execPath, [builtCommand, 'shuf'], {
      stdio: ['pipe', openSync('/dev/null', 'w'), 'pipe'],
    });
    child.stdin?.write(text);
    child.stdin?.on('error', () => {});
    // It waits for more than it has read.
    setTimeout(() => child.kill('SIGTERM'), 1500);
    const said: Buffer[] = [];
    child.stderr?.on('data', (piece: Buffer) => said.push(piece));
    expect(await once(child, 'close')).toEqual([null, 'SIGTERM']);
    expect(Buffer.concat(said).toString()).toBe('');
  });
});

describe('the output', () => {
  it('may be the input, which keeps its mode', async () => {
    writeFileSync(directory.path('in'), 'a\nb\nc\n');
    chmodSync(directory.path('in'), 0o604);
    expect(await shuf(['-o', 'in', 'in'])).toEqual(quiet(''));
    expect(readFileSync(directory.path('in'), 'latin1')).toBe(ordered('a\nb\nc\n'));
    expect(statSync(directory.path('in')).mode & 0o777).toBe(0o604);
    expect(readdirSync(directory.path()).sort()).toEqual(['in', 'source', 'temp']);
  });

  it('goes through links, to a file that may be new', async () => {
    mkdirSync(directory.path('d'));
    symlinkSync('d/link', directory.path('link'));
    symlinkSync('file', directory.path('d/link'));
    for (const text of ['a\nb\n', 'c\nd\ne\n']) {
      expect(await shuf(['-o', 'link'], text)).toEqual(quiet(''));
      expect(readFileSync(directory.path('d/file'), 'latin1')).toBe(ordered(text));
      expect([readlinkSync(directory.path('link')), readlinkSync(directory.path('d/link'))]).toEqual([
        'd/link',
        'file',
      ]);
    }
  });

  it('may be a pipe or standard output', async () => {
    makePipe(directory.path('pipe'));
    const reader = spawn('cat', ['pipe'], { cwd: directory.path(), stdio: ['ignore', 'pipe', 'ignore'] });
    const pieces: Buffer[] = [];
    reader.stdout.on('data', (piece: Buffer) => pieces.push(piece));
    expect(await shuf(['-o', 'pipe'], 'a\nb\n')).toEqual(quiet(''));
    await once(reader, 'close');
    expect(Buffer.concat(pieces).toString()).toBe(ordered('a\nb\n'));
    expect(await shuf(['-o', '/dev/stdout'], 'a\nb\n')).toEqual(quiet(ordered('a\nb\n')));
  });

  it.each([
    [['missing'], 'missing: No such file or directory'],
    [['--random-source=source', 'missing'], 'missing: No such file or directory'],
    [['empty', '-r'], 'no lines to repeat'],
  ])('stays as it was if %j fails', async (words, message) => {
    writeFileSync(directory.path('out'), 'precious\n');
    writeFileSync(directory.path('empty'), '');
    expect(await shuf([...words, '-o', 'out'])).toEqual({ end: 1, stdout: '', stderr: `shuf: ${message}\n` });
    expect(readFileSync(directory.path('out'), 'utf8')).toBe('precious\n');
  });

  it('of -n 0 is made, and nothing is read', async () => {
    expect(await shuf(['-n0', '-o', 'out', 'missing'])).toEqual(quiet(''));
    expect(readFileSync(directory.path('out'))).toHaveLength(0);
  });

  it.each(
    sampled(
      [
        ['few', 'seq 1000'],
        ['many', 'seq 400000'],
      ],
      2,
    ),
  )('that is closed ends the process as GNU shuf ends: %s', async (_, numbers) => {
    // The reader has left when the first byte is written.
    const script = `${numbers} | (sleep 0.5; shuf) | true; echo "\${PIPESTATUS[1]}"`;
    expect(runShufScript(script, directory.path())).toEqual({ end: 0, stdout: Buffer.from('141\n'), stderr: '' });
  });

  it('that is full is told as GNU shuf tells it', async () => {
    const full = { end: 1, stdout: '', stderr: 'shuf: write error: No space left on device\n' };
    expect(await shuf(['-o', '/dev/full'], 'a\n')).toEqual(full);
    writeFileSync(directory.path('many'), linesOf(100_000));
    expect(runShufScript('shuf many >/dev/full', directory.path())).toEqual({ ...full, stdout: Buffer.alloc(0) });
  });
});

describe('the random source', () => {
  it('is known by its first 1,024 bytes', async () => {
    const order = async (source: string) => {
      writeFileSync(directory.path('own'), source);
      const { stdout } = await shufInProcess(['--random-source=own'], { cwd: directory.path(), stdin: linesOf(20) });
      return stdout.toString();
    };
    const first = await order('x'.repeat(1024));
    expect(await order('x'.repeat(5000))).toBe(first);
    expect(await order('x'.repeat(1023))).not.toBe(first);
    expect(await order(`${'x'.repeat(1023)}y`)).not.toBe(first);
    expect(first).toBe(
      Buffer.concat(
        referenceOrder([Buffer.from(linesOf(20))], createHash('sha256').update('x'.repeat(1024)).digest('hex')),
      ).toString(),
    );
  });

  it('may be endless', async () => {
    const result = await shufInProcess(['--random-source=/dev/zero'], { cwd: directory.path(), stdin: 'a\nb\n' });
    expect(result).toMatchObject({ end: 0, stderr: '' });
  });

  it('is used up if it is the input', () => {
    const result = runShufScript('seq 400000 | shuf --random-source=/dev/stdin', directory.path());
    expect(result).toEqual({ end: 1, stdout: Buffer.alloc(0), stderr: "shuf: '/dev/stdin': end of file\n" });
  });

  it('may be a pipe that is not the input', () => {
    const script = `printf '${SOURCE}' | shuf --random-source=/dev/stdin -e a b c`;
    const { stdout } = runShufScript(script, directory.path());
    expect(stdout.toString()).toBe(ordered('a\nb\nc\n'));
  });
});

describe('the program', () => {
  it.runIf(fromCi)('is shuf where it has that name', () => {
    symlinkSync(builtCommand, directory.path('shuf'));
    const run = (...words: string[]) => runProgram(process.execPath, [directory.path('shuf'), ...words], { cwd: '/' });
    expect(run('-e', 'a')).toEqual({ end: 0, stdout: Buffer.from('a\n'), stderr: '' });
    expect(run('shuf', '-e')).toMatchObject({ stdout: Buffer.from('shuf\n') });
    expect(run('--help').stdout.toString()).toMatch(/^Usage: shuf \[OPTION\]/);
    expect(run('a', 'b').stderr).toBe("shuf: extra operand 'b'\nTry 'shuf --help' for more information.\n");
  });

  it('names the words that a user types for help', () => {
    expect(runShufCommand(['a', 'b'], { cwd: '/' }).stderr).toBe(
      "shuf: extra operand 'b'\nTry 'pileshuf shuf --help' for more information.\n",
    );
  });

  it('prints its version', () => {
    const { version }: { version: string } = JSON.parse(readFileSync('package.json', 'utf8'));
    expect(runShufCommand(['--version'], { cwd: '/' }).stdout.toString()).toBe(`shuf (pileshuf) ${version}\n`);
  });

  it('takes words and names of any bytes', () => {
    const run = (script: string) => runShufScript(script, directory.path());
    expect(run(`shuf -e $'a\\xffb'`).stdout).toEqual(Buffer.from('a\xffb\n', 'latin1'));
    expect(run(`echo x >$'\\xff'; shuf $'\\xff'`).stdout).toEqual(Buffer.from('x\n'));
    if (!fromCi) return;
    expect(run(`seq 200000 >$'\\xff'; shuf $'\\xff' | sort -n | tail -n 1`).stdout.toString()).toBe('200000\n');
    expect(run(`shuf $'\\xfe'`).stderr).toBe("shuf: ''$'\\376': No such file or directory\n");
    expect(run(`shuf -o $'\\xfe' $'\\xff'`).stderr).toBe("shuf: ''$'\\376': expected a name in UTF-8\n");
  });

  it('stops at the first operand if POSIX demands it', () => {
    const { stderr } = spawnSync(process.execPath, [builtCommand, 'shuf', 'a', '-n1'], {
      env: { ...process.env, POSIXLY_CORRECT: '1' },
      encoding: 'utf8',
    });
    expect(stderr).toContain("extra operand '-n1'");
  });

  it('loads nothing but itself for few records', () => {
    const text = readFileSync(builtCommand, 'utf8');
    const loaded = [...text.matchAll(/\b(?:require|import)\("([^"]+)"\)/g)].map(([, name = '']) => name);
    const later = new Set(['./run-command.js', './shuf-job.js']);
    expect(
      loaded
        .filter((name) => !later.has(name))
        .map((name) => name.replace('node:', ''))
        .sort(),
    ).toEqual(['crypto', 'fs', 'module', 'path', 'url', 'util']);
  });
});
