/**
 * How a job starts when an earlier attempt left files: it resumes only if asked to, never mixes the two, discards files
 * that can be resumed only by force, and silently removes the others.
 */
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { UsageError, VerificationError } from '#src/errors.js';
import type { ShuffleOptions } from '#src/index.js';
import { jsonOf, parseJson } from '#src/io/plain-data.js';
import { seal } from '#src/io/sealed-file.js';
import { type EarlierAttempt, findEarlier } from '#src/job/earlier-attempt.js';
import { completeShuffle } from '#src/job/request.js';
import { chooseSite, type FilesSite } from '#src/job/site.js';
import { JobDirectory } from '#src/job-directory/job-directory.js';
import { findJobHolder, looksLikeLock } from '#src/job-directory/job-lock.js';
import { type JobManifest, writeJobManifest } from '#src/job-directory/job-manifest.js';
import { type FinishedRange, writeFinishedRanges } from '#src/job-directory/notes.js';
import { type CommitJournal, writeJournal } from '#src/sinks/output-moves.js';
import { outputIdentityOf } from '#src/sinks/output-place.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';

const directory = useMemoryDirectory();
const held: JobDirectory[] = [];
afterEach(() => {
  for (const one of held.splice(0)) one.release();
});

const optionsOf = (options: Partial<ShuffleOptions>): ShuffleOptions => ({
  inputs: [],
  output: directory.path('out', 'result'),
  tempDirs: [directory.path('t')],
  ...options,
});

function placesOf(options: Partial<ShuffleOptions> = {}): FilesSite {
  const places = chooseSite(completeShuffle(optionsOf(options)), { inputs: [] });
  if (places.kind !== 'files') return expect.fail('the output is a file');
  return places;
}

interface Started {
  readonly directory: JobDirectory;
  readonly earlier: EarlierAttempt | undefined;
}

async function start(options: Partial<ShuffleOptions> = {}, mayResume?: false): Promise<Started> {
  const request = { ...completeShuffle(optionsOf(options)), ...(mayResume === false && { mayResume }) };
  const places = placesOf(options);
  const one = new JobDirectory(places.paths);
  try {
    const started = { directory: one, earlier: await findEarlier(request, places, one) };
    held.push(one);
    return started;
  } catch (error) {
    one.release();
    throw error;
  }
}

/** Without the fields that are undefined. */
const asRead = <T extends object>(value: T) => parseJson(jsonOf(value)) as T;

const manifest: JobManifest = {
  isResumable: true,
  spec: asRead(completeShuffle({ inputs: [], output: 'x', seed: 'seed' }).spec),
  inputIds: null,
  shareWeights: undefined,
  output: '',
  removesJobDirectory: true,
  tempDirs: ['/t'],
  inputs: { count: 1, digest: '', fingerprints: Buffer.alloc(32).toString('base64') },
  layout: { pileCount: 8, stripeCount: 2, sliceBytes: 100, sliceCount: 1, slicesDigest: '' },
};
const unsafe: JobManifest = { ...manifest, isResumable: false, inputs: { ...manifest.inputs, fingerprints: '' } };
const journal: CommitJournal = {
  outputIdentity: '',
  phase: 'move-aside',
  intoExisting: false,
  names: [],
  byteLengths: [1],
  replaced: [],
  records: 1,
  bytes: 1,
  checksum: '0'.repeat(16),
  splits: undefined,
};
const region = { shard: 0, start: 0, end: 5, recordBytes: 5, checksum: '0'.repeat(16), uploaded: undefined };
const run: FinishedRange = { first: 0, end: 1, regions: [region], ends: undefined, distinct: undefined };

interface Left {
  readonly manifest?: JobManifest | 'damaged' | 'of another version';
  readonly journal?: CommitJournal | 'damaged';
  readonly ranges?: readonly FinishedRange[] | 'damaged';
  /** Of a committed pile set. */
  readonly index?: boolean;
}

/** The files of a killed attempt. */
async function leave(left: Left, options: Partial<ShuffleOptions> = {}): Promise<FilesSite> {
  const places = placesOf(options);
  const made = new JobDirectory(places.paths);
  await made.makeDirectories(typeof left.manifest === 'object' && left.manifest.isResumable);
  const { jobDirectory } = places.paths;
  const { output } = places;
  if (typeof left.manifest === 'object')
    await writeJobManifest(jobDirectory, { ...left.manifest, output: output.path });
  else if (left.manifest === 'damaged') writeFileSync(join(jobDirectory, 'manifest'), '');
  else if (left.manifest !== undefined) writeFileSync(join(jobDirectory, 'manifest'), seal('job', 99, manifest));
  if (typeof left.journal === 'object')
    await writeJournal(jobDirectory, { ...left.journal, outputIdentity: outputIdentityOf(output) });
  else if (left.journal !== undefined) writeFileSync(join(jobDirectory, 'commit'), 'x');
  if (typeof left.ranges === 'object') await writeFinishedRanges(jobDirectory, 1, left.ranges);
  else if (left.ranges !== undefined) writeFileSync(join(jobDirectory, 'done-000001'), 'x');
  if (left.index === true) writeFileSync(join(jobDirectory, 'set-000000.index'), 'x');
  // A killed job leaves empty directories, too.
  writeFileSync(join(jobDirectory, ATTEMPT), '');
  made.release();
  return places;
}

