/**
 * Attacks by other users who can write to the temp directory or the output directory, and by file names: the job writes and
 * removes no file outside its own directories, nobody else can read its files, and no shell sees a name.
 */

import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { crc32 } from 'node:zlib';
import { beforeEach, describe, expect, it } from 'vitest';
import { shuffle } from '#src/index.js';
import { seal, unseal } from '#src/io/sealed-file.js';
import { formatOutputIdentity } from '#src/sinks/output-place.js';
import { sampled } from '../fixtures/scale.js';
import { shownNames } from '../fixtures/shown-names.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';
import { runInProcess, stopInProcess } from './job-in-process.js';
import { contentOf, findJobPaths, namesBelow, runJob, runPrinted, undisturbed } from './resumable-job.js';
import type { Sabotage } from './sabotage.js';
import { SMALL_SIZES, writeInputs } from './small-job.js';

const directory = useMemoryDirectory();

let inputs: string[] = [];
let output = '';
/** Where a job of this output has what it has. */
let paths: ReturnType<typeof findJobPaths>;
let victim = '';

const NTH_WRITE = 250;
const STOPPED: Sabotage = { act: 'signal', signal: 'SIGTERM', at: 'temp-write', nth: NTH_WRITE };
const HOW = [['--force'], ['--resume']] as const;

const argv = (words: readonly string[]) => [
  ...[...inputs, '-o', output, '-T', directory.temp, '--workers', '2', '--seed', '1'],
  ...words,
];
const run = (words: readonly string[] = []) => runInProcess(argv(words));

/** Has a job stopped, so that its directories are known. */
async function interrupt() {
  await stopInProcess(argv(['--resume']), { call: 'write', ending: '.pile', nth: NTH_WRITE });
  return findJobPaths(directory.temp, directory.path());
}

beforeEach(() => {
  inputs = writeInputs(directory);
  output = directory.path('out');
  victim = directory.path('victim');
  mkdirSync(victim, 0o700);
  writeFileSync(join(victim, 'precious'), 'precious\n');
});

/** The index of a pile set that is committed. */
function committedIndex(): string {
  return join(paths.job, namesBelow(paths.job).find((name) => /^set-\d+\.index$/.test(name)) ?? 'none');
}

function expectVictimUntouched() {
  expect(contentOf(victim)).toEqual([['precious', 'precious\n']]);
  expect(statSync(victim).mode & 0o777).toBe(0o700);
}

describe('an entry planted under the name of a directory of the job', () => {
  beforeEach(async () => {
    paths = await interrupt();
    for (const path of Object.values(paths)) rmSync(path, { recursive: true });
  });

  const PLACES = ['job', 'data', 'staging'] as const;

  async function expectRefused(place: (typeof PLACES)[number], message: RegExp) {
    for (const words of HOW) {
      const { exitCode, failure } = await run(words);
      expect({ exitCode, failure }).toMatchObject({
        exitCode: 1,
        failure: { code: 'ERR_TEMP_DIR', message: expect.stringMatching(message) },
      });
      expect(existsSync(output)).toBe(false);
      // What the job made before it saw that is gone again.
      for (const other of PLACES) if (other !== place) expect(existsSync(paths[other])).toBe(false);
    }
  }

  it.each(PLACES)('is not followed when it is a symbolic link: %s', async (place) => {
    symlinkSync(victim, paths[place]);
    await expectRefused(place, /cannot use the directory .*: it is a symbolic link, expected a directory;/);
    expectVictimUntouched();
    expect(lstatSync(paths[place]).isSymbolicLink()).toBe(true);
    rmSync(paths[place]);
  });

  it.each(PLACES)('is refused when it is a file: %s', async (place) => {
    writeFileSync(paths[place], 'precious\n');
    await expectRefused(place, /it is not a directory; remove it or name another one$/);
    expect(contentOf(paths[place])).toBe('precious\n');
    rmSync(paths[place]);
  });

  it.skipIf(process.getuid?.() !== 0).each(PLACES)('is refused when it belongs to another user: %s', async (place) => {
    mkdirSync(paths[place], 0o700);
    writeFileSync(join(paths[place], 'precious'), 'precious\n');
    chownSync(paths[place], 12_345, 12_345);
    await expectRefused(place, /it belongs to user 12345, expected user 0; name another one, or remove it$/);
    expect(contentOf(paths[place])).toEqual([['precious', 'precious\n']]);
    rmSync(paths[place], { recursive: true });
  });

  it.each(PLACES)('is refused, and nothing in it removed, when others can write to it: %s', async (place) => {
    mkdirSync(paths[place]);
    writeFileSync(join(paths[place], 'precious'), 'precious\n');
    for (const mode of [0o1777, 0o720]) {
      chmodSync(paths[place], mode);
      await expectRefused(
        place,
        /it is open to other users \(mode 7\d\d\); if everything in it is yours, run chmod go-rwx on/,
      );
      expect(contentOf(paths[place])).toEqual([['precious', 'precious\n']]);
    }
    rmSync(paths[place], { recursive: true });
  });
});

