/**
 * Outputs get their names, and are recognised when they have them already. The tests of faults end jobs between any two of
 * the steps.
 */
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { VerificationError } from '#src/errors.js';
import { type CommitJournal, readJournal, writeJournal } from '#src/places/outputs/commit-journal.js';
import { type Destination, formatOutputIdentity } from '#src/places/outputs/destination.js';
import { stageBeside } from '#src/places/outputs/file-moves.js';
import { LOCAL_PLACES_ONLY } from '#src/places/outputs/output-kinds.js';
import { stagedPath } from '#src/sinks/output-target.js';
import { withCallsSeen } from '../../fixtures/interrupted-file-calls.js';
import { failWith, useFileCalls } from '../../fixtures/replaced-file-calls.js';
import { useMemoryDirectory } from '../../fixtures/temp-directory.js';

const directory = useMemoryDirectory();
const fileCalls = useFileCalls();

const naming = { prefixes: ['shard'], extension: '.txt', beside: ['README.md', 'SHA256SUMS'] };
const NEW = ['first', '', 'third'];
const NAMES = NEW.map((_, shard) => `shard-0000${shard}-of-00003.txt`);
const BESIDE = [
  { name: 'README.md', text: 'the card' },
  { name: 'SHA256SUMS', text: 'the sums' },
];
const MARKER = '.shard.complete.json';
const MARKER_TEXT = '{"shards":3,"records":2,"bytes":10,"checksum":"00000000000000ab"}\n';
/** Of the same names as new ones, and of others; a link that leads nowhere is a file like any other. */
const FORMER = [
  'shard-00000-of-00003.txt',
  'shard-00001-of-00002.csv',
  'shard-00009-of-00010',
  MARKER,
  'README.md',
  'SHA256SUMS',
];
const DANGLING = 'shard-00002-of-00003.txt';
const FOREIGN = ['note', 'other-00000-of-00001.txt'];

interface Kind {
  readonly name: string;
  readonly place: () => Destination;
  /** Makes the files that exist before the job. */
  readonly prepare: () => void;
  readonly journal: () => CommitJournal;
}

const totals = {
  records: 2,
  bytes: 10,
  checksum: '00000000000000ab',
  splits: undefined,
  sums: undefined,
  emptyShards: undefined,
  beside: undefined,
};
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
  beside: BESIDE,
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
  {
    name: 'a new file and its SHA-256',
    place: () => ({ kind: 'file', path: out(), mayReplace: false, hasSums: true }),
    prepare: () => {},
    journal: () => ({ ...fileJournal(), beside: [{ name: 'out.sha256', text: 'the sums' }] }),
  },
  {
    name: 'a file and its SHA-256 in place of others',
    place: () => ({ kind: 'file', path: out(), mayReplace: true, hasSums: true }),
    prepare: () => {
      writeFileSync(out(), 'former');
      writeFileSync(`${out()}.sha256`, 'former sums');
    },
    journal: () => ({ ...fileJournal(), beside: [{ name: 'out.sha256', text: 'the sums' }] }),
  },
];
const [newFile, , newDirectory, existing] = KINDS as [Kind, Kind, Kind, Kind];
const isFile = (kind: Kind) => kind.journal().names.length === 0;

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

const foreignContents = () => Object.fromEntries(FOREIGN.map((name) => [name, `foreign ${name}`]));
const newContents = () => Object.fromEntries(NAMES.map((name, shard) => [name, NEW[shard] ?? '']));

const staging = () => directory.path('staging');
const directories = () => ({ stagingDirectory: staging(), jobDirectory: directory.path('job') });
const journalOnDisk = () => readJournal(directory.path('job')) ?? expect.fail('there is no journal');
const move = (kind: Kind) => LOCAL_PLACES_ONLY.reopen(kind.place()).publish(directories(), journalOnDisk(), false);
/** Does work without waiting for a device. */
async function quickly(work: () => Promise<void>): Promise<void> {
  const { error } = await withCallsSeen(() => {}, work);
  expect(error).toBeUndefined();
}
/** All as it is when the first output is about to move. */
async function begin(kind: Kind): Promise<void> {
  for (const name of ['out', 'out.sha256', 'staging', 'job'])
    rmSync(directory.path(name), { recursive: true, force: true });
  for (const name of ['staging', 'job']) mkdirSync(directory.path(name), { mode: 0o700 });
  kind.prepare();
  if (kind.journal().beside !== undefined && isFile(kind)) {
    await quickly(async () => {
      await stageBeside(staging(), 'the sums');
    });
  }
  const staged = isFile(kind) ? ['first'] : NEW;
  for (const [shard, text] of staged.entries()) writeFileSync(stagedPath(staging(), shard), text);
  await quickly(() => writeJournal(directory.path('job'), kind.journal()));
}

function expectComplete(kind: Kind): void {
  if (isFile(kind)) {
    expect(readFileSync(out(), 'utf8')).toBe('first');
    expect(existsSync(`${out()}.sha256`) && readFileSync(`${out()}.sha256`, 'utf8')).toBe(
      kind.journal().beside !== undefined && 'the sums',
    );
  } else {
    const kept = {
      ...(kind === newDirectory ? {} : foreignContents()),
      [MARKER]: MARKER_TEXT,
      'README.md': 'the card',
      SHA256SUMS: 'the sums',
    };
    expect(contentsOf(out())).toEqual({ ...newContents(), ...kept });
    expect(statSync(out()).mode & 0o777).toBe(0o777 & ~process.umask());
  }
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
