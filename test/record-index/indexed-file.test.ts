/**
 * Reading records by an index: from files with many blocks, from compressed files, with many calls at a time; and from
 * changed files and indexes.
 */
import { appendFileSync, readFileSync, statSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type IndexOptions, InputError, indexFile, openIndexed, UsageError, VerificationError } from '#src/index.js';
import { systemFileCalls } from '#src/io/file-calls.js';
import { errorOf } from '../fixtures/error-of.js';
import { useFileCalls } from '../fixtures/replaced-file-calls.js';
import { atScale, fromCi } from '../fixtures/scale.js';
import { bgzfOf } from '../formats/codecs/bgzf-file.js';
import { zstdOf } from '../formats/codecs/zstd-file.js';
import { useFastDirectory } from '../laws/fast-directory.js';

const directory = useFastDirectory();
const file = () => directory.path('in');
const indexPath = () => `${file()}.pileshuf-index`;

/** Lines of many lengths; line i begins with its number. */
function lines(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `${i} ${'x'.repeat((i * i) % 97)}\n`);
}

async function index(content: string | Uint8Array, options: IndexOptions = {}, sliceBytes = 2 ** 20) {
  writeFileSync(file(), content);
  return indexFile(file(), options, { sliceBytes, inline: true });
}

async function readAll(): Promise<string[]> {
  const records = openIndexed(file());
  try {
    const all: string[] = [];
    for (let i = 0; i < records.length; i++) all.push(Buffer.from(await records.get(i)).toString('latin1'));
    return all;
  } finally {
    await records.close();
  }
}

const failureOf = (work: () => Promise<unknown>) => errorOf(work());

