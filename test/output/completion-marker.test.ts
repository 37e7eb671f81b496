/**
 * The marker of shards in a directory that existed before them: what it says, who may read it, and that it
 * appears whole and replaces the one of a killed attempt.
 */
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import { SystemError } from '#src/errors.js';
import type { CommitJournal } from '#src/output/commit-journal.js';
import { writeCompletionMarker } from '#src/output/output-moves.js';
import { interrupted, withCallsSeen } from '../fixtures/interrupted-file-calls.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

const directory = useTestDirectory();
const out = (...names: string[]) => directory.path('out', ...names);

const journal: CommitJournal = {
  outputIdentity: 'out',
  phase: 'move-in',
  intoExisting: true,
  names: ['part-00000-of-00002', 'part-00001-of-00002'],
  byteLengths: [3, 4],
  replaced: [],
  records: 12,
  bytes: 2 ** 41,
  checksum: '0123456789abcdef',
};
const TEXT = '{"shards":2,"records":12,"bytes":2199023255552,"checksum":"0123456789abcdef"}\n';

const write = () => {
  const naming = { prefix: 'part', extension: '.txt' };
  const place = { kind: 'shards', path: out(), exists: true, naming, mayReplace: false } as const;
  return writeCompletionMarker(place, directory.path('staging'), journal);
};

beforeEach(() => {
  for (const name of ['out', 'staging']) mkdirSync(directory.path(name));
});

describe('writeCompletionMarker', () => {
  it('says how many shards and records there are, how many bytes, and their checksum', async () => {
    await write();
    expect(readdirSync(out())).toEqual(['part.complete.json']);
    expect(readFileSync(out('part.complete.json'), 'utf8')).toBe(TEXT);
    expect(readdirSync(directory.path('staging'))).toEqual([]);
  });

  it('gives it the mode that the umask gives', async () => {
    const umask = process.umask(0o027);
    try {
      await write();
    } finally {
      process.umask(umask);
    }
    expect(statSync(out('part.complete.json')).mode & 0o777).toBe(0o640);
  });

  it('gives it its name when its bytes are durable, and makes that durable in turn', async () => {
    const steps: string[] = [];
    await withCallsSeen((name, call) => {
      if (name === 'write' || name === 'rename') steps.push(name);
      if (name === 'syncAsync') {
        const isDirectory = statSync(`/proc/self/fd/${String(call[0])}`).isDirectory();
        steps.push(isDirectory ? 'sync directory' : 'sync file');
      }
    }, write);
    expect(steps).toEqual(['write', 'sync file', 'rename', 'sync directory']);
  });

  it('appears whole, whenever the process ends, and the next one writes it anew', async () => {
    for (let number = 1, isReached = true; isReached; number++) {
      ({ isReached } = await interrupted('ends', number, write));
      for (const name of readdirSync(out())) expect(readFileSync(out(name), 'utf8')).toBe(TEXT);
      await write();
      expect(readFileSync(out('part.complete.json'), 'utf8')).toBe(TEXT);
    }
  });

  it('replaces one that is there, and a link, but not what that leads to', async () => {
    writeFileSync(directory.path('mine'), 'mine');
    symlinkSync(directory.path('mine'), out('part.complete.json'));
    await write();
    expect(readFileSync(out('part.complete.json'), 'utf8')).toBe(TEXT);
    expect(readFileSync(directory.path('mine'), 'utf8')).toBe('mine');
  });

  it('says what it could not write', async () => {
    mkdirSync(out('part.complete.json'));
    await expect(write()).rejects.toThrow(SystemError);
    await expect(write()).rejects.toThrow(/^cannot give its name to output .*part\.complete\.json: it is a directory$/);
  });
});
