/**
 * Each look at a file of another machine is a request. Usually all files of one ending in a directory are of one kind. So
 * the first ones are looked at. If they are what the list and their names say, the list and the names of the others are
 * believed, until the task that reads the beginning of a file looks at it.
 */
import { extname } from 'node:path';
import { InputError } from '../errors.js';
import type { Codec } from '../formats/codec.js';
import { CODEC_HEAD_BYTES, detectCodec, withoutCodecSuffix } from '../formats/codec-table.js';
import { examineFirstBytes, type Finding, headBytesOf } from '../formats/first-bytes.js';
import { pointerIn, refusePointers } from '../formats/recognition.js';
import type { RecordFormat } from '../formats/record-format.js';
import { type FileVersion, sameVersion } from '../io/files.js';
import { type FileInput, type Input, NO_HEADER } from './input.js';
import { OWN_HEAD_BYTES, ownFileAt } from './recognise-own-files.js';

/** The files of an ending that are looked at. */
const LOOKED_AT = 16;
/** A larger file takes several requests, so that one more is little. */
const MOST_BYTES = 8 * 1024 * 1024;

/** The files of a listed directory that have one ending. */
interface Ending {
  /** The first files, and those that a list tells nothing useful of: each is looked at. */
  readonly looked: Set<string>;
  /** The others. */
  readonly believed: string[];
  /** The codec of those that were looked at. */
  codec: Codec | undefined;
  smallCount: number;
  /** How many looks found records. */
  foundCount: number;
  isDoubtful: boolean;
}

export class BelievedNames {
  readonly #byEnding = new Map<string, Ending>();
  readonly #versionOf: (path: string) => FileVersion | undefined;

  /** @param files in the order in which they are opened. */
  constructor(files: readonly string[], versionOf: (path: string) => FileVersion | undefined) {
    this.#versionOf = versionOf;
    for (const path of files) {
      const ending = this.#endingOf(path);
      const { byteLength = 0 } = versionOf(path) ?? {};
      const isSmall = byteLength > 0 && byteLength <= MOST_BYTES;
      if (isSmall) ending.smallCount += 1;
      if (isSmall && ending.smallCount > LOOKED_AT) ending.believed.push(path);
      else ending.looked.add(path);
    }
  }

  /** Returns whether the file is looked at, whatever the looks at others find. */
  isLookedAt(path: string): boolean {
    return this.#endingOf(path).looked.has(path);
  }

  /** Returns the files that are looked at, too, if looks at others of their ending raise a doubt. */
  believedLike(path: string): readonly string[] {
    return this.#endingOf(path).believed;
  }

  /** Notes what a look found. @param isUsual whether the file is nothing but records, and raises no doubt. */
  add({ path, version, codec }: Input, isUsual: boolean): void {
    const ending = this.#endingOf(path);
    const listed = this.#versionOf(path);
    if (ending.foundCount === 0) ending.codec = codec;
    ending.foundCount += 1;
    const isAsListed = listed !== undefined && version !== undefined && sameVersion(version, listed);
    ending.isDoubtful ||= !isUsual || !isAsListed || codec?.name !== ending.codec?.name;
  }

  /** Returns a file as its name and the list tell it. Undefined: it must be looked at. */
  inputAt(path: string): FileInput | undefined {
    const { looked, codec, foundCount, isDoubtful } = this.#endingOf(path);
    const version = looked.has(path) || isDoubtful || foundCount === 0 ? undefined : this.#versionOf(path);
    return version && { kind: 'file', path, version, codec, finding: undefined, header: NO_HEADER };
  }

  #endingOf(path: string): Ending {
    const name = endingOf(path);
    const known = this.#byEnding.get(name);
    const none = { looked: new Set<string>(), believed: [], smallCount: 0, foundCount: 0 };
    const ending = known ?? { ...none, codec: undefined, isDoubtful: false };
    if (known === undefined) this.#byEnding.set(name, ending);
    return ending;
  }
}

/** The last ending, with that of a codec. */
function endingOf(path: string): string {
  const name = withoutCodecSuffix(path);
  return extname(name) + path.slice(name.length);
}

/** The first bytes that `requireAsNamed` wants. */
export function wantedHeadBytes(path: string, codec: string | undefined, format: RecordFormat): number {
  return codec === undefined
    ? Math.max(CODEC_HEAD_BYTES, OWN_HEAD_BYTES, headBytesOf(path, format))
    : Math.max(CODEC_HEAD_BYTES, OWN_HEAD_BYTES);
}

interface FirstBytes {
  readonly head: Buffer;
  readonly isWhole: boolean;
  /** Reads more, as for `detectCodec`. */
  readAt(position: number): Uint8Array;
}

/**
 * Looks at the first bytes of a file whose name was believed.
 * @param codec the name of the codec that its name stands for. Undefined: none.
 * @returns what they raise, if the file is plain.
 * @throws InputError ERR_INPUT_FORMAT if it is not what its name says.
 */
export function requireAsNamed(
  path: string,
  { head, isWhole, readAt }: FirstBytes,
  codec: string | undefined,
  format: RecordFormat,
): Finding | undefined {
  const found = detectCodec(head, undefined, readAt)?.name;
  if (found !== codec)
    throw new InputError(
      'ERR_INPUT_FORMAT',
      `${path} ${found === undefined ? 'is not compressed' : `holds ${found} data`}, and other files with such a name ${codec === undefined ? 'are not compressed' : `hold ${codec} data`}; give it another ending, or leave it out`,
    );
  const own = ownFileAt(path, head);
  if (own !== undefined)
    throw new InputError(
      'ERR_INPUT_UNREADABLE',
      `the input ${path} is ${own}, which pileshuf made beside data; leave it out`,
    );
  const pointer = pointerIn(head);
  if (pointer !== undefined) refusePointers([{ ...pointer, path }]);
  return codec === undefined ? examineFirstBytes({ head, isWhole, path }, format) : undefined;
}