describe('an indexed file', () => {
  const calls = useFileCalls();

  it('has many blocks in many stretches, with records of many lengths', async () => {
    const expected = lines(20_000);
    const report = await index(expected.join(''), {}, 300_000);
    expect(report).toMatchObject({ records: 20_000, index: indexPath(), indexBytes: statSync(indexPath()).size });
    expect(await readAll()).toEqual(expected);
  });

  it.runIf(fromCi)('is indexed by several threads', async () => {
    const expected = lines(30_000);
    writeFileSync(file(), expected.join(''));
    await indexFile(file(), { workers: 3, memoryBytes: 2 ** 26 }, { sliceBytes: 100_000, inline: false });
    expect(await readAll()).toEqual(expected);
  });

  it('takes about 2 + log2(mean length) bits a record', async () => {
    const content = lines(50_000).join('');
    const report = await index(content);
    const bits = 2 + Math.log2(content.length / 50_000);
    expect((report.indexBytes * 8) / 50_000).toBeLessThan(bits + 0.5);
  });

  it.each([
    ['BGZF', bgzfOf],
    ['zstd', zstdOf],
  ])('may be compressed: %s', async (_, encode) => {
    const expected = lines(5000);
    await index(encode(Buffer.from(expected.join('')), [60_000, 1, 0, 3000, 33_000]), {}, 50_000);
    expect(await readAll()).toEqual(expected);
  });

  it('keeps the last decoded bytes, up to `keptBytes`', async () => {
    const expected = lines(5000);
    await index(bgzfOf(Buffer.from(expected.join('')), [60_000]));
    for (const keptBytes of [0, 100_000]) {
      let readCount = 0;
      const records = openIndexed(file(), { keptBytes });
      calls.replace({
        readAsync: (...call) => {
          readCount += 1;
          return systemFileCalls.readAsync(...call);
        },
      });
      for (const i of [0, 1, 2, 0]) expect(Buffer.from(await records.get(i)).toString()).toBe(expected[i]);
      await records.close();
      expect(readCount).toBe(keptBytes === 0 ? 4 : 1);
    }
  });

  it('adds the terminator that the last record lacks', async () => {
    await index('a\nbb');
    expect(await readAll()).toEqual(['a\n', 'bb\n']);
    await index('axyzbb', { records: { by: 'delimiter', delimiter: 'xyz' } });
    expect(await readAll()).toEqual(['axyz', 'bbxyz']);
  });

  it('may be empty, or have only a header', async () => {
    expect(await index('')).toMatchObject({ records: 0 });
    expect(await readAll()).toEqual([]);
    await index('id,text\n', { header: { lines: 1 } });
    expect(await readAll()).toEqual([]);
    await index(bgzfOf(new Uint8Array(), [1]));
    expect(await readAll()).toEqual([]);
  });

  it('may have a record that is far larger than one read', async () => {
    const record = Buffer.alloc(12 * 2 ** 20, 'long ');
    await index(Buffer.concat([Buffer.from('a\n'), record, Buffer.from('\nb\n')]));
    const records = openIndexed(file());
    expect(Buffer.from(await records.get(1)).equals(Buffer.concat([record, Buffer.from('\n')]))).toBe(true);
    expect(Buffer.from(await records.get(2)).toString()).toBe('b\n');
    await records.close();
  });

  it('takes many calls at a time, and closes when they are done', async () => {
    const expected = lines(3000);
    const bytes = Buffer.from(expected.join(''));
    for (const content of [bytes, bgzfOf(bytes, [9000]), zstdOf(bytes, [40_000])]) {
      await index(content);
      const records = openIndexed(file(), { keptBytes: 0 });
      const asked = expected.map((_, i) => records.get((i * 7) % 3000));
      const closed = records.close();
      await expect(records.get(0)).rejects.toThrow(/was closed/);
      expect((await Promise.all(asked)).map((bytes) => Buffer.from(bytes).toString())).toEqual(
        expected.map((_, i) => expected[(i * 7) % 3000]),
      );
      await closed;
      await records.close();
    }
  });

  it('is read on other threads while reads are slow', async () => {
    const expected = lines(300);
    await index(expected.join(''));
    const records = openIndexed(file());
    const made: string[] = [];
    calls.replace({
      read: (...call) => {
        made.push('read');
        const until = performance.now() + 1;
        while (performance.now() < until);
        return systemFileCalls.read(...call);
      },
      readAsync: (...call) => {
        made.push('readAsync');
        return systemFileCalls.readAsync(...call);
      },
    });
    // The first call reads the entry, the block, and slowly the record.
    for (let i = 0; i < 4; i++) expect(Buffer.from(await records.get(i)).toString()).toBe(expected[i]);
    expect(made).toEqual(['read', 'read', 'read', 'readAsync', 'readAsync', 'readAsync']);
    await records.close();
  });

  it.each([
    ['plain', (bytes: Buffer) => bytes],
    ['BGZF', (bytes: Buffer) => bgzfOf(bytes, [500])],
  ])('names the file that cannot be read, and reads the next record: %s', async (_, encode) => {
    await index(encode(Buffer.from(lines(100).join(''))));
    const failing = { read: 1, readAsync: 1 };
    const records = openIndexed(file(), { keptBytes: 0 });
    const failOnce = (name: 'read' | 'readAsync') => {
      failing[name] -= 1;
      if (failing[name] === 0) throw Object.assign(new Error('made up'), { code: 'EIO' });
    };
    calls.replace({
      read: (...call) => {
        failOnce('read');
        return systemFileCalls.read(...call);
      },
      readAsync: (...call) => {
        failOnce('readAsync');
        return systemFileCalls.readAsync(...call);
      },
    });
    expect(await failureOf(() => records.get(7))).toMatchObject({
      code: 'ERR_INPUT_UNREADABLE',
      message: expect.stringMatching(/^cannot read at byte \d+ of .*: the device reports an input\/output error$/),
    });
    // For a compressed file, the next call fails later, while it decodes.
    const isCompressed = encode(Buffer.alloc(0)).byteLength > 0;
    const next = records.get(7);
    if (isCompressed) expect(await failureOf(() => next)).toMatchObject({ code: 'ERR_INPUT_UNREADABLE' });
    else await next;
    expect(Buffer.from(await records.get(7)).toString()).toBe(lines(8)[7]);
    await records.close();
  });

  it('says where a compressed file is corrupt, on every call', async () => {
    const stored = bgzfOf(Buffer.from(lines(100).join('')), [500]);
    await index(stored);
    const records = openIndexed(file());
    const damaged = Buffer.from(stored);
    damaged[200] = (damaged[200] ?? 0) ^ 0xff;
    writeFileSync(file(), damaged);
    for (let i = 0; i < 2; i++) {
      const error = await failureOf(() => records.get(0));
      expect(error.code).toBe('ERR_INPUT_CORRUPT');
      expect(error.message).toContain(`${file()}: `);
    }
    await records.close();
  });

  it('refuses an index without a record', async () => {
    await index('a\nb\n');
    const records = openIndexed(file());
    for (const wrong of [-1, 2, 0.5, Number.NaN, 2 ** 53]) {
      const error = await failureOf(() => records.get(wrong));
      expect(error).toBeInstanceOf(UsageError);
      expect(error.message).toContain(`has no record ${wrong}; it has 2 records, which count from 0`);
    }
    await records.close();
  });
});

