/**
 * Outputs get their names in several steps, and the job may end between any two of them. The next attempt finishes the
 * moves or takes them back; a mixture never has a completion marker, and no former file is lost.
 */
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { SystemError, UsageError, VerificationError } from '#src/errors.js';
import { systemFileCalls } from '#src/io/file-calls.js';
import { type CommitJournal, readJournal, writeJournal } from '#src/places/outputs/commit-journal.js';
import { type Destination, formatOutputIdentity } from '#src/places/outputs/destination.js';
import { ONLY_DISKS } from '#src/places/outputs/find-place.js';
import { stagedPath } from '#src/sinks/output-target.js';
import { interrupted, withCallsSeen } from '../../fixtures/interrupted-file-calls.js';
import { failWith, useFileCalls } from '../../fixtures/replaced-file-calls.js';
import { atScale } from '../../fixtures/scale.js';
import { useMemoryDirectory } from '../../fixtures/temp-directory.js';

const directory = useMemoryDirectory();
const fileCalls = useFileCalls();

const naming = { prefixes: ['shard'], extension: '.txt' };
const NEW = ['first', '', 'third'];
const NAMES = NEW.map((_, shard) => `shard-0000${shard}-of-00003.txt`);
const MARKER = '.shard.complete.json';
const MARKER_TEXT = '{"shards":3,"records":2,"bytes":10,"checksum":"00000000000000ab"}\n';
/** Of the same names as new ones, and of others; a link that leads nowhere is a file like any other. */
const FORMER = ['shard-00000-of-00003.txt', 'shard-00001-of-00002.csv', 'shard-00009-of-00010', MARKER];
const DANGLING = 'shard-00002-of-00003.txt';
const FOREIGN = ['note', 'other-00000-of-00001.txt'];

interface Kind {
  readonly name: string;
  readonly place: () => Destination;
  /** Makes the files that exist before the job. */
  readonly prepare: () => void;
  readonly journal: () => CommitJournal;
}

const totals = { records: 2, bytes: 10, checksum: '00000000000000ab', splits: undefined };
const byteLengths = NEW.map((text) => text.length);
const out = (...names: string[]) => directory.path('out', ...names);
const shardsJournal = (intoExisting: boolean, replaced: readonly string[]): CommitJournal => ({
  outputIdentity: formatOutputIdentity('shards', out(), naming.prefixes),
  phase: 'move-aside',
  intoExisting,
  names: NAMES,
  byteLengths,
  replaced,
  ...totals,
});
const fileJournal = (): CommitJournal => ({
  outputIdentity: formatOutputIdentity('file', out(), []),
  phase: 'move-aside',
  intoExisting: false,
  names: [],
  byteLengths: [5],
  replaced: [],
  ...totals,
  bytes: 5,
});
const shardsPlace = (exists: boolean): Destination => ({
  kind: 'shards',
  path: out(),
  exists,
  naming,
  mayReplace: true,
});

function makeFormer(): void {
  mkdirSync(out());
  for (const name of FORMER) writeFileSync(out(name), `former ${name}`);
  symlinkSync('nowhere', out(DANGLING));
  for (const name of FOREIGN) writeFileSync(out(name), `foreign ${name}`);
}

const KINDS: readonly Kind[] = [
  {
    name: 'a new file',
    place: () => ({ kind: 'file', path: out(), mayReplace: false }),
    prepare: () => {},
    journal: fileJournal,
  },
  {
    name: 'a file in place of another',
    place: () => ({ kind: 'file', path: out(), mayReplace: true }),
    prepare: () => writeFileSync(out(), 'former'),
    journal: fileJournal,
  },
  {
    name: 'a new directory',
    place: () => shardsPlace(existsSync(out())),
    prepare: () => {},
    journal: () => shardsJournal(false, []),
  },
  {
    name: 'a directory that exists',
    place: () => shardsPlace(true),
    prepare: () => {
      mkdirSync(out());
      for (const name of FOREIGN) writeFileSync(out(name), `foreign ${name}`);
    },
    journal: () => shardsJournal(true, []),
  },
  {
    name: 'a directory that holds former shards',
    place: () => shardsPlace(true),
    prepare: makeFormer,
    journal: () => shardsJournal(true, [...FORMER, DANGLING]),
  },
];
const [newFile, otherFile, newDirectory, existing, replacing] = KINDS as [Kind, Kind, Kind, Kind, Kind];

/** Contents by name; of a link, where it leads. */
function contentsOf(path: string): Record<string, string> {
  const contents: Record<string, string> = {};
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    const inside = join(path, entry.name);
    if (entry.isSymbolicLink()) contents[entry.name] = `link to ${readlinkSync(inside)}`;
    else if (entry.isFile()) contents[entry.name] = readFileSync(inside, 'utf8');
  }
  return contents;
}

