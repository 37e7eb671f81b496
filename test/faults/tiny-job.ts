/**
 * A job of a few hundred file calls that still has several of everything: inputs (two of them compressed), slices an
 * input, temp directories, stripes, segments a pile, shards. It can write to every kind of output. It is so small that
 * a test can repeat it for each of its calls.
 */
import { createHash } from 'node:crypto';
import {
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect } from 'vitest';
import { type ShuffleOptions, type ShuffleReport, shuffle, shuffleTogether, UsageError } from '#src/index.js';
import { fastPlace } from '../fixtures/fast-place.js';
import { makePipe } from '../fixtures/make-pipe.js';
import { bgzfOf } from '../formats/codecs/bgzf-file.js';
import { orderRecords, recordsOf, uniqueOrder } from '../laws/reference-order.js';
import { ALL_LOST, DiskModel, type DiskState } from './disk-model.js';
import { killBefore, lastCall } from './stopped-attempt.js';
import { CALL_AT, FEW_LINES, makeTexts, type TinyJobKind, VALUES } from './tiny-job-kinds.js';

const SEED = 'tiny';
const HEADER = 'header\nof two lines\n';

/** By the ordinal of the input: one that is read whole, and one that is cut between its members. */
const STORED: Readonly<Record<number, (text: Buffer) => Uint8Array>> = {
  1: (text) => gzipSync(text),
  2: (text) => bgzfOf(text, [Math.ceil(text.byteLength / 4)]),
};

/** What each file holds, in short, by its path below the output's directory. */
export type Content = Readonly<Record<string, string>>;

/** Aligned files tell less. */
type TinyReport = Pick<ShuffleReport, 'records'> & Partial<Pick<ShuffleReport, 'resumed' | 'duplicates'>>;

/** How what was stopped is ended. */
export type Ending = '--resume' | '--force';

export class TinyJob {
  readonly kind: TinyJobKind;
  /** What the job may change: temp directories and the directory of the output. */
  readonly root: string;
  readonly #texts: readonly Buffer[];
  readonly inputs: readonly string[];
  /** What the user was told by way of warnings since `prepare`. */
  readonly warnings: string[] = [];
  /** The files of an earlier attempt. */
  #before: DiskState | undefined;
  #former: Content = {};
  #records = 0;
  /** What a pipe has delivered, and what that of an undisturbed job delivers. */
  #received = Buffer.of();
  #whole = Buffer.of();

  /** Writes the inputs beside `root`. */
  constructor(kind: TinyJobKind, root: string) {
    this.kind = kind;
    this.root = root;
    this.#texts = (kind.makeInputs ?? (() => makeTexts(FEW_LINES)))();
    this.inputs = this.#texts.map((text, i) => {
      const path = `${root}-input-${i}`;
      const bytes = Buffer.concat([this.#header, text]);
      writeFileSync(path, STORED[i]?.(bytes) ?? bytes);
      return path;
    });
  }

