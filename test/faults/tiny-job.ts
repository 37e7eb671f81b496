/**
 * A job of some hundred file calls that has of everything several all the same (inputs, one of them
 * compressed, splits an input, temp directories, stripes, segments a pile, shards), in each of the places
 * where an output can appear; so small that it can be done again for every one of its calls.
 */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect } from 'vitest';
import { type ShuffleOptions, type ShuffleReport, shuffle, type Tuning } from '#src/index.js';
import { referenceOrder } from '../laws/reference-order.js';

const SEED = 'tiny';

const TEXTS = ['plain', 'compressed', 'short'].map((name, i) =>
  Buffer.from(Array.from({ length: [90, 60, 7][i] ?? 0 }, (_, line) => `${name} ${line * 7919}\n`).join('')),
);
const EXPECTED = Buffer.concat(referenceOrder(TEXTS, SEED)).toString('latin1');

/** All on the calling thread, so that every call passes the table that a test has put in place. */
const TUNING: Tuning = {
  pileCount: 4,
  bufferBytes: 400,
  readBytes: 512,
  outputBytes: 1500,
  splitBytes: 800,
  stripeCount: 2,
  keepInRam: false,
  inline: true,
};

/** One way to do the tiny job. */
export interface TinyJobKind {
  readonly name: string;
  readonly tuning: Tuning;
  readonly shards: boolean;
  /** Makes what is there before; the job then replaces it. Undefined: nothing is, and it need not be forced. */
  readonly makeFormer?: (output: string) => void;
}

const writeFormerFile = (output: string) => writeFileSync(output, 'former\n');

function writeFormerShards(output: string): void {
  mkdirSync(output);
  const shards = ['shard-00000-of-00002', 'shard-00001-of-00002', 'shard-00001-of-00003'];
  for (const name of [...shards, 'bystander']) writeFileSync(join(output, name), `former ${name}\n`);
}

export const TINY_JOBS: readonly TinyJobKind[] = [
  { name: 'a file, in memory', tuning: { ...TUNING, keepInRam: true }, shards: false },
  { name: 'a file, on disk', tuning: TUNING, shards: false },
  { name: 'a file that replaces one, on disk', tuning: TUNING, shards: false, makeFormer: writeFormerFile },
  { name: 'shards in a new directory, in memory', tuning: { ...TUNING, keepInRam: true }, shards: true },
  { name: 'shards in a new directory, on disk', tuning: TUNING, shards: true },
  { name: 'shards that replace others, on disk', tuning: TUNING, shards: true, makeFormer: writeFormerShards },
];

/**
 * Whether a job that was stopped can be gone on with, so that nothing is left of it in the end. Where it
 * cannot, it is done again from its beginning.
 */
export const finishesWhatIsLeft: boolean = false;

/** Text of each file by its path below the output's directory. */
export type Content = Readonly<Record<string, string>>;

export class TinyJob {
  readonly kind: TinyJobKind;
  /** What the job may change: temp directories and the directory of the output. */
  readonly root: string;
  readonly inputs: readonly string[];
  /** What the user was told by way of warnings, in all runs since `begin`. */
  readonly warnings: string[] = [];

  constructor(kind: TinyJobKind, root: string, inputs: readonly string[]) {
    this.kind = kind;
    this.root = root;
    this.inputs = inputs;
  }

  get output(): string {
    return join(this.root, 'out', 'result');
  }

  get options(): ShuffleOptions {
    return {
      inputs: this.inputs,
      output: this.output,
      tempDirs: [join(this.root, 'temp-0'), join(this.root, 'temp-1')],
      memoryBytes: 2 ** 24,
      workers: 1,
      seed: SEED,
      force: this.kind.makeFormer !== undefined,
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

  /** Does what is still to be done after a run that was stopped. */
  async finish(): Promise<void> {
    await this.run(finishesWhatIsLeft ? { resume: true } : { force: true });
  }

  /** Whether a call concerns the job: its inputs, temp files and output, and its file in memory. */
  readonly watches = (path: string): boolean =>
    path === this.root || path.startsWith(`${this.root}/`) || this.inputs.includes(path) || isInMemory(path);

  /** What can be seen of the output, but for what is named as hidden. */
  content(): Content {
    return Object.fromEntries(
      filesBelow(join(this.root, 'out'))
        .filter((path) => !isHidden(path))
        .map((path) => [path, readFileSync(join(this.root, 'out', path), 'latin1')]),
    );
  }

  /** Paths of all that a job leaves besides its output: what lies in temp directories, and what is hidden. */
  leftovers(): string[] {
    return filesAndDirectoriesBelow(this.root).filter((path) => /^temp-\d\//.test(path) || isHidden(path));
  }

  /** What an undisturbed job makes of `prepare`, once it has been seen to be right. */
  async expectedContent(): Promise<Content> {
    this.prepare();
    await this.run();
    const content = this.content();
    const names = Object.keys(content).filter((name) => /^result(\/shard-\d+-of-\d+)?$/.test(name));
    expect(names).toHaveLength(this.kind.shards ? 3 : 1);
    expect(names.sort().map((name) => content[name]).join('')).toBe(EXPECTED);
    expect(this.leftovers()).toEqual([]);
    return content;
  }
}

const isInMemory = (path: string) => path === '/dev/shm' || path.startsWith('/dev/shm/.pileshuf-');

function isHidden(path: string): boolean {
  return path.split('/').some((name) => name.startsWith('.'));
}

function filesAndDirectoriesBelow(root: string): string[] {
  return readdirSync(root, { recursive: true }).map(String).sort();
}

function filesBelow(root: string): string[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .sort();
}

export interface TinyJobs {
  of(kind: TinyJobKind): TinyJob;
}

/** Registers a directory for all tests of the file: in memory where there is such a place, for each job syncs. */
export function useTinyJobs(): TinyJobs {
  let directory = '';
  beforeAll(() => {
    directory = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'pileshuf-test-'));
    mkdirSync(join(directory, 'inputs'));
    for (const [i, text] of TEXTS.entries()) writeFileSync(inputPath(i), i === 1 ? gzipSync(text) : text);
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));
  const inputPath = (i: number) => join(directory, 'inputs', `${i}`);
  return {
    of: (kind) =>
      new TinyJob(
        kind,
        join(directory, 'job'),
        TEXTS.map((_, i) => inputPath(i)),
      ),
  };
}