describe('a symbolic link in a directory of the job', () => {
  beforeEach(async () => {
    paths = await interrupt();
  });

  const target = () => join(victim, 'precious');

  it.each(['manifest', 'done-000001', 'commit'])('is not followed by a reader: %s', async (name) => {
    const path = join(paths.job, name);
    if (existsSync(path)) copyFileSync(path, directory.path('copy'));
    rmSync(path, { force: true });
    symlinkSync(existsSync(directory.path('copy')) ? directory.path('copy') : target(), path);
    const { exitCode, failure } = await run(['--resume']);
    expect({ exitCode, message: failure?.message }).toEqual({
      exitCode: 1,
      message: `cannot open temp file ${path}: it is a symbolic link`,
    });
    // What it may have said of outputs that moved is not passed over.
    if (name === 'commit') rmSync(path);
    await expectDiscarded();
  });

  it('is not followed by the reader of pile data', async () => {
    const pileSet = basename(committedIndex(), '.index');
    const name = namesBelow(paths.data).find((file) => file.startsWith(`${pileSet}-`)) ?? '';
    const path = join(paths.data, name);
    copyFileSync(path, directory.path('copy'));
    rmSync(path);
    symlinkSync(directory.path('copy'), path);
    const refused = await run(['--resume']);
    expect(refused).toMatchObject({
      exitCode: 4,
      failure: { message: expect.stringContaining(`${name} is a symbolic link`), resume: {} },
    });
    expect((await run(['--resume'])).exitCode).toBe(0);
    expect(contentOf(output)).toBe(await undisturbed(directory, { inputs }));
  });

  it('is not written through in the staging directory', async () => {
    symlinkSync(target(), join(paths.staging, '0.part'));
    const { exitCode, failure } = await run(['--resume']);
    expect({ exitCode, message: failure?.message }).toEqual({
      exitCode: 1,
      message: expect.stringMatching(/^cannot create output .*0\.part: too many symbolic links$/),
    });
    await expectDiscarded();
  });

  it('is no lock', async () => {
    symlinkSync(target(), join(paths.job, 'lock+planted'));
    const { exitCode, failure } = await run(['--resume']);
    expect({ exitCode, code: failure?.code }).toEqual({ exitCode: 2, code: 'ERR_JOB_LOCKED' });
    rmSync(join(paths.job, 'lock+planted'));
    await expectDiscarded();
  });

  /** The job is discarded, links are removed, and not what they lead to. */
  async function expectDiscarded() {
    expect((await run(['--force'])).exitCode).toBe(0);
    expectVictimUntouched();
    expect(contentOf(output)).toBe(await undisturbed(directory, { inputs }));
  }
});