const formerContents = () => ({
  ...Object.fromEntries(FORMER.map((name) => [name, `former ${name}`])),
  [DANGLING]: 'link to nowhere',
});
const foreignContents = () => Object.fromEntries(FOREIGN.map((name) => [name, `foreign ${name}`]));
const newContents = () => Object.fromEntries(NAMES.map((name, shard) => [name, NEW[shard] ?? '']));

const staging = () => directory.path('staging');
const aside = () => directory.path('staging', 'replaced');
const directories = () => ({ stagingDirectory: staging(), jobDirectory: directory.path('job') });
const journalOnDisk = () => readJournal(directory.path('job')) ?? expect.fail('there is no journal');
const move = (kind: Kind) => ONLY_DISKS.at(kind.place()).appear(directories(), journalOnDisk(), false);
const back = async (kind: Kind) => ONLY_DISKS.at(kind.place()).takeBack?.(directories(), journalOnDisk());
/** Does work without waiting for a device. */
async function quickly(work: () => Promise<void>): Promise<void> {
  const { error } = await withCallsSeen(() => {}, work);
  expect(error).toBeUndefined();
}
/** What a later attempt does: it continues the moves, or begins them again. */
const moveOrBegin = async (kind: Kind) => {
  if (readJournal(directory.path('job')) === undefined) await writeJournal(directory.path('job'), kind.journal());
  await move(kind);
};
/** What a run does that discards the one before. */
const backIfBegun = async (kind: Kind) => {
  if (readJournal(directory.path('job')) !== undefined) await back(kind);
};

/** All as it is when the first output is about to move. */
async function begin(kind: Kind): Promise<void> {
  for (const name of ['out', 'staging', 'job']) rmSync(directory.path(name), { recursive: true, force: true });
  for (const name of ['staging', 'job']) mkdirSync(directory.path(name), { mode: 0o700 });
  kind.prepare();
  const staged = kind.journal().names.length === 0 ? ['first'] : NEW;
  for (const [shard, text] of staged.entries()) writeFileSync(stagedPath(staging(), shard), text);
  await quickly(() => writeJournal(directory.path('job'), kind.journal()));
}

function expectComplete(kind: Kind): void {
  if (kind === newFile || kind === otherFile) expect(readFileSync(out(), 'utf8')).toBe('first');
  else {
    const kept = { ...(kind === newDirectory ? {} : foreignContents()), [MARKER]: MARKER_TEXT };
    expect(contentsOf(out())).toEqual({ ...newContents(), ...kept });
    expect(statSync(out()).mode & 0o777).toBe(0o777 & ~process.umask());
  }
}

function expectUntouched(kind: Kind): void {
  expect(contentsOf(out())).toEqual({ ...foreignContents(), ...(kind === replacing ? formerContents() : {}) });
  expect(NEW.map((_, shard) => readFileSync(stagedPath(staging(), shard), 'utf8'))).toEqual(NEW);
  expect(existsSync(aside())).toBe(false);
  expect(readJournal(directory.path('job'))).toBeUndefined();
}

/** What must be true at every moment. */
function expectNothingLost(kind: Kind): void {
  if (kind === newFile || kind === otherFile) return;
  const inPlace = existsSync(out()) ? contentsOf(out()) : {};
  if (kind === newDirectory) {
    // All of them or none.
    if (existsSync(out())) expect(inPlace).toEqual({ ...newContents(), [MARKER]: MARKER_TEXT });
    return;
  }
  expect(inPlace).toMatchObject(foreignContents());
  const isComplete = inPlace[MARKER] === MARKER_TEXT;
  if (isComplete) expect(inPlace).toEqual({ ...newContents(), ...foreignContents(), [MARKER]: MARKER_TEXT });
  const setAside = existsSync(aside()) ? contentsOf(aside()) : {};
  if (kind === replacing && !isComplete) {
    for (const [name, content] of Object.entries(formerContents())) {
      expect([inPlace[name], setAside[name]], name).toContain(content);
    }
    // The former marker vouches for all of the former shards, and for no others.
    if (inPlace[MARKER] !== undefined) {
      const shards = Object.entries(inPlace).filter(([name]) => !FOREIGN.includes(name));
      expect(formerContents()).toMatchObject(Object.fromEntries(shards));
    }
  }
  const staged = contentsOf(staging());
  for (const [shard, text] of NEW.entries())
    expect([staged[`${shard}.part`], inPlace[NAMES[shard] ?? '']]).toContain(text);
}

/** Does something for each number from 1 on, or every `step`th, until it says that it was not reached. @returns how often it was. */
async function forEachCall(one: (number: number) => Promise<boolean>, step = 1): Promise<number> {
  for (let number = 1; ; number += step) if (!(await one(number))) return number - 1;
}

