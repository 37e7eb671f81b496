import { basename } from 'node:path';
import { counted, UsageError } from '../errors.js';
import { withoutCodecSuffix } from '../formats/codec-table.js';
import { type Compression, codecOfName, compressionOf, suffixOf } from '../formats/encoder-table.js';
import { isBinary, recordsOfName } from '../formats/recognition.js';
import type { RecordFormat } from '../formats/record-format.js';
import type { ShardSpec } from '../keep/splits.js';
import type { ShuffleOptions, ShuffleTogetherOptions } from '../options/shuffle-options.js';
import { SHUFFLE_TOGETHER_OPTIONS } from '../options/shuffle-options.js';
import { STANDARD_INPUT } from '../places/inputs/input-kinds.js';
import { NAMES_OF_STANDARD_OUTPUT } from '../places/outputs/output-stream.js';
import { requireShortNames, type ShardNaming } from '../places/outputs/shard-names.js';
import type { ShuffleSpec } from '../spec.js';
import { requireKnownOptions } from '../values/known-options.js';
import { recordFormatOf } from './record-options.js';
import { completeShuffle, type ShuffleRequest } from './request.js';

/** The files at one place of all tuples. They are shuffled as the inputs of one job. */
export interface TupleMember {
  /** The name of its output, from its file in the first tuple. */
  readonly name: string;
  readonly paths: readonly string[];
  readonly records: Pick<ShuffleOptions, 'records' | 'zeroTerminated' | 'header'>;
  readonly format: RecordFormat;
  readonly compression: Compression | undefined;
}

interface TogetherRequest {
  readonly members: readonly TupleMember[];
  readonly output: string;
  readonly common: ShuffleRequest;
}

/** More than people type; each member is a shuffle of its own. */
const MOST_MEMBERS = 1000;

export function completeTogether(options: ShuffleTogetherOptions): TogetherRequest {
  requireKnownOptions('shuffleTogether()', options, SHUFFLE_TOGETHER_OPTIONS);
  const { together, ...rest } = options;
  requireTuples(together);
  const { output, shards } = rest;
  if (output === undefined || NAMES_OF_STANDARD_OUTPUT.has(output))
    throw new UsageError('`together` writes several files: name a directory with `output`');
  if (shards?.by === 'bytes')
    throw new UsageError(
      'shards by bytes would cut the members of `together` at different records; give `shards` by count or by records',
    );
  const common = completeShuffle({ ...rest, onWarning: undefined, inputs: [] });
  const members = (together[0] ?? []).map((_, member) => memberOf(options, common, member));
  requireDifferentNames(members);
  const { shards: cut, splits } = common.spec.cut;
  if (cut !== undefined) requireDifferentShards(members, splits);
  return { members, output, common };
}

function requireTuples(together: ShuffleTogetherOptions['together']): void {
  // Callers without types may pass anything.
  const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value) && value.length > 0;
  if (!isList(together) || !together.every(isList))
    throw new UsageError('`together`: expected an array of arrays of paths');
  const [first = []] = together;
  for (const tuple of together) {
    const path = tuple.find((each) => typeof each !== 'string' || each === '');
    if (path !== undefined) throw new UsageError('`together`: expected paths that are not empty');
    if (tuple.includes(STANDARD_INPUT))
      throw new UsageError('standard input (-) cannot be one of the files of `together`; name a file');
    if (tuple.length === first.length) continue;
    throw new UsageError(
      `\`together\` names ${counted(tuple.length, 'file')} in ${tuple.join(',')} and ${first.length} in ${first.join(',')}; expected as many each time`,
    );
  }
  if (first.length < 2)
    throw new UsageError(`\`together\` names one file, ${first.join()}; expected two or more, one for each member`);
  if (first.length > MOST_MEMBERS)
    throw new UsageError(
      `\`together\` names ${counted(first.length, 'file')} at a time; expected at most ${MOST_MEMBERS}`,
    );
}

function memberOf(options: ShuffleTogetherOptions, common: ShuffleRequest, member: number): TupleMember {
  const paths = options.together.map((tuple) => tuple[member] ?? '');
  const given = basename(paths[0] ?? '');
  const records = recordsOf(withoutCodecSuffix(given), options);
  const compression = compressionOfMember(given, options, common.spec);
  return { name: nameOf(given, compression), paths, records, format: recordFormatOf(records), compression };
}

/** Names of binary files say what their records are; else the options do; else the name of FASTQ does. */
function recordsOf(
  name: string,
  { records, zeroTerminated, header }: ShuffleTogetherOptions,
): Pick<ShuffleOptions, 'records' | 'zeroTerminated' | 'header'> {
  const kind = recordsOfName(name);
  const byName = kind && ({ by: kind.by } as NonNullable<ShuffleOptions['records']>);
  // Such files hold no text, so options for text do not mean them.
  if (kind !== undefined && isBinary(kind)) return { records: byName };
  if (byName?.by === 'fastq' && records === undefined && zeroTerminated !== true) return { records: byName, header };
  return { records, zeroTerminated, header };
}

/** Returns the compression as of any output: one file by its name, shards only if they are asked to be. */
function compressionOfMember(
  given: string,
  { compress }: ShuffleTogetherOptions,
  { cut: { shards }, write: { compression } }: ShuffleSpec,
): Compression | undefined {
  if (compress !== undefined || shards !== undefined) return compression;
  const codec = codecOfName(given);
  return codec && compressionOf(codec);
}

/** The name as given, but for an ending that would say another codec. */
function nameOf(given: string, compression: Compression | undefined): string {
  if (compression !== undefined && codecOfName(given) === compression.codec) return given;
  return withoutCodecSuffix(given) + (compression === undefined ? '' : suffixOf(compression.codec));
}

function requireDifferentNames(members: readonly TupleMember[]): void {
  const pathOf = new Map<string, string>();
  for (const { name, paths } of members) {
    const [path = ''] = paths;
    const earlier = pathOf.get(name);
    if (earlier !== undefined)
      throw new UsageError(
        `\`together\`: the outputs of ${earlier} and ${path} would both be called ${name}; give files of different names`,
      );
    pathOf.set(name, path);
  }
}

/**
 * How the shards of a member are named: `R1-00007-of-00128.fq`; of splits `train.R1-00007-of-00128.fq`, because loaders
 * of data sets take what stands before the numbers for the name of a split, which may have dots but no hyphens.
 */
export function namingOfMember({ name, compression }: TupleMember, splits: ShardSpec['splits']): ShardNaming {
  const plain = withoutCodecSuffix(name);
  const dot = plain.lastIndexOf('.');
  const stem = dot > 0 ? plain.slice(0, dot) : plain;
  const extension = plain.slice(stem.length) + (compression === undefined ? '' : suffixOf(compression.codec));
  return { prefixes: splits?.map(({ rule }) => `${rule.name}.${stem}`) ?? [stem], extension };
}

function requireDifferentShards(members: readonly TupleMember[], splits: ShardSpec['splits']): void {
  const memberOfName = new Map<string, string>();
  for (const member of members) {
    const naming = namingOfMember(member, splits);
    requireShortNames(naming, 'files of shorter names, or shorter names of `splits`');
    for (const prefix of naming.prefixes) {
      const name = `${prefix}-*-of-*${naming.extension}`;
      const earlier = memberOfName.get(name);
      if (earlier !== undefined)
        throw new UsageError(
          `\`together\`: shards of ${earlier} and of ${member.name} would both be called ${name}; give other names of \`splits\`, or files of other names`,
        );
      memberOfName.set(name, member.name);
    }
  }
}
