/**
 * A job of some hundred file calls that has of everything several all the same (inputs, one of them
 * compressed, splits an input, temp directories, stripes, segments a pile, shards), in each of the places
 * where an output can appear; so small that it can be done again for every one of its calls.
 */
import { createHash, randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect } from 'vitest';
import { type ShuffleOptions, type ShuffleReport, shuffle, type Tuning, UsageError } from '#src/index.js';
import { referenceOrder } from '../laws/reference-order.js';

/**
 * Whether a job that was stopped can be gone on with, so that nothing is left of it in the end. Where it
 * cannot, it is done again from its beginning.
 */
export const canGoOn: boolean = true;

const SEED = 'tiny';

function makeTexts(lineCounts: readonly number[], rest = ''): Buffer[] {
  return ['plain', 'compressed', 'short'].map((name, i) =>
    Buffer.from(Array.from({ length: lineCounts[i] ?? 0 }, (_, line) => `${name} ${line * 7919}${rest}\n`).join('')),
  );
}

const FEW_LINES = [90, 60, 7];
const MANY_LINES = [1500, 900, 7];
/** More than the 16 MiB from which on outputs are written around the page cache. */
const MEBIBYTES = { lineCounts: [200, 60, 7], rest: '.'.repeat(64 * 1024) };

/** All on the calling thread, so that every call passes the table that a test has put in place. */
const ON_DISK: Tuning = {
  pileCount: 4,
  bufferBytes: 400,
  readBytes: 512,
  outputBytes: 1500,
  splitBytes: 800,
  stripeCount: 2,
  keepInRam: false,
  inline: true,
};
const IN_MEMORY: Tuning = { ...ON_DISK, keepInRam: true };

/** One way to do the tiny job. */
export interface TinyJobKind {
  readonly name: string;
  readonly tuning: Tuning;
  readonly shards?: boolean;
  /** Makes what is there before; the job then replaces it. Undefined: nothing is, and it need not be forced. */
  readonly makeFormer?: (output: string) => void;
  /** Whether the job can be gone on with from the first; others can only be done again. */
  readonly resumable?: boolean;
  /** Default: few lines. */
  readonly makeInputs?: () => Buffer[];
}

const writeFormerFile = (output: string) => writeFileSync(output, 'former\n');

function writeFormerShards(output: string): void {
  mkdirSync(output);
  const shards = ['shard-00000-of-00002', 'shard-00001-of-00002', 'shard-00001-of-00003'];
  for (const name of [...shards, 'bystander']) writeFileSync(join(output, name), `former ${name}\n`);
}

const ON_DISK_JOBS: readonly TinyJobKind[] = [
  { name: 'a file, on disk', tuning: ON_DISK },
  { name: 'a file that replaces one, on disk', tuning: ON_DISK, makeFormer: writeFormerFile },
  { name: 'shards in a new directory, on disk', tuning: ON_DISK, shards: true },
  { name: 'shards that replace others, on disk', tuning: ON_DISK, shards: true, makeFormer: writeFormerShards },
];

/** Of which everything survives that a step of theirs has made durable. */
export const RESUMABLE_JOBS: readonly TinyJobKind[] = ON_DISK_JOBS.map((kind) => ({
  ...kind,
  name: `${kind.name}, resumable`,
  resumable: true,
}));

export const TINY_JOBS: readonly TinyJobKind[] = [
  { name: 'a file, in memory', tuning: IN_MEMORY },
  { name: 'shards in a new directory, in memory', tuning: IN_MEMORY, shards: true },
  ...ON_DISK_JOBS,
  ...(canGoOn ? RESUMABLE_JOBS : []),
  {
    name: 'piles that are split again, on disk',
    tuning: {
      ...ON_DISK,
      pileCount: 2,
      bufferBytes: 4000,
      splitBytes: 12_000,
      readBytes: 4096,
      pass2ArenaBytes: 2 ** 16,
    },
    makeInputs: () => makeTexts(MANY_LINES),
  },
];

/** Its output is written around the page cache, where the file system can. */
export const LARGE_JOB: TinyJobKind = {
  name: 'a large file, written directly',
  tuning: { keepInRam: true, inline: true, outputBytes: 2 ** 22, pileCount: 2 },
  makeInputs: () => makeTexts(MEBIBYTES.lineCounts, MEBIBYTES.rest),
};

/** What each file holds, in short, by its path below the output's directory. */
export type Content = Readonly<Record<string, string>>;

export class TinyJob {
  readonly kind: TinyJobKind;
  /** What the job may change: temp directories and the directory of the output. */
  readonly root: string;
  readonly #texts: readonly Buffer[];
  readonly inputs: readonly string[];
  /** What the user was told by way of warnings since `prepare`. */
  readonly warnings: string[] = [];