describe('a name that leads out of the directory', () => {
  beforeEach(async () => {
    paths = await interrupt();
  });

  /** What could be written, moved or removed when names were believed. */
  async function expectRefused(message: RegExp) {
    const { exitCode, failure } = await run(['--resume']);
    expect({ exitCode, message: failure?.message }).toEqual({ exitCode: 4, message: expect.stringMatching(message) });
    expectVictimUntouched();
    expect((await run(['--force'])).exitCode).toBe(0);
    expectVictimUntouched();
  }

  const HOSTILE = ['../victim/precious', '/etc/hostname', '..', '.', '', 'a/../../b', 'nul\0'];

  it.each([...HOSTILE.entries()])('is refused in the journal of a commit: %j, %j', async (index, name) => {
    const outputIdentity = formatOutputIdentity('file', output, []);
    const moves = {
      outputIdentity,
      byteLengths: [9],
      records: 1,
      bytes: 9,
      checksum: '0'.repeat(16),
      intoExisting: true,
    };
    for (const lists of [
      { names: [name], replaced: [] },
      { names: ['shard'], replaced: [name] },
    ]) {
      // The first one in all of them.
      for (const phase of index === 0 ? ['move-aside', 'move-in', 'moved'] : ['move-in']) {
        writeFileSync(join(paths.job, 'commit'), seal('commit', 3, { ...moves, ...lists, phase }));
        const { exitCode, failure } = await run(['--resume']);
        expect({ exitCode, message: failure?.message }).toEqual({
          exitCode: 4,
          message: expect.stringMatching(/commit is damaged: (names|replaced)\[0\]: expected the name of a file, got /),
        });
      }
    }
    await expectRefused(/expected the name of a file/);
  });

  it('is refused in a manifest', async () => {
    const path = join(paths.job, 'manifest');
    const manifest = Object(unseal(readFileSync(path), 'job', 7, path));
    for (const differs of [
      { output: join(victim, 'precious') },
      { output: '../victim/precious' },
      { tempDirs: [victim] },
      { spec: { ...manifest.spec, cut: { ...manifest.spec.cut, shardPrefix: '../victim/' } } },
    ]) {
      writeFileSync(path, seal('job', 7, { ...manifest, ...differs }));
      const code = expect.stringMatching(/^ERR_JOB_(DIFFERS|UNFINISHED)$/);
      expect(await run(['--resume'])).toMatchObject({ exitCode: 2, failure: { code } });
      expectVictimUntouched();
    }
    expect((await run(['--force'])).exitCode).toBe(0);
    expectVictimUntouched();
  });

  it('is refused in an index, whose pile set is made again', async () => {
    // Named as the index would have it, data files of the victim would be removed when they are used.
    const path = committedIndex();
    writeFileSync(join(victim, 'set-000001-x.0.pile'), 'precious\n');
    for (const name of ['../../victim/set-000001-x', '/set-000001-x', 'set-000001-x/../../y']) {
      writeFileSync(path, renamed(readFileSync(path), name));
      const continued = await stopInProcess(argv(['--resume']), { call: 'read', ending: '.pile', nth: 3 });
      expect(continued.warnings).toEqual([expect.stringMatching(/\.index .*it names no pile set.*made again$/)]);
    }
    expect((await run(['--resume'])).exitCode).toBe(0);
    expect(contentOf(output)).toBe(await undisturbed(directory, { inputs }));
    rmSync(join(victim, 'set-000001-x.0.pile'));
    expectVictimUntouched();
  });

  it('is refused in a record of finished ranges: shards have numbers', async () => {
    const run = {
      first: 0,
      end: 1,
      regions: [{ shard: '../victim/precious', start: 0, end: 1, recordBytes: 1, checksum: '' }],
    };
    writeFileSync(join(paths.job, 'done-000001'), seal('ranges', 4, { ranges: [run] }));
    await expectRefused(/done-000001 is damaged: ranges\[0\]\.regions\[0\]\.shard: expected a whole number from 0 to /);
  });

  /** An index with another name for its pile set, and the checksums that belong to it. */
  function renamed(index: Buffer, name: string): Buffer {
    const textAt = index.byteLength - index.readUInt32LE(28);
    const { report } = JSON.parse(index.subarray(textAt).toString());
    const text = Buffer.from(JSON.stringify({ name, report }));
    const bytes = Buffer.concat([index.subarray(0, textAt), text]);
    bytes.writeUInt32LE(text.byteLength, 28);
    bytes.writeUInt32LE(crc32(text), 36);
    bytes.writeUInt32LE(crc32(bytes.subarray(0, 40)), 40);
    return bytes;
  }
});

