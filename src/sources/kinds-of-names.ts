/**
 * Tells from the names of files which kinds of data they hold. Records beside other things, such as a README, are no
 * list of inputs.
 */
import { basename, extname } from 'node:path';
import { InputError } from '../errors.js';
import { withoutCodecSuffix } from '../formats/codec-table.js';
import { natureOfEnding } from '../formats/recognition.js';
import type { Nature } from '../formats/record-kind.js';
import { formatCount, nameSome } from '../values/format-numbers.js';

/** Files that explain the others. */
const EXPLANATION =
  /^(?:readme|licen[cs]e|copying|notice|authors|citation|changelog|(?:md5|sha\d+)sums?)(?:\.te?xt)?$/i;
const OTHER_CODEC = /\.(?:br|deflate|lz|lzma|lzo|snappy|sz|z)$/;
/** Matches numbers as in `app.log.2`, `app.log-20240101`, `train.tfrecord-00000-of-00008`. */
const NUMBER = /(?<=.)([-._])(?:\d[\dT:_-]*|\d+-of-\d+)$/s;
const ENDING = /(?<=.)\.(\d*[a-z][a-z\d_-]{0,11})$/is;
/** Matches what stands after a name: `.txt`, `.jsonl.gz`. */
const WORDS_AS_ENDINGS = /^(\.[a-z]{1,12})(?:\.[a-z]{1,12})?$/;
const MOST_SHOWN = 10;

interface Promised {
  /**
   * The word of the table, an ending that is not in it, or the name of an explanation. Empty: the name has no ending.
   */
  readonly word: string;
  readonly nature: Nature;
  readonly label: string;
  /** Matches such names; undefined: they have no ending. */
  readonly glob: string | undefined;
}

interface Kind extends Pick<Promised, 'word' | 'nature'> {
  readonly labels: Set<string>;
  readonly globs: Set<string>;
  fileCount: number;
}

/**
 * Compares the names of the files that directories brought.
 * @param include the globs that the caller chose them by. Several kinds are refused without a glob, told with one, and
 *   taken as they are with `*`.
 */
export function requireOneKind(
  paths: readonly string[],
  directories: readonly string[],
  include: readonly string[],
  onWarning: (line: string) => void,
): void {
  if (include.includes('*')) return;
  const kinds = kindsOf(paths);
  if (kinds.length <= 1 && kinds.every(({ labels }) => labels.size === 1)) return;
  const shown = kinds
    .slice(0, MOST_SHOWN)
    .map(({ fileCount, labels }) => `${formatCount(fileCount)} ${[...labels].join(' or ')}`);
  const others = kinds.length > MOST_SHOWN ? ` and ${kinds.length - MOST_SHOWN} other kinds` : '';
  const text = `below ${nameSome(directories)} are files of different kinds: ${shown.join(', ')}${others}`;
  if (include.length === 0 && isMixed(kinds))
    throw new InputError('ERR_INPUT_FORMAT', `${text}; give ${wayOn(kinds)}, or \`include\` '*' for all of them`);
  onWarning(`${text}; all of them are read`);
}

/** Paths to read, and the words by which the caller chose them. */
export interface FoundPaths {
  readonly paths: readonly string[];
  readonly by: 'name' | 'pattern' | 'directory';
}

/** A file beside its compressed copy gives each record twice. Refuses them, but warns if the caller named one itself. */
export function refuseCompressedCopies(
  found: readonly FoundPaths[],
  include: readonly string[],
  onWarning: (line: string) => void,
): void {
  if (include.includes('*')) return;
  const files = function* () {
    for (const { paths, by } of found) for (const path of paths) yield { path, by, plain: withoutCodecSuffix(path) };
  };
  // Two copies differ in their suffixes. Most jobs have one, and a million names that need no table.
  const suffixes = new Set<string>();
  for (const { path, plain } of files()) suffixes.add(path.slice(plain.length));
  if (suffixes.size <= 1) return;
  const fileOf = new Map<string, Pick<FoundPaths, 'by'> & { readonly path: string }>();
  let named: string | undefined;
  for (const { plain, ...file } of files()) {
    const earlier = fileOf.get(plain);
    fileOf.set(plain, file);
    if (earlier === undefined || earlier.path === file.path) continue;
    const text = `${earlier.path} and ${file.path} are two copies of one file by their names`;
    const ways = [earlier.by, file.by];
    if (ways.includes('name')) {
      named ??= text;
      continue;
    }
    const [ending] = [file.path, earlier.path].map((path) => path.slice(plain.length)).filter((each) => each !== '');
    const advice = ways.includes('pattern')
      ? 'give a pattern that matches one of them'
      : `give \`exclude\` '*${ending}' to leave one out, or \`include\` '*' for all files`;
    throw new InputError('ERR_INPUT_UNREADABLE', `${text}; ${advice}`);
  }
  if (named !== undefined) onWarning(`${named}; each of their records comes twice`);
}