  /** Writes the inputs beside `root`. */
  constructor(kind: TinyJobKind, root: string) {
    this.kind = kind;
    this.root = root;
    this.#texts = (kind.makeInputs ?? (() => makeTexts(FEW_LINES)))();
    this.inputs = this.#texts.map((text, i) => {
      const path = `${root}-input-${i}`;
      writeFileSync(path, i === 1 ? gzipSync(text) : text);
      return path;
    });
  }

  get replacesShards(): boolean {
    return this.kind.shards === true && this.kind.makeFormer !== undefined;
  }

  get outputDirectory(): string {
    return join(this.root, 'out');
  }

  get output(): string {
    return join(this.outputDirectory, 'result');
  }

  /** Whether outputs are staged, or were and have just got their names. */
  get isStaged(): boolean {
    return this.leftovers().some((path) => path.endsWith('.part'));
  }

  get options(): ShuffleOptions {
    return {
      inputs: this.inputs,
      output: this.output,
      tempDirs: [join(this.root, 'temp-0'), join(this.root, 'temp-1')],
      memoryBytes: 2 ** 27,
      workers: 1,
      seed: SEED,
      force: this.kind.makeFormer !== undefined,
      resume: this.kind.resumable ?? false,
      shards: this.kind.shards ? { by: 'count', shardCount: 3 } : undefined,
      onWarning: (line) => this.warnings.push(line),
    };
  }

  /** Makes everything as it is before the job. */
  prepare(): void {
    rmSync(this.root, { recursive: true, force: true });
    for (const name of ['temp-0', 'temp-1', 'out']) mkdirSync(join(this.root, name), { recursive: true });
    this.kind.makeFormer?.(this.output);
    this.warnings.length = 0;
  }

  run(more: Partial<ShuffleOptions> = {}): Promise<ShuffleReport> {
    return shuffle({ ...this.options, ...more }, this.kind.tuning);
  }

  /**
   * Does what is still to be done after a run that was stopped.
   * @returns undefined: nothing is. A job that was stopped when its output had appeared may have left no word
   *   of it, and is then refused for its own output.
   */
  async finish(expected: Content): Promise<ShuffleReport | undefined> {
    try {
      return await this.run(canGoOn ? { resume: true } : { force: true });
    } catch (error) {
      const isRefused = error instanceof UsageError && error.code === 'ERR_OUTPUT_EXISTS';
      if (isRefused && isDeepStrictEqual(this.content(), expected)) return undefined;
      throw error;
    }
  }

  /** Makes locks look like those of a process that is no more: with a token that this one never gave. */
  disownLocks(): void {
    for (const name of readdirSync(this.root, { recursive: true }).map(String)) {
      if (!basename(name).startsWith('lock+')) continue;
      const path = join(this.root, name);
      renameSync(path, path.replace(/[0-9a-f]{16}$/, randomBytes(8).toString('hex')));
    }
  }

  /** Whether a call concerns the job: its inputs, temp files and output, and its file in memory. */
  readonly watches = (path: string): boolean =>
    path === this.root || path.startsWith(`${this.root}/`) || this.inputs.includes(path) || isInMemory(path);

  /** What can be seen of the output, but for what is named as hidden. */
  content(): Content {
    const paths = filesBelow(join(this.root, 'out')).filter((path) => !isHidden(path));
    return Object.fromEntries(paths.map((path) => [path, inShort(this.#read(path))]));
  }

  /**
   * Expects that whatever is seen of the output is whole, at a moment at which the job was stopped. Shards that
   * replace others do so one after the other; all others appear at one time.
   */
  expectNothingHalf(former: Content, expected: Content): void {
    const content = this.content();
    if (!this.replacesShards) {
      expect([former, expected]).toContainEqual(content);
      return;
    }
    for (const [name, found] of Object.entries(content)) {
      expect([former[name], expected[name]], name).toContain(found);
    }
  }

  /** Paths of all that a job leaves besides its output: what lies in temp directories, and what is hidden. */
  leftovers(): string[] {
    return readdirSync(this.root, { recursive: true })
      .map(String)
      .filter((path) => /^temp-\d\//.test(path) || isHidden(path))
      .sort();
  }

  /** What an undisturbed job makes of `prepare`, once it has been seen to be right. */
  async expectedContent(): Promise<Content> {
    this.prepare();
    await this.run();
    const content = this.content();
    const names = Object.keys(content).filter((name) => /^result(\/shard-\d+-of-00003)?$/.test(name));
    expect(names).toHaveLength(this.kind.shards ? 3 : 1);
    const inOrder = Buffer.concat(names.sort().map((name) => this.#read(name)));
    expect(inOrder.equals(Buffer.concat(referenceOrder(this.#texts, SEED)))).toBe(true);
    expect(this.leftovers()).toEqual([]);
    return content;
  }

  #read(path: string): Buffer {
    return readFileSync(join(this.root, 'out', path));
  }
}

const isInMemory = (path: string) => path === '/dev/shm' || path.startsWith('/dev/shm/.pileshuf-');

function isHidden(path: string): boolean {
  return path.split('/').some((name) => name.startsWith('.'));
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
    directory = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'pileshuf-test-'));
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));
  return { of: (kind) => new TinyJob(kind, join(directory, 'job')) };
}
