/**
 * Unifies the schemas of the files of a table: its rows are written as one target schema says. Schemas may differ where no
 * value is lost: columns in another order, columns that are required in one file and optional in another, columns of nulls
 * without a type, and names within lists. Differences in what values mean are refused.
 */
import { InputError } from '../../../errors.js';
import { annotationOf, areTypeOrdered, typeOrders, typeWordsOf } from './annotation.js';
import { arrowWordsOf, attributesOf } from './arrow-columns.js';
import { hiveTextsIn } from './hive-columns.js';
import { mergeKeyValues, type TableMetadata, tableMetadataOf } from './key-values.js';
import { PHYSICAL_TYPES } from './leaf.js';
import { encodeElements, readSchema, type SchemaNode, shownPath, type TableSchema } from './schema.js';
import { isInColumns, selectNodes } from './select-columns.js';

/** The place of a leaf of the target in another file. */
export interface LeafSource {
  /** The index among the leaves of the other file. */
  readonly index: number;
  /** The target's definition level for each one of the other file; undefined: they are the same. */
  readonly definitionLevels: Uint8Array | undefined;
  /** The column has no type in the other file: all is null. */
  readonly isUntyped: boolean;
  /** The value of all rows, as PLAIN stores it, or `null`. Absent: the file has the column. */
  readonly constant?: Uint8Array | null;
}

/** The difference that forbids to mix the rows of two files. */
export interface SchemaDifference {
  /** The column for a message: a dotted name. */
  readonly column: string;
  /** Complete `in FILE it ...`. */
  readonly expected: string;
  readonly got: string;
  /** True if only descriptions in the metadata differ. */
  readonly isOfMetadata?: true;
}

export interface UnifiedSchema {
  readonly schema: TableSchema;
  /** Names metadata that differs and may matter, for messages. The target's is taken. */
  readonly ignored: readonly string[];
}

export type Unified = UnifiedSchema | { readonly difference: SchemaDifference };
export type LeafSources = { readonly leaves: readonly LeafSource[] } | { readonly difference: SchemaDifference };

/**
 * Returns the schema of `target`, in which a column that is optional in `other` is optional too, and one that has no type
 * has that of `other`. It is `target` itself where nothing changes.
 */
export function unifySchemas(target: TableSchema, other: TableSchema): Unified {
  const [{ root }, { root: otherRoot }] = [readSchema(target.elements), readSchema(other.elements)];
  const [known, otherKnown] = [tableMetadataOf(target.keyValues, root), tableMetadataOf(other.keyValues, otherRoot)];
  const [relaxed, typed] = [new Set<SchemaNode>(), new Map<SchemaNode, SchemaNode>()];
  const changes = {
    relax: (node: SchemaNode) => relaxed.add(node),
    type: (node: SchemaNode, as: SchemaNode) => typed.set(node, as),
  };
  const walk = new Walk({ ...target, fields: known.fields }, { ...other, fields: otherKnown.fields }, changes);
  const difference =
    walk.compare(root, otherRoot) ?? differenceInMeaning(known, otherKnown) ?? walk.calendarsDiffer(known, otherKnown);
  if (difference !== undefined) return { difference };
  const isSame = relaxed.size + typed.size === 0;
  const joined = isSame
    ? target
    : withElements(target, other, changedTree(root, relaxed, typed, target.elements.byteLength));
  const { keyValues, ignored } = mergeKeyValues(joined, other);
  const schema = isSame && keyValues === target.keyValues ? target : { ...joined, keyValues };
  return { schema, ignored: [...ignored.map((key) => `\`${shownPath([key])}\``), ...walk.ignored] };
}

/**
 * Finds the leaves of the target in a file.
 *
 * @param target as `unifySchemas` made it of all files.
 * @param columns the selection with which the target was made: other columns of the file do not count.
 */
