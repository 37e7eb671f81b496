/** Where compressed inputs are cut: at members that state their length, if it pays. */
import { writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { AbortError } from '#src/errors.js';
import { type FramingSpec, framingOf, LINES } from '#src/formats/framing-table.js';
import { systemFileCalls } from '#src/io/file-calls.js';
import { planSlices, type SlicePart } from '#src/plan/slices.js';
import { describeForSlices, findCuts, mayBeCut } from '#src/sources/cut-points.js';
import { listInputs } from '#src/sources/list-inputs.js';
import { useFileCalls } from '../fixtures/replaced-file-calls.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';
import { BGZF_END, bgzfFile, bgzfMember } from '../formats/codecs/bgzf-file.js';
import { zstdFrameOf } from '../formats/codecs/zstd-file.js';
import { skippable, undeclared } from '../formats/codecs/zstd-samples.mjs';

const directory = useTestDirectory();
const fileCalls = useFileCalls();
const lines = framingOf(LINES);
const content = Buffer.from('12345678\n');
/** So many bytes that no member has them all. */
const MUCH = 1e12;

/** A codec whose members say how long they are. */
interface Format {
  readonly name: string;
  readonly member: (content: Uint8Array) => Buffer;
  /** What stands behind the last member. */
  readonly end: Buffer;
}

const BGZF: Format = { name: 'BGZF', member: bgzfMember, end: BGZF_END };
const ZSTD: Format = { name: 'zstd', member: zstdFrameOf, end: Buffer.alloc(0) };
const fileOf = ({ member, end }: Format, contents: readonly Uint8Array[]) =>
  Buffer.concat([...contents.map((each) => member(each)), end]);

async function inputOf(bytes: Uint8Array) {
  writeFileSync(directory.path('in'), bytes);
  const { inputs } = await listInputs([directory.path('in')], () => {});
  const [input] = inputs;
  return input?.kind === 'file' ? input : expect.fail('no file');
}

describe.each([BGZF, ZSTD])('a $name file', (format) => {
  const memberBytes = format.member(content).byteLength;

  /** Parts of one input of ten members of nine bytes, of which `decodedBytes` were estimated. */
  async function partsOf(spec: FramingSpec, sliceBytes: number, decodedBytes = 90): Promise<readonly SlicePart[]> {
    const input = await inputOf(fileOf(format, Array(10).fill(content)));
    const planned = await describeForSlices([input], [decodedBytes], { framing: spec }, sliceBytes, undefined);
    return [...planSlices(planned, sliceBytes)].flat();
  }

  it('is cut at members', async () => {
    const middle = 5 * memberBytes;
    const [first, second] = [
      { storedStart: 0, storedEnd: middle, decodedStart: 0, decodedEnd: 45 },
      { storedStart: middle, storedEnd: 2 * middle + format.end.byteLength, decodedStart: 45, decodedEnd: 90 },
    ];
    expect(await partsOf(LINES, 45)).toEqual([
      { inputOrdinal: 0, start: 0, end: 47, members: first },
      { inputOrdinal: 0, start: 47, end: 90, members: second },
    ]);
  });

  it('is cut behind members where records of one size begin', async () => {
    const parts = await partsOf({ kind: 'size', value: 6 }, 1);
    expect(parts.map(({ start }) => start)).toEqual([0, 12, 18, 30, 36, 48, 54, 66, 72, 84]);
    expect(parts.map(({ members }) => members?.decodedStart)).toEqual([0, 9, 18, 27, 36, 45, 54, 63, 72, 81]);
    const large = await partsOf({ kind: 'size', value: 45 }, 1);
    expect(large.map(({ start, members }) => [start, members?.decodedStart])).toEqual([
      [0, 0],
      [45, 9],
    ]);
  });

  it.each<FramingSpec>([
    { kind: 'csv', value: null },
    { kind: 'lines', value: 4 },
    { kind: 'delimiter', value: '0a0a' },
    { kind: 'paragraphs', value: null },
    { kind: 'tfrecord', value: null },
  ])('is read as one with records of %j', async (spec) => {
    const [whole, ...others] = await partsOf(spec, 1);
    expect(others).toEqual([]);
    expect(whole).not.toHaveProperty('members');
  });
});

describe('findCuts', () => {
  /** So many members. */
  function repeated(count: number): Buffer {
    const member = bgzfMember(content);
    return Buffer.alloc(count * member.byteLength, member);
  }

  it('knows nothing of other gzip, and of BGZF with other members', async () => {
    for (const bytes of [gzipSync(content), Buffer.concat([bgzfFile([content, content]), gzipSync(content)])]) {
      expect(await findCuts(await inputOf(bytes), lines, MUCH, 1, undefined)).toBeUndefined();
    }
    expect(mayBeCut(await inputOf(gzipSync(content)), lines)).toBe(false);
  });

  it('knows nothing of zstd with a frame that does not say its size, wherever it stands', async () => {
    for (const at of [0, 1, 2]) {
      const frames: Uint8Array[] = [zstdFrameOf(content), zstdFrameOf(content)];
      const input = await inputOf(Buffer.concat(frames.toSpliced(at, 0, undeclared.stored)));
      expect(mayBeCut(input, lines)).toBe(true);
      expect(await findCuts(input, lines, MUCH, 1, undefined), `at ${at}`).toBeUndefined();
    }
  });

  it('takes skippable frames of zstd for nothing, also at the beginning', async () => {
    const frame = zstdFrameOf(content);
    const input = await inputOf(Buffer.concat([skippable, frame, skippable, frame, skippable]));
    expect(await findCuts(input, lines, MUCH, 1, undefined)).toEqual({
      decodedBytes: 18,
      cutPoints: [{ start: 11, storedStart: 2 * skippable.byteLength + frame.byteLength, decodedStart: 9 }],
    });
  });

  it.each([BGZF, ZSTD])('looks for no end of a member that seems to be all: $name', async (format) => {
    const large = Buffer.alloc(65_000, content);
    const input = await inputOf(fileOf(format, [large, content, large]));
    const cut = (estimatedBytes: number) => findCuts(input, lines, estimatedBytes, 1, undefined);
    expect(await cut(65_000)).toBeUndefined();
    expect(await cut(65_001)).toMatchObject({ cutPoints: [{ decodedStart: 65_000 }, { decodedStart: 65_009 }] });
  });

  it('reads nothing but the beginning of what zstd made of a whole file', async () => {
    const input = await inputOf(zstdFrameOf(Buffer.alloc(4_000_000, content)));
    let readBytes = 0;
    fileCalls.replace({
      read: (fd, bytes, offset, byteLength, position) => {
        readBytes += byteLength;
        return systemFileCalls.read(fd, bytes, offset, byteLength, position);
      },
    });
    expect(await findCuts(input, lines, 4_000_000, 1, undefined)).toBeUndefined();
    expect(readBytes).toBeLessThan(300_000);
    expect(await findCuts(input, lines, 4_000_001, 1, undefined)).toMatchObject({ cutPoints: [] });
    expect(readBytes).toBeGreaterThan(3_000_000);
  });

  it.each([BGZF, ZSTD])('takes no place with nothing before it or behind it: $name', async (format) => {
    const { member } = format;
    const empty = new Uint8Array();
    const cuts = await findCuts(
      await inputOf(fileOf(format, [empty, content, empty, content, empty])),
      lines,
      MUCH,
      1,
      undefined,
    );
    expect(cuts).toEqual({
      decodedBytes: 18,
      cutPoints: [{ start: 11, storedStart: member(empty).byteLength + member(content).byteLength, decodedStart: 9 }],
    });
  });

  it('takes no place with less behind it than the framing looks back', async () => {
    const input = await inputOf(bgzfFile([content, Buffer.from('ab')]));
    const { cutPoints } =
      (await findCuts(input, framingOf({ kind: 'delimiter', value: '0d0a' }), MUCH, 1, undefined)) ?? {};
    expect(cutPoints).toEqual([]);
  });

  it('keeps no more points than it takes, of however many members', async () => {
    const members = 200_000;
    const input = await inputOf(repeated(members));
    const cuts = await findCuts(input, lines, MUCH, 1, undefined);
    expect(cuts?.decodedBytes).toBe(members * content.byteLength);
    const points = cuts?.cutPoints ?? [];
    expect(points.length).toBeLessThan(2 ** 16);
    expect(points.length).toBeGreaterThanOrEqual(2 ** 15);
    expect(points.at(-1)?.start).toBeGreaterThan(0.99 * members * content.byteLength);
    const few = await findCuts(input, lines, MUCH, members, undefined);
    expect(few?.cutPoints.length).toBeLessThanOrEqual(8 * 9);
    expect(few?.cutPoints.length).toBeGreaterThanOrEqual(8 * 9 - 9);
  });

  it('stops when the job is to stop', async () => {
    const abort = new AbortController();
    const input = await inputOf(repeated(500_000));
    setImmediate(() => abort.abort());
    await expect(findCuts(input, lines, MUCH, 1, abort.signal)).rejects.toBeInstanceOf(AbortError);
  });
});