/** As it was written for those places. */
const asLeft = (left: Left, { output }: FilesSite) => ({
  manifest: left.manifest && { ...manifest, ...Object(left.manifest), output: output.path },
  journal: left.journal && { ...Object(left.journal), outputIdentity: outputIdentityOf(output) },
});

const ATTEMPT = 'manifest.0123456789abcdef.attempt';
const namesIn = (path: string) => readdirSync(path).filter((name) => !looksLikeLock(name));
const isHeld = ({ paths }: FilesSite) =>
  existsSync(paths.jobDirectory) && findJobHolder(paths.jobDirectory) !== undefined;
/** Whether there is nothing of a job, now that it lets go. */
function isGone(): boolean {
  for (const one of held.splice(0)) one.release();
  return ['out', 't'].every((name) => readdirSync(directory.path(name)).length === 0);
}

beforeEach(() => {
  for (const name of ['out', 't']) mkdirSync(directory.path(name));
});

describe('where nothing was left', () => {
  it.each([{}, { resume: true }, { force: true }])('a job starts anew, and makes nothing yet: %j', async (options) => {
    const started = await start(options);
    expect(started).toMatchObject({ earlier: undefined, directory: { wasThere: false } });
    expect(isGone()).toBe(true);
  });
});

describe('what is of no use to anybody', () => {
  it.each([
    ['a job that was killed before it began', {}],
    ['a job that cannot be resumed', { manifest: { ...unsafe, layout: null } }],
    ['one that had written to disk', { manifest: unsafe, index: true }],
    ['one that was killed while it was removed', { journal }],
  ])('is removed: %s', async (_, left) => {
    for (const options of [{}, { resume: true }]) {
      const places = await leave(left);
      expect(await start(options)).toMatchObject({ earlier: undefined, directory: { wasThere: true } });
      expect(isHeld(places)).toBe(true);
      expect([places.paths.jobDirectory, places.paths.stagingDirectory].flatMap(namesIn)).toEqual([]);
      expect(isGone()).toBe(true);
    }
  });

  it('is removed from a directory that the user named, which stays in hand', async () => {
    const options = { jobDir: directory.path('named') };
    const places = await leave({}, options);
    writeFileSync(join(places.paths.jobDirectory, 'set-000001-ab.index'), 'pileset3');
    expect(await start(options)).toMatchObject({ earlier: undefined, directory: expect.any(JobDirectory) });
    expect(namesIn(places.paths.jobDirectory)).toEqual([]);
    expect(isHeld(places)).toBe(true);
  });
});

describe('what can be resumed', () => {
  const kinds: readonly [string, Left][] = [
    ['a job that can be resumed', { manifest, ranges: [run], index: true }],
    ['one that has done nothing yet', { manifest }],
    ['outputs that have started to move', { manifest: { ...unsafe, layout: null }, journal }],
  ];

  it.each(kinds)('is refused, and left as it is, when nobody says whether to: %s', async (_, left) => {
    const places = await leave(left);
    const before = namesIn(places.paths.jobDirectory);
    const started = start();
    await expect(started).rejects.toThrow(UsageError);
    await expect(started).rejects.toMatchObject({
      code: 'ERR_JOB_UNFINISHED',
      message: `an unfinished or kept job of ${directory.path('out', 'result')} exists in ${places.paths.jobDirectory}: give \`resume\` to resume it, or \`force\` to discard it`,
    });
    expect(namesIn(places.paths.jobDirectory)).toEqual(before);
    expect(isHeld(places)).toBe(false);
  });

  it.each(kinds)(
    'is refused by a job of a kind that cannot be resumed, which can only discard it: %s',
    async (_, left) => {
      const places = await leave(left);
      await expect(start({}, false)).rejects.toMatchObject({
        code: 'ERR_JOB_UNFINISHED',
        message: `an unfinished or kept job of ${directory.path('out', 'result')} exists in ${places.paths.jobDirectory}: give \`force\` to discard it`,
      });
      expect(isHeld(places)).toBe(false);
    },
  );

  it.each(kinds)('is taken up with --resume, also with --force: %s', async (_, left) => {
    const places = await leave(left);
    for (const force of [false, true]) {
      const started = await start({ resume: true, force });
      expect(started).toMatchObject({ earlier: asLeft(left, places) });
      const ranges = left.journal === undefined ? (left.ranges ?? []) : [];
      expect(started).toMatchObject({ earlier: { finished: { ranges, recordCount: ranges.length } } });
      expect(isHeld(places)).toBe(true);
      held.pop()?.release();
    }
  });

  it.each(kinds)('is to be discarded with --force, and still there: %s', async (_, left) => {
    const places = await leave(left);
    const before = namesIn(places.paths.jobDirectory);
    expect(await start({ force: true })).toMatchObject({ earlier: undefined, directory: expect.any(JobDirectory) });
    expect(namesIn(places.paths.jobDirectory)).toEqual(before);
    expect(isHeld(places)).toBe(true);
  });

  it('is nobody else’s while a process is at it, whatever is said', async () => {
    const places = await leave({ manifest });
    const other = new JobDirectory(places.paths);
    for (const options of [{}, { resume: true }, { force: true }]) {
      await expect(start(options)).rejects.toMatchObject({ code: 'ERR_JOB_LOCKED' });
    }
    other.release();
  });
});