export function findLeafSources(target: TableSchema, other: TableSchema, columns?: readonly string[]): LeafSources {
  if (haveSameElements(target, other)) {
    return { leaves: target.leaves.map((_, index) => ({ index, definitionLevels: undefined, isUntyped: false })) };
  }
  const { root } = readSchema(target.elements);
  const { root: otherRoot } = readSchema(other.elements);
  const names = new Set(columns);
  const isSelected = (leaf: number) => columns === undefined || isInColumns(other.leaves[leaf], names);
  const walk = new Walk(target, other);
  const difference = walk.compare(root, selectNodes(otherRoot, isSelected) ?? { ...otherRoot, children: [] });
  return difference === undefined ? { leaves: walk.leaves } : { difference };
}

/** @param first whose schema is the target. */
export function schemaDifferenceError(difference: SchemaDifference, first: string, path: string): InputError {
  const { column, got, expected, isOfMetadata = false } = difference;
  const problem = `its column ${column} ${shownPath([got])}, but in ${first} it ${shownPath([expected])}`;
  const isNamed = hiveTextsIn(path).has(column) || hiveTextsIn(first).has(column);
  const advice = [got, expected].includes(MISSING)
    ? isNamed
      ? '`hive` takes it from names of directories'
      : 'name the columns that all have with `columns`'
    : `write one of the files again with the ${isOfMetadata ? 'metadata' : 'type'} of the other`;
  return new InputError('ERR_INPUT_FORMAT', `${path}: ${problem}; ${advice}`);
}

const MISSING = 'is missing';

function differenceInMeaning(target: TableMetadata, other: TableMetadata): SchemaDifference | undefined {
  for (const key of new Set([...target.meanings.keys(), ...other.meanings.keys()])) {
    const [one, two] = [target.meanings.get(key) ?? new Map(), other.meanings.get(key) ?? new Map()];
    for (const column of new Set([...one.keys(), ...two.keys()])) {
      const [expected, got] = [one, two].map((meanings) => {
        const path = String(column);
        const isUntyped = [...meanings].some(
          ([name, meaning]) => meaning === undefined && `${path}.`.startsWith(`${name}.`),
        );
        const meaning = meanings.get(column);
        if (isUntyped) return undefined;
        const place = `described in the metadata \`${key}\``;
        return meaning === undefined ? `is not ${place}` : `is ${place} as ${meaning}`;
      });
      if (expected !== undefined && got !== undefined && expected !== got)
        return { column: shownPath([column]), expected, got, isOfMetadata: true };
    }
  }
  return undefined;
}

function haveSameElements({ elements: one }: TableSchema, { elements: other }: TableSchema): boolean {
  return Buffer.compare(one, other) === 0;
}

/** @param shift of the nodes of another schema, whose elements come after those of this one. */
function changedTree(
  node: SchemaNode,
  relaxed: ReadonlySet<SchemaNode>,
  typed: ReadonlyMap<SchemaNode, SchemaNode>,
  shift: number,
): SchemaNode {
  const type = typed.get(node);
  if (type !== undefined) return { ...shifted(type, shift), repetition: 'optional' };
  const children = node.children.map((child) => changedTree(child, relaxed, typed, shift));
  return { ...node, children, repetition: relaxed.has(node) ? 'optional' : node.repetition };
}

function shifted(node: SchemaNode, shift: number): SchemaNode {
  const children = node.children.map((child) => shifted(child, shift));
  return { ...node, start: node.start + shift, end: node.end + shift, children };
}

function withElements(target: TableSchema, other: TableSchema, tree: SchemaNode): TableSchema {
  const elements = encodeElements(Buffer.concat([target.elements, other.elements]), tree);
  const { leaves } = readSchema(elements);
  const isOrdered = areTypeOrdered(target.columnOrders);
  return { ...target, elements, leaves, columnOrders: isOrdered ? typeOrders(leaves.length) : undefined };
}

interface Side extends Pick<TableSchema, 'elements' | 'leaves'> {
  readonly fields?: TableMetadata['fields'];
}

