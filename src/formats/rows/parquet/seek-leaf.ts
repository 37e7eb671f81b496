/** Finds the leaf that a caller names, whose values tell rows apart or are added up. */
import { InputError, UsageError } from '../../../errors.js';
import type { SoughtColumn } from '../row-format.js';
import { type Annotation, annotationOfLeaf } from './annotation.js';
import { type Leaf, nameOfLeaf } from './leaf.js';
import type { SoughtLeaf, ValueKind } from './leaf-value.js';
import type { TableSpec } from './table-spec.js';

/**
 * @param path of the file whose columns are named in messages.
 * @throws UsageError for what is no path of names, InputError if no column has it, or one with other values.
 */
export function seekLeaf({ schema }: TableSpec, path: string, { text, keys, isNumber }: SoughtColumn): SoughtLeaf {
  if (keys === undefined)
    throw new UsageError(`${text} selects no value in the rows of ${path}; expected a column, as in .url or .meta.url`);
  const refused = (problem: string) => new InputError('ERR_FIELD_MISSING', `${path}: ${problem}`);
  const name = keys.join('.');
  const index = schema.leaves.findIndex((each) => each.path.length === keys.length && nameOfLeaf(each) === name);
  const leaves = schema.leaves.slice(0, index + 1);
  const leaf = leaves[index];
  if (leaf === undefined)
    throw schema.leaves.some((each) => keys.every((part, i) => each.path[i] === part))
      ? refused(`column ${name} holds a list, a map or other columns; expected a column of single values`)
      : refused(`${text} names no column of its rows; expected the name of one`);
  if (leaf.maxRepetition > 0)
    throw refused(`column ${name} may have several values in a row; expected one that has one`);
  const annotation = annotationOfLeaf(schema, index);
  const kind = valueKindOf(leaf, annotation);
  if (kind !== undefined && !(isNumber && kind === 'text')) return { format: 'Parquet', leaves, kind };
  const type = annotation.kind === undefined ? leaf.type : `${leaf.type} (${annotation.kind})`;
  const expected = isNumber ? 'whole numbers' : 'strings or whole numbers';
  throw refused(`column ${name} has values of type ${type}; expected ${expected}`);
}

const TEXTS = ['STRING', 'ENUM', 'JSON'];

/** @returns undefined: other values, as dates and decimal numbers are. */
function valueKindOf({ type }: Leaf, annotation: Annotation): ValueKind | undefined {
  const { kind, isUnsigned, logicalType, convertedType } = annotation;
  const isPlain = logicalType === '' && convertedType === '';
  if (type === 'BYTE_ARRAY') return isPlain || TEXTS.includes(kind ?? '') ? 'text' : undefined;
  if (type !== 'INT32' && type !== 'INT64') return undefined;
  if (!isPlain && kind !== 'INTEGER') return undefined;
  return isUnsigned ? 'unsigned' : 'signed';
}