describe('openIndexed', () => {
  it('says how to make an index that is missing', async () => {
    writeFileSync(file(), 'a\n');
    const elsewhere = directory.path('no-such-index');
    const error = await failureOf(async () => openIndexed(file(), { index: elsewhere }));
    expect(error).toMatchObject({
      code: 'ERR_INPUT_MISSING',
      message: `there is no index ${elsewhere}; make it with \`pileshuf index ${file()}\``,
    });
  });

  it.each<[string, (content: string) => void, RegExp]>([
    ['longer', () => appendFileSync(file(), 'c\n'), /its size was 4 bytes and is 6/],
    ['shorter', () => truncateSync(file(), 2), /its size was 4 bytes and is 2/],
    ['of another time', () => utimesSync(file(), 1, 1), /its modification time differs/],
    [
      'of other bytes, size and time as before',
      () => {
        const { atime, mtimeMs } = statSync(file());
        writeFileSync(file(), 'a\nX\n');
        utimesSync(file(), atime, mtimeMs / 1000);
      },
      /its first or last bytes differ|its modification time differs/,
    ],
  ])('refuses a file that is %s', async (_, change, message) => {
    await index('a\nb\n');
    // Whole seconds, so that the test can set the time again.
    utimesSync(file(), 1_700_000_000, 1_700_000_000);
    await indexFile(file());
    change('');
    const error = await failureOf(async () => openIndexed(file()));
    expect(error).toBeInstanceOf(InputError);
    expect(error.code).toBe('ERR_INPUT_CHANGED');
    expect(error.message).toMatch(message);
    expect(error.message).toContain(`make the index again with \`pileshuf index ${file()}\``);
  });

  it('notices a file that was cut while it was open', async () => {
    await index(lines(100).join(''));
    const records = openIndexed(file());
    truncateSync(file(), 1000);
    expect(await failureOf(() => records.get(99))).toMatchObject({ code: 'ERR_INPUT_CHANGED' });
    await records.close();
  });

  it('notices a changed byte, wherever it is in the index', async () => {
    const contents: [Uint8Array, IndexOptions][] = [
      [Buffer.from(lines(300).join('')), {}],
      [bgzfOf(Buffer.from(lines(2000).join('')), [40_000]), {}],
      [Buffer.from('abc'.repeat(50)), { records: { by: 'size', recordBytes: 3 } }],
    ];
    for (const [content, options] of contents) {
      await index(content, options, 3000);
      const whole = readFileSync(indexPath());
      for (let at = 0; at < whole.byteLength; at += atScale(13, 1) * (whole.byteLength > 2000 ? 7 : 1)) {
        const damaged = Buffer.from(whole);
        damaged[at] = (damaged[at] ?? 0) ^ (1 << (at % 8));
        writeFileSync(indexPath(), damaged);
        const error = await failureOf(readAll);
        const isOtherVersion = error instanceof UsageError && error.code === 'ERR_INDEX_VERSION';
        expect(error instanceof VerificationError || isOtherVersion, `byte ${at}: ${error.message}`).toBe(true);
        expect(error.message).toContain(`make it again with \`pileshuf index ${file()}\``);
        expect(isOtherVersion).toBe(at === 7);
      }
    }
  });

  it('notices an index that was cut, or has more bytes', async () => {
    await index(lines(300).join(''));
    const whole = readFileSync(indexPath());
    for (const cut of [0, 7, 63, 64, 100, whole.byteLength - 1]) {
      writeFileSync(indexPath(), whole.subarray(0, cut));
      expect(await failureOf(readAll)).toBeInstanceOf(VerificationError);
    }
    writeFileSync(indexPath(), Buffer.concat([whole, Buffer.of(0)]));
    expect(await failureOf(readAll)).toBeInstanceOf(VerificationError);
  });
});