/** Changes that the target may undergo. */
interface Changes {
  /** Makes a required node optional. */
  relax(node: SchemaNode): void;
  /** Gives a node without a type that of a node of the other schema. */
  type(node: SchemaNode, as: SchemaNode): void;
}

/** Compares two trees, from the root down. */
class Walk {
  readonly #target: Side;
  readonly #other: Side;
  readonly #changes: Changes | undefined;
  /** The sources, by leaf of the target. */
  readonly leaves: LeafSource[] = [];
  /** Columns of dates or times. */
  #timed: string | undefined;
  readonly ignored = new Set<string>();

  /** @param changes absent: the target stays as it is. */
  constructor(target: Side, other: Side, changes?: Changes) {
    this.#target = target;
    this.#other = other;
    this.#changes = changes;
  }

  compare(target: SchemaNode, other: SchemaNode): SchemaDifference | undefined {
    return this.#compareChildren(target, other, { path: [], levels: [0] });
  }

  calendarsDiffer(target: TableMetadata, other: TableMetadata): SchemaDifference | undefined {
    if (target.isJulian === other.isJulian || this.#timed === undefined) return undefined;
    const wordsOf = ({ isJulian }: TableMetadata) =>
      `is in the ${isJulian ? 'Julian calendar before 1582' : 'Gregorian calendar'}`;
    return { column: this.#timed, expected: wordsOf(target), got: wordsOf(other) };
  }

  #compareChildren(target: SchemaNode, other: SchemaNode, above: Above): SchemaDifference | undefined {
    const unmatched = groupByName(other.children);
    for (const child of target.children) {
      const path = [...above.path, child.name];
      const match = unmatched.get(child.name)?.shift();
      if (match === undefined) return { column: shownPath(path), expected: 'exists', got: MISSING };
      const difference = this.#compareNodes(child, match, { path, levels: above.levels });
      if (difference !== undefined) return difference;
    }
    for (const [rest] of unmatched.values()) {
      if (rest === undefined) continue;
      return { column: shownPath([...above.path, rest.name]), expected: MISSING, got: 'exists' };
    }
    return undefined;
  }

  /** Names within lists and maps have no meaning: writers call elements `item` or `element`. */
  #compareEntries(target: SchemaNode, other: SchemaNode, { path, levels }: Above): SchemaDifference | undefined {
    const [[entries], [otherEntries]] = [target.children, other.children];
    if (entries === undefined || otherEntries === undefined) return undefined;
    const below = levelsBelow(levels, entries, otherEntries);
    for (const [i, child] of entries.children.entries()) {
      const match = otherEntries.children[i];
      if (match === undefined) continue;
      const difference = this.#compareNodes(child, match, { path: [...path, entries.name, child.name], levels: below });
      if (difference !== undefined) return difference;
    }
    return undefined;
  }