describe('the files of a job', () => {
  it.each([true, false])(
    'is closed to others from first to last, whatever the umask (resumable: %s)',
    async (resume) => {
      const seen = new Map<string, number>();
      const look = () => {
        for (const parent of [directory.temp, directory.path()]) {
          for (const home of readdirSync(parent).filter((name) => name.startsWith('.pileshuf-'))) {
            const ofHome = statSync(join(parent, home), { throwIfNoEntry: false });
            if (ofHome !== undefined) seen.set(home.replace(/[0-9a-f]{16}/, 'ID'), ofHome.mode & 0o777);
            if (ofHome?.isDirectory() !== true) continue;
            for (const name of readdirSync(join(parent, home))) {
              const stat = lstatSync(join(parent, home, name), { throwIfNoEntry: false });
              if (stat !== undefined && parent === directory.temp) seen.set(kindOf(name), stat.mode & 0o777);
            }
          }
        }
      };
      const umask = process.umask(0);
      try {
        const job = shuffle(
          {
            inputs,
            output,
            resume,
            tempDirs: [directory.temp],
            memoryBytes: 2 ** 26,
            workers: 2,
            onProgress: look,
          },
          { ...SMALL_SIZES, stripeCount: 5 },
        );
        const timer = setInterval(look, 1);
        await job.finally(() => clearInterval(timer));
      } finally {
        process.umask(umask);
      }
      // The note of the end is there for a moment.
      expect(seen.get('.pileshuf-ID.ended') ?? 0o600).toBe(0o600);
      seen.delete('.pileshuf-ID.ended');
      const kinds = [...seen.keys()];
      expect(kinds).toEqual(expect.arrayContaining(['manifest', 'lock', '.pile', '.index']));
      for (const [kind, mode] of seen)
        expect({ kind, mode }).toEqual({ kind, mode: kind.startsWith('.pileshuf') ? 0o700 : 0o600 });
      expect(kinds.filter((kind) => kind.startsWith('.pileshuf')).sort()).toEqual([
        '.pileshuf-ID.disk-0',
        '.pileshuf-ID.job',
        '.pileshuf-ID.out',
      ]);
    },
  );

  function kindOf(name: string): string {
    if (name.startsWith('lock+')) return 'lock';
    return /\.(pile|index|attempt)$/.exec(name)?.[0] ?? name;
  }
});

describe('names of all kinds', () => {
  const NAMES = [
    'with spaces.input',
    "it's.input",
    '"quoted".input',
    '$(touch pwned).input',
    '`touch pwned`.input',
    '; touch pwned;.input',
    '| touch pwned.input',
    '> pwned .input',
    '&& touch pwned .input',
    '--force.input',
    '-rf.input',
    '~root.input',
    '#.input',
    '$HOME.input',
    '\\.input',
    '%s%n.input',
    'grüße 日本語.input',
  ];

  it.each(
    sampled(
      [
        ['sh', NAMES],
        ['bash', [...NAMES, 'two\nlines; touch pwned\n.input', '\t\x1b[2J.input', "$'\\x2e'.input", '!!.input']],
      ],
      2,
    ),
  )(
    'go through the line that is printed unchanged, and no shell takes them for anything else: %s',
    async (shell, names) => {
      const cwd = directory.path('here');
      mkdirSync(cwd);
      const text = readFileSync(inputs[0] ?? '');
      for (const name of names) writeFileSync(join(cwd, name), text);
      mkdirSync(join(cwd, '-T $(touch pwned)'));
      const before = readdirSync(cwd).sort();
      const words = [
        ...['--output', '--out $(touch pwned)', '--temp-dir', '-T $(touch pwned)', '--job-dir', '--job; touch pwned'],
        ...['--seed', '$(touch pwned)', '--prefix', '-a b\'"', '--shards', '3', '--workers', '2', '--', ...names],
      ];
      const stopped = await runJob(directory, words, { sabotage: STOPPED, cwd });
      expect(stopped.exitCode).toBe(143);
      expect(stopped.stderr.split('\n').every((line) => line === '' || line.startsWith('{'))).toBe(true);
      const line = stopped.failure?.resume?.command ?? '';
      expect(line).not.toMatch(/\p{Cc}/u);
      const continued = await runPrinted(directory, line, shell, cwd);
      expect(continued).toMatchObject({ exitCode: 0, warnings: [] });
      expect(continued.report?.resumed?.pileSets).toBeGreaterThan(0);
      const shards = shownNames(join(cwd, '--out $(touch pwned)'));
      expect(shards).toEqual([0, 1, 2].map((shard) => `-a b'"-0000${shard}-of-00003.input`));
      expect(readdirSync(cwd).sort()).toEqual([...before, '--out $(touch pwned)'].sort());
      expect(existsSync(directory.path('pwned'))).toBe(false);
      expect(readdirSync(join(cwd, '-T $(touch pwned)'))).toEqual([]);
      expect(basename(cwd)).toBe('here');
    },
  );
});
