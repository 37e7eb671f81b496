/**
 * Names that no data has: those that begin with a dot, as shells hide them, and those that programs give to what they keep
 * beside data.
 */

const NAMES_OF_PROGRAMS: readonly RegExp[] = [
  // Hadoop, Spark, Delta Lake and Databricks. An upload that is not complete ends in ._COPYING_.
  /^_(?:SUCCESS|FAILURE|metadata|common_metadata|temporary|temp|tmp|logs|spark_metadata)$/,
  /^_(?:delta_log|delta_index|change_data|symlink_format_manifest|committed_.+|started_.+)$/,
  /_\$folder\$$|\._COPYING_$/,
  // Hugging Face datasets: what a data set holds, beside its data.
  /^(?:dataset_infos?|dataset_dict)\.json$/,
  // Python.
  /^__pycache__$|\.py[co]$/,
  // macOS, Windows, Linux, and storage on a network.
  /^(?:__MACOSX|Icon\r|lost\+found|@eaDir|#recycle|#snapshot)$/,
  /^(?:(?:eh)?thumbs\.db|desktop\.ini|\$RECYCLE\.BIN|System Volume Information)$/i,
  // Editors: a copy of what is being edited, and the mark that somebody edits it.
  /~$|^#.*#$|^~\$/,
];

/** @param name without its directory. */
export function isHiddenName(name: string): boolean {
  return name.startsWith('.') || NAMES_OF_PROGRAMS.some((pattern) => pattern.test(name));
}