  #compareNodes(target: SchemaNode, other: SchemaNode, { path, levels }: Above): SchemaDifference | undefined {
    const differs = (expected: string, got: string) => ({ column: shownPath(path), expected, got });
    const [one, two] = [annotationOf(this.#target.elements, target), annotationOf(this.#other.elements, other)];
    if (target.repetition === 'required' && other.repetition === 'optional') {
      if (this.#changes === undefined) return differs('is required', 'is optional');
      this.#changes.relax(target);
    }
    const haveNulls = target.repetition !== 'repeated' && other.repetition === 'optional';
    if (two.isUntyped && !one.isUntyped && haveNulls) {
      this.#fillWithNulls(target, other, levels);
      return undefined;
    }
    const isUntyped = one.isUntyped && !two.isUntyped && target.repetition === 'optional';
    if (isUntyped && other.repetition !== 'repeated' && this.#changes !== undefined) {
      this.#changes.type(target, other);
      return undefined;
    }
    const [field, otherField] = [this.#target.fields?.get(target), this.#other.fields?.get(other)];
    const [type, otherType] = [typeWordsOf(one), typeWordsOf(two)];
    const expected = field === undefined ? type : arrowWordsOf(type, field);
    const got = otherField === undefined ? otherType : arrowWordsOf(otherType, otherField);
    if (expected !== got) return differs(`is ${expected}`, `is ${got}`);
    if (field !== undefined && otherField !== undefined) {
      const [attributes, others] = [attributesOf(field), attributesOf(otherField)];
      for (const key of new Set([...attributes.keys(), ...others.keys()])) {
        const [first, second] = [attributes.get(key), others.get(key)];
        if (first === second) continue;
        if (first === undefined || second === undefined)
          this.ignored.add(`\`${shownPath([key])}\` of column ${shownPath(path)}`);
        else return differs(`has \`${key}\` ${first}`, `has \`${key}\` ${second}`);
      }
    }
    if (one.fieldId !== two.fieldId && one.fieldId !== undefined && two.fieldId !== undefined)
      this.ignored.add('field ids');
    if (one.kind === 'DATE' || one.kind === 'TIMESTAMP' || one.type === PHYSICAL_TYPES.INT96)
      this.#timed ??= shownPath(path);
    const repeats = [target, other].filter(({ repetition }) => repetition === 'repeated').length;
    if (repeats === 1) return differs(`is ${target.repetition}`, `is ${other.repetition}`);
    const below = { path, levels: levelsBelow(levels, target, other) };
    if (one.kind !== undefined && hasEntries(target, one.kind) && hasEntries(other, one.kind))
      return this.#compareEntries(target, other, below);
    if (target.leaf === undefined || other.leaf === undefined) return this.#compareChildren(target, other, below);
    this.leaves[target.leaf] = { index: other.leaf, definitionLevels: mapOf(below.levels), isUntyped: false };
    return undefined;
  }

  #fillWithNulls(target: SchemaNode, other: SchemaNode, levels: readonly number[]): void {
    for (const child of target.children) this.#fillWithNulls(child, other, levels);
    const leaf = this.#target.leaves[target.leaf ?? -1];
    if (target.leaf === undefined || leaf === undefined || other.leaf === undefined) return;
    // The level of a value comes last, and no entry has it.
    const definitionLevels = Uint8Array.from([...levels, leaf.maxDefinition]);
    this.leaves[target.leaf] = { index: other.leaf, definitionLevels, isUntyped: true };
  }
}

/** Returns whether it has the usual three levels; in older files, what repeats may be the element. */
function hasEntries({ name, children }: SchemaNode, kind: string): boolean {
  const [entries] = children;
  if (children.length !== 1 || entries?.repetition !== 'repeated') return false;
  if (kind === 'MAP') return entries.children.length === 2;
  const isElement = entries.name === 'array' || entries.name === `${name}_tuple`;
  return kind === 'LIST' && entries.children.length === 1 && !isElement;
}

interface Above {
  readonly path: readonly string[];
  /** The definition level of the target for each one of the other file, as far as the path goes. */
  readonly levels: readonly number[];
}

/**
 * Raises levels: what is defined down to a node that is required in the other file and optional in the target has the
 * next level there: the last level of the other file means one more. A node that is optional in both adds a level to
 * both.
 */
function levelsBelow(levels: readonly number[], target: SchemaNode, other: SchemaNode): readonly number[] {
  if (target.repetition === 'required') return levels;
  const last = (levels.at(-1) ?? 0) + 1;
  return other.repetition === 'required' ? [...levels.slice(0, -1), last] : [...levels, last];
}

function mapOf(levels: readonly number[]): Uint8Array | undefined {
  return levels.every((level, i) => level === i) ? undefined : Uint8Array.from(levels);
}

/** Columns may have equal names: they are matched in their order. */
function groupByName(nodes: readonly SchemaNode[]): Map<string, SchemaNode[]> {
  const groups = new Map<string, SchemaNode[]>();
  for (const node of nodes) {
    const group = groups.get(node.name);
    if (group === undefined) groups.set(node.name, [node]);
    else group.push(node);
  }
  return groups;
}
