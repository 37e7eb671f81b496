/**
 * What pileshuf makes beside data is not read as data: the listing of a directory leaves it out with one note, and a call
 * that names it is refused. What only has such a name is data.
 */
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { appendToStore } from '#src/index.js';
import { seal } from '#src/io/sealed-file.js';
import { formatOwnerName, identifyOwner } from '#src/machine/file-owner.js';
import { listInputs } from '#src/sources/list-inputs.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

const directory = useTestDirectory();
const data = (...names: string[]) => directory.path('data', ...names);
/** Most of these files are hidden, or named unlike data. */
const ALL_NAMES = { hidden: true, include: ['*'], exclude: [] };
const MARKER_TEXT = '{"shards":2,"records":3,"bytes":12,"checksum":"0123456789abcdef"}\n';

beforeEach(() => {
  mkdirSync(data());
  for (const name of ['a.txt', 'b.txt']) writeFileSync(data(name), `${name}\n`);
});

async function listed(...named: string[]): Promise<{ names: string[]; warnings: string[] }> {
  const warnings: string[] = [];
  const { inputs } = await listInputs(named, (line) => warnings.push(line), { fileChoice: ALL_NAMES });
  return { names: inputs.map(({ path }) => relative(data(), path)), warnings };
}

const noteOf = (path: string, others = '') => `${path}${others}: left out, because pileshuf made it beside data`;

function write(name: string, content: string | Uint8Array): string {
  mkdirSync(data(name, '..'), { recursive: true });
  writeFileSync(data(name), content);
  return data(name);
}

describe('the listing of a directory', () => {
  it('leaves out pile stores, and names the command that reads one', async () => {
    await appendToStore(directory.path('store'), { inputs: [data('a.txt')], workers: 1 });
    renameSync(directory.path('store'), data('store'));
    expect(await listed(data())).toEqual({ names: ['a.txt', 'b.txt'], warnings: [noteOf(data('store'))] });
    await expect(listed(data('store'))).rejects.toThrow(
      `the input ${data('store')} is a pile store and holds no data files; pileshuf shuffle-store reads it`,
    );
    // A pattern meets the files.
    await expect(listed(data('**'))).rejects.toThrow(/ is a file of a job or of a pile store, which pileshuf made/);
  });

  it('leaves out the directories of unfinished jobs', async () => {
    const id = '0123456789abcdef';
    const lock = formatOwnerName('lock', identifyOwner());
    write(`.pileshuf-${id}.job/${lock}`, '');
    write(`.pileshuf-${id}.job/set-000000.index`, 'pileset3');
    write(`.pileshuf-${id}.disk-0/set-000000-01234567.0.pile`, 'a pile\n');
    write(`.pileshuf-${id}.out/0.part`, 'staged\n');
    write('.pileshuf-Ab3dEf/lock+x', '');
    write('named/manifest', seal('job', 5, {}));
    write('named/disk-0/set-000000-01234567.0.pile', 'a pile\n');
    expect(await listed(data())).toEqual({
      names: ['a.txt', 'b.txt'],
      // Which one it meets first is up to the file system.
      warnings: [
        expect.stringMatching(/^.*\/data\/\S+ \(and 4 others\): left out, because pileshuf made it beside data$/),
      ],
    });
    await expect(listed(data('named'))).rejects.toThrow(/named is the directory of a job and holds no data files; /);
  });

  it.each([
    ['.shard.complete.json', MARKER_TEXT],
    [formatOwnerName('lock', identifyOwner()), ''],
    [formatOwnerName('pileshuf-index', identifyOwner()), new Uint8Array(100)],
    [formatOwnerName('pileshuf-index', identifyOwner()), ''],
    ['x.index', 'pileset3 and more'],
    ['README.md', '---\n# Made by pileshuf\nconfigs:\n'],
    ['SHA256SUMS', `${'0a'.repeat(32)}  shard\n`],
    ['a.jsonl.sha256', `\\${'0a'.repeat(32)}  a\\\\b\n`],
    ['a copy of a manifest', seal('job', 5, { any: 'thing' })],
  ])('leaves out %s, and a call that names it is refused', async (name, content) => {
    const path = write(name, content);
    expect(await listed(data())).toEqual({ names: ['a.txt', 'b.txt'], warnings: [noteOf(path)] });
    await expect(listed(path)).rejects.toMatchObject({
      code: 'ERR_INPUT_UNREADABLE',
      message: expect.stringMatching(/ is (the|an?) .*, which pileshuf made beside data; leave it out$/),
    });
  });

  it.each([
    ['.shard.complete.json', '{"shards":2}\n'],
    ['shard.complete.json', MARKER_TEXT],
    ['notes.pileshuf-index', 'how to use it\n'],
    [formatOwnerName('lock', identifyOwner()), 'text\n'],
    [formatOwnerName('pileshuf-index', identifyOwner()), 'text\n'],
    ['a.index', 'chapter 1\n'],
    ['README.md', '# Made by pileshuf\n'],
    ['SHA256SUMS', 'shard\n'],
    ['a.sha', `${'0a'.repeat(32)}  shard\n`],
    ['b.txt.copy', 'pshindx1 is how an index begins\n'],
    ['store', 'a shop\n'],
    ['manifest', 'pileshuf job 5\n'],
    ['lockfile.txt', ''],
    ['.pileshuf-0123456789abcdef.job/letter.txt', 'dear\n'],
    ['.pileshuf-abcdef/a/b', 'c\n'],
    ['disk-0/x.txt', 'y\n'],
  ])('takes %s, which only has such a name, or only such a content', async (name, content) => {
    write(name, content);
    expect(await listed(data())).toEqual({ names: [name, 'a.txt', 'b.txt'].sort(), warnings: [] });
    expect((await listed(data(name))).names).toEqual([name]);
  });

  it('refuses a directory that holds nothing else', async () => {
    write('only/.shard.complete.json', MARKER_TEXT);
    await expect(listed(data('only'))).rejects.toMatchObject({
      code: 'ERR_INPUT_MISSING',
      message: `the directory ${data('only')} holds no data, only files that pileshuf made; name a directory with data`,
    });
  });
});
