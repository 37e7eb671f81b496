/** From names to inputs: which files, in which order, with which codec, and every refused name. */
import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { AbortError, UsageError } from '#src/errors.js';
import { systemFileCalls } from '#src/io/file-calls.js';
import { listInputs } from '#src/sources/list-inputs.js';
import { isOnPath } from '../fixtures/foreign-program.js';
import { useFileCalls } from '../fixtures/replaced-file-calls.js';
import { fromCi } from '../fixtures/scale.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';
import { BGZF_END, bgzfMember } from '../formats/codecs/bgzf-file.js';

/** Files of nothing that these programs decode. */
const PROGRAMS: readonly [program: string, hex: string][] = [
  ['xz', 'fd377a585a000004e6d6b446000000001cdf44211fb6f37d010000000004595a'],
  ['bzip2', '425a683917724538509000000000'],
  ['lz4', '502a4d1803000000616263' + '04224d186440a700000000055dcc02'],
];

describe('listInputs', () => {
  const directory = useTestDirectory();
  const fileCalls = useFileCalls();
  const home = process.cwd();
  afterEach(() => process.chdir(home));

  /** Makes files; a name may lie in a directory that does not exist yet. */
  function makeFiles(...names: string[]): void {
    for (const name of names) {
      mkdirSync(directory.path(name, '..'), { recursive: true });
      writeFileSync(directory.path(name), `${name}\n`);
    }
  }

  /** Names, relative to the test's directory, in the order of the list. */
  async function namesOf(...named: string[]): Promise<string[]> {
    const { inputs } = await listInputs(named, () => {});
    return inputs.map(({ path }) => relative(directory.path(), path));
  }

  async function warningsOf(...named: string[]): Promise<string[]> {
    const warnings: string[] = [];
    await listInputs(named, (line) => warnings.push(line));
    return warnings;
  }

  it('warns of what is named as a compressed file and is none', async () => {
    makeFiles('a.txt', 'b.jsonl.zst', 'c.xz');
    writeFileSync(directory.path('d.gz'), gzipSync('d'));
    writeFileSync(directory.path('e.gz'), '');
    const [a, b, c, d, e] = ['a.txt', 'b.jsonl.zst', 'c.xz', 'd.gz', 'e.gz'].map((name) => directory.path(name));
    if (!a || !b || !c || !d || !e) return expect.fail();
    expect(await warningsOf(a, d)).toEqual([]);
    expect(await warningsOf(e, d)).toEqual([
      `${e} has the name of a compressed file and is empty; pileshuf reads it as it is`,
    ]);
    expect(await warningsOf(a, b, c, e)).toEqual([
      `${b} has the name of a compressed file and does not begin like one; pileshuf reads it as it is (and 2 other inputs)`,
    ]);
    const warnings: string[] = [];
    await listInputs([b, c], (line) => warnings.push(line), { decompressProgram: ['cat'] });
    expect(warnings).toEqual([]);
  });

  it('leaves out files that decode to nothing where a header is asked for', async () => {
    const [skip, frame, end] = ['502a4d1803000000616263', '28b52ffd2000010000', '28b52ffd240001000099e9d851'];
    const stored: readonly [string, Buffer][] = [
      ['two members', Buffer.concat([gzipSync(''), gzipSync('')])],
      ['zeros', Buffer.concat([gzipSync(''), Buffer.alloc(5000)])],
      ['BGZF', Buffer.concat([BGZF_END, BGZF_END])],
      ['frames', Buffer.from(`${skip}${frame}${end}${skip}`, 'hex')],
      ['skippable', Buffer.from(skip, 'hex')],
      ...PROGRAMS.filter(([program]) => isOnPath(program)).map(([program, hex]): [string, Buffer] => [
        program,
        Buffer.from(hex.repeat(2), 'hex'),
      ]),
    ];
    const paths = stored.map(([name, bytes]) => {
      writeFileSync(directory.path(name), bytes);
      return directory.path(name);
    });
    writeFileSync(directory.path('data'), '#a\n');
    for (const header of [
      { kind: 'bytes', value: 3 },
      { kind: 'prefix', value: { prefix: '23', lineEnd: '0a' } },
      { kind: 'lines', value: { count: 1, lineEnd: '0a', isQuoted: false } },
    ] as const) {
      const { inputs, empty } = await listInputs([...paths, directory.path('data')], () => {}, { header });
      expect([inputs.length, empty.length]).toEqual([1, stored.length]);
    }
    expect((await listInputs(paths, () => {})).inputs).toHaveLength(stored.length);
  });

  it('finds lz4 after skippable frames, of any length, where zstd may be as well', async () => {
    const skip = (byteLength: number) => {
      const bytes = Buffer.alloc(8 + byteLength);
      bytes.writeUInt32LE(0x184d2a5f, 0);
      bytes.writeUInt32LE(byteLength, 4);
      return bytes;
    };
    const frames = [Buffer.from('04224d186440a7', 'hex'), Buffer.from('28b52ffd2000', 'hex'), Buffer.alloc(0)];
    const paths = frames.map((frame, i) => {
      writeFileSync(directory.path(`${i}`), Buffer.concat([skip(3), skip(70_000), skip(0), frame]));
      return directory.path(`${i}`);
    });
    const codecs = [];
    for (const path of paths) {
      const { inputs } = await listInputs([path], () => {}).catch(() => ({ inputs: [] }));
      const [input] = inputs;
      codecs.push(input?.kind === 'file' ? input.codec?.name : undefined);
    }
    expect(codecs).toEqual([isOnPath('lz4') ? 'lz4' : undefined, 'zstd', 'zstd']);
  });

  it('warns of BGZF without the block that such files end with, as one has that was cut', async () => {
    const members = ['a', 'b', 'c'].map((content) => bgzfMember(Buffer.from(`${content}\n`)));
    const written: readonly (readonly [string, Buffer])[] = [
      ['whole', Buffer.concat([...members, BGZF_END])],
      ['joined', Buffer.concat([...members, BGZF_END, ...members, BGZF_END])],
      ['cut', Buffer.concat(members)],
      ['short', members[0] ?? expect.fail()],
      ['inside', Buffer.concat([...members, BGZF_END]).subarray(0, -1)],
      ['zeros', Buffer.concat([...members, BGZF_END, Buffer.alloc(1)])],
      ['gzip', gzipSync('no BGZF')],
    ];
    const paths = written.map(([name, bytes]) => {
      writeFileSync(directory.path(name), bytes);
      return directory.path(name);
    });
    const [whole = '', joined = '', ...others] = paths;
    const gzip = directory.path('gzip');
    expect(await warningsOf(whole, joined, gzip)).toEqual([]);
    const warningOf = (path: string) =>
      `${path} does not end with the empty block that ends BGZF files; it may be cut off`;
    for (const path of others.slice(0, -1)) expect(await warningsOf(whole, path, gzip)).toEqual([warningOf(path)]);
    expect(await warningsOf(...paths)).toEqual([`${warningOf(directory.path('cut'))} (and 3 other inputs)`]);
    const warnings: string[] = [];
    await listInputs(paths, (line) => warnings.push(line), { decompressProgram: ['gzip', '-dc'] });
    expect(warnings).toEqual([]);
  });

  it('keeps the order of files, and takes a file twice with a warning', async () => {
    makeFiles('b', 'a');
    const [a, b] = [directory.path('a'), directory.path('b')];
    expect(await namesOf(b, a, b)).toEqual(['b', 'a', 'b']);
    expect(await warningsOf(b, a)).toEqual([]);
    expect(await warningsOf(b, a, b)).toEqual([`${b} is the same file as ${b}: its records come twice`]);
    symlinkSync(a, directory.path('link'));
    expect(await warningsOf(a, directory.path('link'))).toEqual([
      `${directory.path('link')} is the same file as ${a}: its records come twice`,
    ]);
  });

  it.runIf(fromCi)('stops when it is asked to, among many files and among many directories', async () => {
    makeFiles(...Array.from({ length: 600 }, (_, i) => `d/${i}/file`));
    for (const named of [Array.from({ length: 600 }, (_, i) => directory.path(`d/${i}/file`)), [directory.path('d')]]) {
      const abort = new AbortController();
      setImmediate(() => abort.abort());
      await expect(listInputs(named, () => {}, { signal: abort.signal })).rejects.toThrow(AbortError);
    }
  });

  it('takes standard input and the file that it is read from, in either order, with a warning', async () => {
    const script = `
      import { listInputs } from '#src/sources/list-inputs.js';
      const warnings = [];
      const { inputs } = await listInputs(process.argv.slice(1), (line) => warnings.push(line));
      console.log(JSON.stringify([inputs.map(({ path }) => path), warnings]));`;
    makeFiles('a');
    const a = directory.path('a');
    const listed = (...named: string[]): unknown => {
      const stdin = openSync(a, 'r');
      try {
        const argv = ['--input-type=module', '-e', script, ...named];
        return JSON.parse(execFileSync(process.execPath, argv, { stdio: [stdin, 'pipe', 'inherit'] }).toString());
      } finally {
        closeSync(stdin);
      }
    };
    expect(listed('-', a)).toEqual([['-', a], [`${a} is the same file as -: its records come twice`]]);
    expect(listed(a, '-')).toEqual([[a, '-'], [`- is the same file as ${a}: its records come twice`]]);
  });

  it.each([
    ['.pileshuf-0123456789abcdef.job', true],
    ['part1.pileshuf-0123456789abcdef.job', false],
  ])('passes over a directory that is gone when it is its turn if a job may call it %s', async (name, mayVanish) => {
    makeFiles('d/a', `d/${name}/x`);
    const list = (path: string) => {
      if (path.endsWith(name)) rmSync(path, { recursive: true });
      return systemFileCalls.list(path);
    };
    fileCalls.replace({ list });
    const listed = namesOf(directory.path('d'));
    if (mayVanish) expect(await listed).toEqual(['d/a']);
    else await expect(listed).rejects.toThrow(/^cannot list the directory .*: no such file or directory$/);
  });

  it('takes pipes and devices as streams, unopened', async () => {
    const pipe = directory.path('pipe');
    execFileSync('mkfifo', [pipe]);
    const { inputs } = await listInputs([pipe, '-', '/dev/null'], () => {});
    expect(inputs.map(({ kind, path }) => [kind, path])).toEqual([
      ['stream', pipe],
      ['stream', '-'],
      ['stream', '/dev/null'],
    ]);
  });

  it('refuses no inputs, and a stream that is named twice', async () => {
    await expect(listInputs([], () => {})).rejects.toThrow(UsageError);
    const pipe = directory.path('pipe');
    execFileSync('mkfifo', [pipe]);
    symlinkSync(pipe, directory.path('link'));
    for (const named of [
      ['-', '-'],
      [pipe, pipe],
      [pipe, directory.path('link')],
    ]) {
      const refused = listInputs(named, () => {});
      await expect(refused).rejects.toThrow(UsageError);
      await expect(refused).rejects.toThrow(`is the same stream as ${named[0]}; it can be read only once`);
    }
  });

  it('takes a name that is marked as a path literally, also when it looks like a pattern', async () => {
    makeFiles('p/1.txt');
    await expect(listInputs([{ path: directory.path('p/*.txt') }], () => {})).rejects.toMatchObject({
      code: 'ERR_INPUT_MISSING',
    });
  });
});
