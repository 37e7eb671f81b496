/** Chooses the files below a directory that are inputs. Files that the caller names are not subject to this. */
import { basename } from 'node:path';
import { UsageError } from '../errors.js';
import { matcherBelow, type PathMatcher, pathsTo } from '../io/list-files.js';

export interface FileChoice {
  /** True if hidden names are like others. */
  readonly hidden: boolean;
  /** Globs; empty: all files. */
  readonly include: readonly string[];
  /** Globs that leave out directories, too. */
  readonly exclude: readonly string[];
}

export const USUAL_FILES: FileChoice = { hidden: false, include: [], exclude: [] };

/** Chooses among paths below the directory that the caller names. */
export interface FileChooser {
  readonly isExcluded: PathMatcher;
  readonly isHidden: PathMatcher;
  /** Matches a file that is neither excluded nor hidden. */
  readonly isIncluded: PathMatcher;
  readonly isTaken: PathMatcher;
}

export async function fileChooser({ hidden, include, exclude }: FileChoice): Promise<FileChooser> {
  const [included, excluded] = await Promise.all(
    [include, exclude].map((globs) => Promise.all(globs.map(matcherBelow))),
  );
  const isAny =
    (matchers: readonly PathMatcher[] = []) =>
    (path: string) =>
      matchers.some((isNamed) => isNamed(path));
  const isExcluded = isAny(excluded);
  const isHidden: PathMatcher = hidden ? () => false : (path) => isHiddenName(basename(path));
  const isIncluded = include.length === 0 ? () => true : isAny(included);
  const isTaken: PathMatcher = (path) =>
    isIncluded(path) && pathsTo(path).every((each) => !isExcluded(each) && !isHidden(each));
  return { isExcluded, isHidden, isIncluded, isTaken };
}

export function requireDirectory({ hidden, include, exclude }: FileChoice, directories: readonly string[]): void {
  if (directories.length > 0) return;
  const given = [hidden && '`hidden`', include.length > 0 && '`include`', exclude.length > 0 && '`exclude`'];
  const [option] = given.filter((each) => each !== false);
  if (option === undefined) return;
  throw new UsageError(
    `${option} chooses among the files of directories, and no input is one; leave it out, or name a directory`,
  );
}

/** Names that no data has: programs give them to their own files beside data. */
const NAMES_OF_PROGRAMS: readonly RegExp[] = [
  // Hadoop, Spark, Delta Lake and Databricks. An unfinished copy ends in ._COPYING_.
  /^_(?:SUCCESS|FAILURE|metadata|common_metadata|temporary|temp|tmp|logs|spark_metadata)$/,
  /^_(?:delta_log|delta_index|change_data|symlink_format_manifest|committed_.+|started_.+)$/,
  /_\$folder\$$|\._COPYING_$/,
  // Descriptions of Hugging Face datasets.
  /^(?:dataset_infos?|dataset_dict)\.json$/,
  // Python.
  /^__pycache__$|\.py[co]$/,
  // macOS, Windows, Linux, and network storage.
  /^(?:__MACOSX|Icon\r|lost\+found|@eaDir|#recycle|#snapshot)$/,
  /^(?:(?:eh)?thumbs\.db|desktop\.ini|\$RECYCLE\.BIN|System Volume Information)$/i,
  // Editors: a copy of the edited file, and the mark that somebody edits it.
  /~$|^#.*#$|^~\$/,
];

export function isHiddenName(name: string): boolean {
  return name.startsWith('.') || NAMES_OF_PROGRAMS.some((pattern) => pattern.test(name));
}