describe('what is damaged', () => {
  it.each<[string, Left]>([
    ['a manifest beside pile sets', { manifest: 'damaged', index: true }],
    ['a manifest beside a note of moves', { manifest: 'damaged', journal }],
    ['pile sets without a manifest', { index: true }],
    ['a record of finished ranges', { manifest, ranges: 'damaged' }],
    ['a note of moves', { manifest, journal: 'damaged' }],
  ])('is told, and only discarded by force: %s', async (_, left) => {
    const places = await leave(left);
    const before = namesIn(places.paths.jobDirectory);
    const started = start({ resume: true });
    await expect(started).rejects.toThrow(VerificationError);
    await expect(started).rejects.toThrow(/ is damaged: .*; give `force` without `resume` to discard the job$/);
    expect(namesIn(places.paths.jobDirectory)).toEqual(before);
    expect(isHeld(places)).toBe(false);
    expect(await start({ force: true })).toMatchObject({ earlier: undefined });
  });

  it('is warned of where nothing had been done', async () => {
    const lines: string[] = [];
    await leave({ manifest: 'damaged' });
    expect(await start({ onWarning: (line) => lines.push(line) })).toMatchObject({ earlier: undefined });
    expect(isGone()).toBe(true);
    expect(lines).toEqual([
      expect.stringMatching(
        / is damaged: .*; nothing was done yet, and the job starts anew, with a new seed if it draws one$/,
      ),
    ]);
  });

  it('is not told of records that the moves make superfluous', async () => {
    await leave({ manifest, journal, ranges: 'damaged' });
    expect(await start({ resume: true })).toMatchObject({ earlier: { journal: { checksum: journal.checksum } } });
  });

  it('is distinguished from files of another version', async () => {
    const places = await leave({ manifest: 'of another version' });
    for (const options of [{}, { resume: true }]) {
      await expect(start(options)).rejects.toMatchObject({ code: 'ERR_JOB_VERSION' });
    }
    expect(isHeld(places)).toBe(false);
    expect(await start({ force: true })).toMatchObject({ earlier: undefined });
  });
});

describe('outputs that are staged by a job with another job directory', () => {
  const elsewhere = () => ({ tempDirs: [directory.path('u')] });
  beforeEach(() => mkdirSync(directory.path('u')));

  it('are those of an unfinished job, which is named', async () => {
    const places = await leave({ manifest }, elsewhere());
    for (const options of [
      {},
      { resume: true },
      { resume: true, force: true },
      { force: true },
      { jobDir: directory.path('named') },
    ]) {
      await expect(start(options)).rejects.toMatchObject({
        code: 'ERR_JOB_UNFINISHED',
        message: expect.stringContaining(
          `exists in ${places.paths.jobDirectory}: give the \`tempDirs\` or \`jobDir\` of that job, and \`resume\` to resume it or \`force\` to discard it`,
        ),
      });
    }
    expect(existsSync(join(places.paths.jobDirectory, 'manifest'))).toBe(true);
  });

  it('are not touched while that job ranges', async () => {
    const places = await leave({ manifest }, elsewhere());
    const other = new JobDirectory(places.paths);
    for (const options of [{}, { resume: true }, { force: true }]) {
      await expect(start(options)).rejects.toMatchObject({
        code: 'ERR_JOB_LOCKED',
        message: expect.stringContaining(` is held by process ${process.pid} on `),
      });
    }
    expect(readdirSync(directory.path('t'))).toEqual([]);
    other.release();
  });

  it('are nobody’s when they do not say whose they are', async () => {
    const { paths } = await leave({ manifest }, elsewhere());
    writeFileSync(join(paths.stagingDirectory, 'owner'), '');
    expect(await start()).toMatchObject({ earlier: undefined });
    expect(namesIn(paths.stagingDirectory)).toEqual([]);
  });

  it('are not looked at where others could have planted them', async () => {
    mkdirSync(placesOf().paths.stagingDirectory, { mode: 0o755 });
    await expect(start({ force: true })).rejects.toMatchObject({ code: 'ERR_TEMP_DIR' });
  });
});