/** Names of splits that the loaders of Hugging Face know, at the beginning of a name. */
const SPLIT = /^(?:(train(?:ing)?)|(valid(?:ation)?|val|dev)|(test(?:ing)?|eval(?:uation)?))(?=[-._ ]|$)/i;

interface FilesTogether {
  /** Names below it count. Undefined: the caller named the files. */
  readonly directory?: string;
  readonly files: readonly string[];
  /** The sets as in `FilesOfDirectory`. */
  readonly sets?: readonly string[];
}

/**
 * Warns that splits become one order, by names of files and of directories above them. Refuses those that an earlier job
 * has divided, unless `include` is `*`.
 */
export function warnOfSplits(
  { directory, files, sets = [] }: FilesTogether,
  include: readonly string[],
  onWarning: (line: string) => void,
): void {
  if (include.includes('*')) return;
  /** Globs of splits by their kinds, by the place of their names. */
  const globsAt = new Map<string, Map<number, string>>();
  for (const path of files) {
    const steps = placeBelow(directory, path).split('/');
    for (const [i, step] of steps.entries()) {
      const [word = '', ...kinds] = SPLIT.exec(step) ?? [];
      if (word === '' || natureOfEnding(extname(step).slice(1).toLowerCase()).nature === 'sources') continue;
      const above = steps.slice(0, i);
      const folder = above.join('/');
      const globs = globsAt.get(folder) ?? new Map<number, string>();
      globsAt.set(folder, globs);
      const isFile = i === steps.length - 1;
      const glob = isFile ? `${word}*` : `${step}/**`;
      globs.set(
        kinds.findIndex((kind) => kind !== undefined),
        isFile && directory !== undefined ? glob : [...above, glob].join('/'),
      );
    }
  }
  const [globs] = [...globsAt.values()].filter(({ size }) => size > 1);
  if (globs === undefined) {
    if (sets.length > 1)
      onWarning(`${directory} holds several complete outputs (${nameSome(sets)}), which are shuffled together`);
    return;
  }
  const named = [...globs.values()];
  const [holder, advice] =
    directory === undefined
      ? ['the inputs hold', 'name only the files of one to shuffle it alone']
      : [`${directory} holds`, `give \`include\` '${named[0]}' for one of them`];
  if (sets.filter((name) => SPLIT.test(name)).length > 1)
    throw new InputError(
      'ERR_INPUT_UNREADABLE',
      `${directory} holds the splits ${nameSome(sets)} of an earlier job, which would be shuffled together; ${advice}, or \`include\` '*' for all`,
    );
  onWarning(`${holder} several splits (${named.join(', ')}), which are shuffled together; ${advice}`);
}

function placeBelow(directory: string | undefined, path: string): string {
  if (directory === undefined) return path;
  return path.startsWith(`${directory}/`) ? path.slice(directory.length + 1) : basename(path);
}