  get #header(): Buffer {
    return Buffer.from(this.kind.header ? HEADER : '');
  }

  /** Of each output. */
  get storedHeaderBytes(): number {
    const header = this.#header;
    if (this.kind.compress === undefined || header.byteLength === 0) return header.byteLength;
    return gzipSync(header, { level: 0 }).byteLength;
  }

  /** Whether outputs get their names one after the other. */
  get movesSeveral(): boolean {
    const { shards, makeFormer, isAligned, isSectioned } = this.kind;
    return shards === true && makeFormer !== undefined && !isAligned && !isSectioned;
  }

  get outputDirectory(): string {
    return join(this.root, 'out');
  }

  /** A pipe lies beside the root: it is there before the job and stays. */
  get output(): string {
    return this.kind.isPiped ? `${this.root}-pipe` : join(this.outputDirectory, 'result');
  }

  /** What was under final names before the first run of the job. */
  get former(): Content {
    return this.#former;
  }

  /** How many records an undisturbed job writes. */
  get records(): number {
    return this.#records;
  }

  /** Whether outputs are staged, or were and have just got their names. */
  get isStaged(): boolean {
    return this.leftovers().some((path) => path.endsWith('.part'));
  }

  /** Whether the note is being made that the job has ended: its output is durable. */
  get isEnding(): boolean {
    return this.leftovers().some((path) => /\bended\b/.test(path));
  }

  get options(): ShuffleOptions {
    const { kind } = this;
    return {
      inputs: this.inputs,
      output: this.output,
      ...(kind.jobDir
        ? { jobDir: join(this.root, 'job-dir') }
        : { tempDirs: [join(this.root, 'temp-0'), join(this.root, 'temp-1')] }),
      memoryBytes: 2 ** 27,
      workers: this.kind.workers ?? 1,
      seed: SEED,
      force: kind.force ?? false,
      ...(kind.datasetCard === true && { datasetCard: true }),
      ...(kind.sums === true && { sums: true }),
      resume: kind.resumable ?? false,
      shards: shardRuleOf(kind),
      compress: kind.compress,
      tempCompress: kind.tempCompress,
      header: kind.header ? { lines: 2 } : undefined,
      headCount: kind.headCount,
      unique: kind.unique,
      each: kind.isSectioned ? 'v=/([89]?)$/' : undefined,
      onWarning: (line) => this.warnings.push(line),
    };
  }

  /** Makes everything as it is before the job. */
  prepare(): void {
    rmSync(this.root, { recursive: true, force: true });
    mkdirSync(this.root);
    if (this.#before === undefined) this.#prepareFirstRun();
    else this.#before.writeTo(this.root);
    this.warnings.length = 0;
    this.#received = Buffer.of();
  }

  #prepareFirstRun(): void {
    for (const name of ['temp-0', 'temp-1', 'out']) mkdirSync(join(this.root, name));
    this.kind.makeFormer?.(this.output);
    if (this.kind.isPiped && !existsSync(this.output)) makePipe(this.output);
  }

  run(more: Partial<ShuffleOptions> = {}): Promise<TinyReport> {
    const options = { ...this.options, ...more };
    if (this.kind.isAligned) return this.#runAligned(options);
    return this.kind.isPiped ? this.#runIntoPipe(options) : shuffle(options, this.kind.tuning);
  }

  #runAligned({ inputs, output = '', headCount: _, header: __, unique: ___, each: ____, ...options }: ShuffleOptions) {
    const together = [inputs.map(String)];
    // One that cannot be resumed is discarded by force alone.
    const { resumable = false } = this.kind;
    const how = { force: options.force || !resumable, resume: options.resume && resumable };
    return shuffleTogether({ ...options, ...how, output, together }, this.kind.tuning);
  }

  /** The pipe holds more than all of the output. */
  async #runIntoPipe(options: ShuffleOptions): Promise<ShuffleReport> {
    const reader = openSync(this.output, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      return await shuffle(options, this.kind.tuning);
    } finally {
      const bytes = Buffer.alloc(2 ** 20);
      this.#received = Buffer.from(bytes.subarray(0, readSync(reader, bytes)));
      closeSync(reader);
    }
  }

  /**
   * Finishes a job whose attempt was stopped.
   * @returns undefined if the job was already finished. A job that was stopped after its output had appeared has left no
   *   trace of itself, or cannot be resumed; its own output then makes the command refuse.
   */
  async finish(expected: Content, ending: Ending = '--resume'): Promise<TinyReport | undefined> {
    const isWithoutTrace = this.kind.resumable !== true || this.leftovers().length === 0;
    try {
      return await this.run(ending === '--force' ? { force: true, resume: false } : { resume: true });
    } catch (error) {
      const isRefused = error instanceof UsageError && error.code === 'ERR_OUTPUT_EXISTS';
      if (isRefused && isWithoutTrace && isDeepStrictEqual(this.content(), expected)) return undefined;
      throw error;
    }
  }

  /**
   * As `finish`, with `--resume`: nothing is done again that was committed, and nobody is told of anything that
   * is not as it should be.
   */
  async finishQuietly(expected: Content): Promise<TinyReport | undefined> {
    this.warnings.length = 0;
    const committed = this.leftovers().filter((path) => /\/set-\d+\.index$/.test(path)).length;
    const isMoving = this.leftovers().some((path) => /(\.job|job-dir)\/commit$|\.ended$/.test(path));
    const report = await this.finish(expected);
    // That temp directories are in memory is the test's doing.
    const warnings = this.warnings.filter((line) => !line.includes(' in memory (tmpfs)'));
    expect(warnings, 'warnings when it went on').toEqual([]);
    if (report?.resumed !== undefined && !isMoving)
      expect(report.resumed.pileSets, 'slices taken over').toBe(committed);
    return report;
  }

  /** As `disownLocksBelow`. */
  disownLocks(): void {
    disownLocksBelow(this.root);
  }

  /** Whether a call concerns the job: its inputs, temp files and output, and its file in memory. */
  readonly watches = (path: string): boolean =>
    path === this.root || path === this.output || path.startsWith(`${this.root}/`) || this.inputs.includes(path);

  /**
   * What can be seen of the output, but for what is named as hidden. Compressed shards are the same bytes only if the
   * settings are the same.
   */
  content(): Content {
    return this.kind.isPiped ? { pipe: inShort(this.#received) } : this.#visible((path) => this.#read(path));
  }

  /** The same, each shard decoded: what the seed and the inputs alone decide. */
  decodedContent(): Content {
    return this.#visible((path) => this.#decode(path));
  }

  #visible(bytesOf: (path: string) => Buffer): Content {
    const paths = filesBelow(this.outputDirectory).filter((path) => !liesInJob(path));
    return Object.fromEntries(paths.map((path) => [path, inShort(bytesOf(path))]));
  }

  /**
   * Expects that whatever is seen of the output is whole, at a moment at which the job was stopped. Shards in a
   * directory that was there get their names one after the other, and a file gets its name just after its sums; all others
   * appear at one time. What was there before is somewhere, until all is there that takes its place. What a pipe got is the beginning of the whole.
   */
  expectNothingHalf(expected: Content): void {
    const content = this.content();
    if (this.kind.isPiped) {
      expect(this.#whole.subarray(0, this.#received.length).equals(this.#received), 'received').toBe(true);
      return;
    }
    if (!this.movesSeveral) {
      const sums = Object.entries(expected).filter(([name]) => name.endsWith('.sha256'));
      const withSums = { ...this.#former, ...Object.fromEntries(sums) };
      expect([this.#former, withSums, expected]).toContainEqual(content);
      return;
    }
    for (const [name, found] of Object.entries(content)) {
      expect([this.#former[name], expected[name]], name).toContain(found);
    }
    if (isDeepStrictEqual(content, expected)) return;
    const aside = this.#aside();
    for (const [name, found] of Object.entries(this.#former)) {
      expect([content[name], aside[name]], `the former ${name}`).toContain(found);
    }
  }

  /** What was moved out of the way, by its former path. */
  #aside(): Content {
    const moved = filesBelow(this.outputDirectory).flatMap((path) => {
      const name = /^\.pileshuf-[0-9a-f]+\.out\/replaced\/(.+)$/.exec(path)?.[1];
      return name === undefined ? [] : [[`result/${name}`, inShort(this.#read(path))] as const];
    });
    return Object.fromEntries(moved);
  }

  /** Paths of all files that a job leaves besides its output: in temp directories, and hidden ones. */
  leftovers(): string[] {
    return readdirSync(this.root, { recursive: true })
      .map(String)
      .filter((path) => /^(temp-\d|job-dir)\//.test(path) || liesInJob(path))
      .sort();
  }

  /**
   * The content that an undisturbed job leaves, after checking it. From then on, `prepare` makes the files of an earlier
   * attempt if the kind has one.
   */
  async expectedContent(): Promise<Content> {
    this.#before = undefined;
    this.prepare();
    this.#former = this.content();
    this.#records = (await this.run()).records;
    this.#whole = this.#received;
    const content = this.content();
    for (const [outputs, records] of this.#outputsAndRecords(Object.keys(content))) {
      expect(outputs).toHaveLength(this.kind.shards ? 3 : 1);
      const header = this.#header;
      const bodies = outputs.sort().map((name) => {
        const bytes = this.#decode(name);
        expect(bytes.subarray(0, header.byteLength).equals(header)).toBe(true);
        return bytes.subarray(header.byteLength);
      });
      expect(Buffer.concat(bodies).equals(Buffer.concat(records))).toBe(true);
    }
    expect(this.leftovers()).toEqual([]);
    await this.#makeBefore();
    return content;
  }

  /** The files of the output, or of each member, and the records that they must hold. */
  #outputsAndRecords(names: string[]): [outputs: string[], records: readonly Buffer[]][] {
    const texts = this.#texts.map((text) => recordsOf(text, 0x0a));
    if (this.kind.isAligned)
      return texts.map((records, i) => [
        names.filter((name) => name.startsWith(`result/${basename(this.inputs[i] ?? '')}`)),
        orderRecords([records], SEED, [], undefined, 'ordinal'),
      ]);
    const starts = texts.map(() => this.#header.byteLength);
    const ordered = this.kind.unique ? uniqueOrder(texts.flat(), SEED) : orderRecords(texts, SEED, starts);
    const outputs = names.filter((name) => /^(pipe|result(\/shard-\d+-of-00003(\.gz)?)?)$/.test(name));
    if (!this.kind.isSectioned) return [[outputs, ordered.slice(0, this.kind.headCount)]];
    return VALUES.map((value) => [
      names.filter((name) => name.startsWith(`result/v=${value || '__HIVE_DEFAULT_PARTITION__'}/`)),
      ordered.filter((record) => (/[89]?$/m.exec(record.toString())?.[0] ?? '') === value),
    ]);
  }

  async #makeBefore(): Promise<void> {
    const { before } = this.kind;
    if (before === undefined) return;
    const firstRun = () => {
      this.prepare();
      return () => this.run({ resume: before.resumable });
    };
    const nth = await lastCall(CALL_AT[before.at], this.watches, firstRun());
    await killBefore(nth, this.watches, firstRun());
    this.disownLocks();
    expect(this.leftovers().length).toBeGreaterThan(3);
    this.#before = new DiskModel(this.root).stateAfter(0, ALL_LOST);
  }

  #read(path: string): Buffer {
    return readFileSync(join(this.outputDirectory, path));
  }

  #decode(path: string): Buffer {
    const stored = this.kind.isPiped ? this.#received : this.#read(path);
    return this.kind.compress === undefined || path.endsWith('.json') ? stored : gunzipSync(stored);
  }
}

/** Makes locks look like those of a process that is no more: with a token that this one never gave. */
export function disownLocksBelow(root: string): void {
  for (const name of readdirSync(root, { recursive: true }).map(String)) {
    if (!basename(name).startsWith('lock+')) continue;
    const former = (token: string) => createHash('sha1').update(token).digest('hex').slice(0, 16);
    renameSync(join(root, name), join(root, name.replace(/[0-9a-f]{16}$/, former)));
  }
}

function shardRuleOf({ shards, shardBytes }: TinyJobKind): ShuffleOptions['shards'] {
  if (!shards) return undefined;
  return shardBytes === undefined ? { by: 'count', shardCount: 3 } : { by: 'bytes', maxShardBytes: shardBytes };
}

function liesInJob(path: string): boolean {
  return path.split('/').some((name) => name.startsWith('.pileshuf-'));
}

function filesBelow(root: string): string[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .sort();
}

function inShort(bytes: Buffer): string {
  return `${bytes.byteLength} bytes ${createHash('sha1').update(bytes).digest('hex').slice(0, 10)}`;
}

export interface TinyJobs {
  of(kind: TinyJobKind): TinyJob;
}

/** Registers a directory for all tests of the file: in memory where there is such a place, for each job syncs. */
export function useTinyJobs(): TinyJobs {
  let directory = '';
  beforeAll(() => {
    directory = mkdtempSync(join(fastPlace(), 'pileshuf-test-'));
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));
  return { of: (kind) => new TinyJob(kind, join(directory, 'job')) };
}