describe.each(KINDS)('moving outputs: $name', (kind) => {
  beforeEach(() => begin(kind));

  it('gives all of them their names, and once more changes nothing', async () => {
    await move(kind);
    expectComplete(kind);
    await move(kind);
    expectComplete(kind);
  });

  it('works without hard links', async () => {
    fileCalls.replace({ link: failWith('EPERM') });
    await move(kind);
    expectComplete(kind);
    await move(kind);
    expectComplete(kind);
  });

  it('finishes what lies under both names', async () => {
    const [staged, final] = [stagedPath(staging(), 0), kind.journal().names.length === 0 ? out() : out(NAMES[0] ?? '')];
    if (kind === newFile || kind === existing) linkSync(staged, final);
    await move(kind);
    expectComplete(kind);
  });

  it('refuses what was moved before and is gone, or is not what it was', async () => {
    await move(kind);
    rmSync(staging(), { recursive: true });
    mkdirSync(staging(), { mode: 0o700 });
    await move(kind);
    const final = kind.journal().names.length === 0 ? out() : out(NAMES[2] ?? '');
    for (const damage of [
      () => writeFileSync(final, 'shorter or longer'),
      () => rmSync(final),
      () => mkdirSync(final),
    ]) {
      damage();
      const moved = move(kind);
      await expect(moved).rejects.toThrow(VerificationError);
      await expect(moved).rejects.toThrow(
        / had its final name already, and is gone or no longer has \d+ bytes; make it again with `force`$/,
      );
    }
  });
});

describe('a new file', () => {
  it('leaves alone what appeared under its name', async () => {
    await begin(newFile);
    writeFileSync(out(), 'foreign');
    await expect(move(newFile)).rejects.toMatchObject({ code: 'ERR_OUTPUT_EXISTS' });
    expect(readFileSync(out(), 'utf8')).toBe('foreign');
    expect(readFileSync(stagedPath(staging(), 0), 'utf8')).toBe('first');
    unlinkSync(out());
    await move(newFile);
    expectComplete(newFile);
  });
});

describe('a new directory', () => {
  it('leaves alone one that appeared with something in it, and is finished in place of an empty one', async () => {
    await begin(newDirectory);
    mkdirSync(out());
    writeFileSync(out('mine'), 'mine');
    for (let time = 0; time < 2; time++) {
      await expect(move(newDirectory)).rejects.toMatchObject({ code: 'ERR_OUTPUT_EXISTS' });
      expect(contentsOf(out())).toEqual({ mine: 'mine' });
    }
    rmSync(out('mine'));
    await move(newDirectory);
    expectComplete(newDirectory);
  });
});

describe.each([existing, replacing])('$name', (kind) => {
  beforeEach(() => begin(kind));

  it.each([
    ['taken back', expectUntouched, backIfBegun],
    ['finished', expectComplete, moveOrBegin],
  ])('is %s after taking back was interrupted in turn', async (_, expectAll, goOn) => {
    let count = 0;
    await forEachCall(
      async (number) => {
        let isReached = false;
        await forEachCall(async (numberBack) => {
          await begin(kind);
          ({ isReached } = await interrupted('ends', number, () => move(kind)));
          if (journalOnDisk().phase === 'moved') return false;
          const taken = await interrupted('ends', numberBack, () => back(kind));
          expectNothingLost(kind);
          await quickly(() => goOn(kind));
          expectAll(kind);
          count += 1;
          return taken.isReached;
        });
        return isReached;
      },
      atScale(4, 1),
    );
    expect(count).toBeGreaterThan(atScale(5, 20));
  });

  it('leaves alone a shard that appeared, and holds what it held', async () => {
    const name = kind === existing ? (NAMES[1] ?? '') : 'shard-00001-of-00003.txt';
    writeFileSync(out(name), 'mine');
    await expect(move(kind)).rejects.toMatchObject({ code: 'ERR_OUTPUT_EXISTS' });
    await back(kind);
    expect(readFileSync(out(name), 'utf8')).toBe('mine');
    unlinkSync(out(name));
    expectUntouched(kind);
  });

  it('says that it is complete last', async () => {
    const named: string[] = [];
    await withCallsSeen(
      (name, call) => {
        const to = String(call[1]);
        if ((name === 'link' || name === 'rename') && dirname(to) === out()) named.push(basename(to));
        if (name === 'syncAsync' && readlinkSync(`/proc/self/fd/${String(call[0])}`) === out()) named.push('sync');
      },
      () => move(kind),
    );
    expect(named).toEqual(['sync', ...NAMES, 'sync', MARKER, 'sync']);
  });
});

describe('former shards that were put aside', () => {
  it('are not put in place of others that appeared meanwhile', async () => {
    await begin(replacing);
    fileCalls.replace({
      link(from, to) {
        if (dirname(to) === out()) failWith('EIO')();
        systemFileCalls.link(from, to);
      },
    });
    await expect(move(replacing)).rejects.toThrow(SystemError);
    fileCalls.replace({});
    const [, name = ''] = FORMER;
    writeFileSync(out(name), 'mine');
    await expect(back(replacing)).rejects.toThrow(UsageError);
    expect(readFileSync(out(name), 'utf8')).toBe('mine');
    expect(readFileSync(join(aside(), name), 'utf8')).toBe(`former ${name}`);
    renameSync(out(name), directory.path('mine'));
    await back(replacing);
    expectUntouched(replacing);
  });
});