/** The most frequent one first. */
function kindsOf(paths: readonly string[]): Kind[] {
  const kinds = new Map<string, Kind>();
  const promisedByEndings = new Map<string, Promised>();
  for (const path of paths) {
    const name = basename(path);
    const endings = endingsIn(name);
    const { word, nature, label, glob } = promisedByEndings.get(endings) ?? promisedBy(name);
    if (endings !== '') promisedByEndings.set(endings, { word, nature, label, glob });
    const kind = kinds.get(word) ?? { word, nature, labels: new Set(), globs: new Set(), fileCount: 0 };
    kinds.set(word, kind);
    kind.labels.add(label);
    if (glob !== undefined) kind.globs.add(glob);
    kind.fileCount += 1;
  }
  return [...kinds.values()].sort((a, b) => b.fileCount - a.fileCount || (a.word < b.word ? -1 : 1));
}

/** Returns the endings of a name from its first dot on, if they alone say what it promises; else nothing. */
function endingsIn(name: string): string {
  const dot = Math.max(0, name.indexOf('.'));
  const [begin, endings] = [name.slice(0, dot), name.slice(dot)];
  const ending = WORDS_AS_ENDINGS.exec(endings)?.[1];
  const isOfCodec = ending === undefined || withoutCodecSuffix(ending) !== ending || OTHER_CODEC.test(ending);
  return isOfCodec || begin === '' || EXPLANATION.test(begin) ? '' : endings;
}

function promisedBy(name: string): Promised {
  const { rest, tail, isNumbered } = withoutTail(name);
  if (EXPLANATION.test(rest)) return { word: rest, nature: 'explanation', label: rest, glob: `${rest}${tail}` };
  const [ending, letters = ''] = ENDING.exec(rest) ?? [];
  if (ending === undefined) return { word: '', nature: 'unknown', label: 'without an ending', glob: undefined };
  const lower = letters.toLowerCase();
  return { ...natureOfEnding(lower), label: `.${lower}${isNumbered ? '.N' : ''}`, glob: `*${ending}${tail}` };
}

interface ShortenedName {
  readonly rest: string;
  readonly tail: string;
  readonly isNumbered: boolean;
}

/** Takes off endings of codecs, and numbers and dates after the name's own ending. */
function withoutTail(name: string): ShortenedName {
  const lower = name.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  const plainLength = withoutCodecSuffix(lower).replace(OTHER_CODEC, '').length;
  if (plainLength > 0 && plainLength < name.length) {
    const plain = withoutTail(name.slice(0, plainLength));
    return { ...plain, tail: `${plain.tail}${name.slice(plainLength)}` };
  }
  const number = NUMBER.exec(name);
  if (number === null) return { rest: name, tail: '', isNumbered: false };
  const { rest, tail } = withoutTail(name.slice(0, number.index));
  return { rest, tail: `${tail}${number[1]}[0-9]*`, isNumbered: true };
}

/** Returns whether records stand beside something else, or documents beside something that is not a tree of programs. */
function isMixed(kinds: readonly Kind[]): boolean {
  if (kinds.length === 1) return false;
  const filesOf = (...natures: Nature[]) =>
    kinds.reduce((sum, { nature, fileCount }) => (natures.includes(nature) ? sum + fileCount : sum), 0);
  const documents = filesOf('documents', 'explanation');
  return filesOf('records') > 0 || (documents > 0 && documents >= filesOf('sources'));
}

/** Leads to the records if there are any, else to the most frequent kind, or to all that are not documents. */
function wayOn(kinds: readonly Kind[]): string {
  const chosen =
    kinds.find(({ nature }) => nature === 'records') ??
    kinds.find(({ nature }) => nature !== 'explanation') ??
    kinds[0];
  const wanted = [...(chosen?.globs ?? [])];
  const unwanted = kinds
    .filter((kind) => kind !== chosen && (kind.nature === 'documents' || kind.nature === 'explanation'))
    .flatMap(({ globs }) => [...globs]);
  if (chosen?.nature === 'unknown' || chosen?.nature === 'sources')
    return `\`exclude\` ${braced(unwanted)} to leave these out`;
  const among = unwanted.filter((glob) => wanted.some((each) => glob.endsWith(each.slice(1))));
  return `\`include\` ${braced(wanted)}${among.length === 0 ? '' : ` and \`exclude\` ${braced(among)}`} for one kind`;
}

function braced(globs: readonly string[]): string {
  return globs.length === 1 ? `'${globs[0]}'` : `'{${globs.join(',')}}'`;
}
