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
import type { FileVersion } from '../io/files.js';
import { type FileInput, type Input, NO_HEADER } from './input.js';
import { OWN_HEAD_BYTES, ownFileAt } from './recognise-own-files.js';

/** The files of an ending that are looked at. */
const LOOKED_AT = 16;
/** A larger file takes several requests, so that one more is little. */
const MOST_BYTES = 8 * 1024 * 1024;

interface Known {
  readonly codec: Codec | undefined;
  count: number;
  isDoubtful: boolean;
}

export class BelievedNames {
  readonly #byEnding = new Map<string, Known>();

  /** Notes what a look found. @param isAsListed whether the list says the same version, and no doubt is raised. */
  add({ path, codec }: Input, isAsListed: boolean): void {
    const ending = endingOf(path);
    const known = this.#byEnding.get(ending) ?? { codec, count: 0, isDoubtful: false };
    known.count += 1;
    known.isDoubtful ||= !isAsListed || codec?.name !== known.codec?.name;
    this.#byEnding.set(ending, known);
  }

  /** Returns a file as its name and the list tell it. Undefined: it must be looked at. */
  inputAt(path: string, version: FileVersion | undefined): FileInput | undefined {
    const known = this.#byEnding.get(endingOf(path));
    if (known === undefined || known.isDoubtful || known.count < LOOKED_AT) return undefined;
    if (version === undefined || version.byteLength === 0 || version.byteLength > MOST_BYTES) return undefined;
    return { kind: 'file', path, version, codec: known.codec, finding: undefined, header: NO_HEADER };
  }
}

/** Returns the files of each ending that come first, so that nothing is known of their kind. */
export function firstOfEndings(paths: readonly string[]): readonly string[] {
  const counts = new Map<string, number>();
  return paths.filter((path) => {
    const ending = endingOf(path);
    const count = counts.get(ending) ?? 0;
    counts.set(ending, count + 1);
    return count < LOOKED_AT;
  });
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
