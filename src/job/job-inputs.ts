/**
 * From the inputs as they were named to the inputs as they are: directories and patterns expanded,
 * each file's version taken, its codec recognised.
 */
import { InputError, UsageError } from '../errors.js';
import type { Codec } from '../formats/codec.js';
import { CODEC_HEAD_BYTES, detectCodec } from '../formats/codec-table.js';
import { type FileVersion, openForRead, readAt, versionOf, withFile } from '../io/files.js';
import { STANDARD_INPUT } from '../io/input-source.js';
import { isPattern, listDirectory, listMatches, statPath } from '../io/list-files.js';

/** One input; its place in the list is its ordinal. */
export type JobInput =
  | {
      readonly kind: 'file';
      readonly path: string;
      readonly version: FileVersion;
      /** Undefined: plain bytes. */
      readonly codec: Codec | undefined;
    }
  | { readonly kind: 'stream'; readonly path: string };

export interface JobInputs {
  readonly inputs: readonly JobInput[];
  /** Directories that were given; no output or temp file may lie below them. */
  readonly directories: readonly string[];
}

export async function listInputs(named: readonly string[], onWarning: (line: string) => void): Promise<JobInputs> {
  const inputs: JobInput[] = [];
  const directories: string[] = [];
  const seen = new Map<string, string>();
  const add = (path: string) => {
    const input = openInput(path);
    if (input.kind === 'file') {
      const identity = `${input.version.deviceId}:${input.version.inode}`;
      const earlier = seen.get(identity);
      if (earlier !== undefined) {
        onWarning(`${path} is the same file as ${earlier}: its records are taken twice`);
      }
      seen.set(identity, path);
    }
    inputs.push(input);
  };
  let standardInputs = 0;
  for (const path of named) {
    if (path === STANDARD_INPUT) {
      standardInputs += 1;
      if (standardInputs > 1) throw new UsageError('standard input is named twice; it can be read only once');
      inputs.push({ kind: 'stream', path });
      continue;
    }
    const stat = statPath(path);
    if (stat === undefined && isPattern(path)) {
      const matches = await listMatches(path);
      if (matches.length === 0) {
        throw new InputError(
          'ERR_INPUT_MISSING',
          `no file matches the pattern ${path}; check it and the current directory`,
        );
      }
      for (const match of matches) add(match);
    } else if (stat?.isDirectory()) {
      directories.push(path);
      const files = listDirectory(path);
      if (files.length === 0) throw new InputError('ERR_INPUT_MISSING', `the directory ${path} holds no files`);
      for (const file of files) add(file);
    } else {
      add(path);
    }
  }
  if (inputs.length === 0)
    throw new UsageError('no inputs were given; name files, directories, or - for standard input');
  return { inputs, directories };
}

function openInput(path: string): JobInput {
  const stat = statPath(path);
  if (stat === undefined) {
    throw new InputError('ERR_INPUT_MISSING', `the input ${path} does not exist; check the name`);
  }
  if (stat.isFIFO() || stat.isCharacterDevice()) return { kind: 'stream', path };
  if (!stat.isFile()) {
    throw new InputError('ERR_INPUT_UNREADABLE', `the input ${path} is neither a file, a directory nor a pipe`);
  }
  return withFile(openForRead(path, 'input'), (file) => {
    const version = versionOf(file);
    const head = new Uint8Array(CODEC_HEAD_BYTES);
    const count = readAt(file, head, 0, head.byteLength, 0);
    return { kind: 'file', path, version, codec: detectCodec(head.subarray(0, count)) };
  });
}
