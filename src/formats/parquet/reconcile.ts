/**
 * Files of one table whose schemas differ in what loses nothing: columns in another order, and columns that are required
 * in one file and optional in another. Their rows are written as one target schema says.
 */
import { InputError } from '../../errors.js';
import { annotationOf, describeAnnotation as describe, meanTheSame } from './annotation.js';
import { differingKeys } from './key-values.js';
import { encodeElements, readSchema, type SchemaNode, shownPath, type TableSchema } from './schema.js';
import { isInColumns, selectNodes } from './select-columns.js';

/** Where a leaf of the target lies in another file. */
export interface LeafSource {
  /** Among the leaves of the other file. */
  readonly index: number;
  /** For each definition level of the other file, the target's; undefined: they are the same. */
  readonly definitionLevels: Uint8Array | undefined;
}

/** What forbids to mix the rows of two files. */
export interface SchemaDifference {
  /** For a message: a dotted name. */
  readonly column: string;
  /** Complete `in FILE it ...`. */
  readonly expected: string;
  readonly got: string;
}

export interface UnifiedSchema {
  readonly schema: TableSchema;
  /** For messages: what differs in the metadata, of which the target's is taken. */
  readonly ignored: readonly string[];
}

export type Unified = UnifiedSchema | { readonly difference: SchemaDifference };
export type Reconciled = { readonly leaves: readonly LeafSource[] } | { readonly difference: SchemaDifference };

/**
 * @returns the schema of `target`, in which a column that is optional in `other` is optional too. It is `target` itself
 * where nothing changes. The rest of the metadata is that of `target`.
 */
export function unify(target: TableSchema, other: TableSchema): Unified {
  const ignored = differingKeys(target.keyValues, other.keyValues).map((key) => `\`${shownPath([key])}\``);
  if (haveSameElements(target, other)) return { schema: target, ignored };
  const { root } = readSchema(target.elements);
  const relaxed = new Set<SchemaNode>();
  const walk = new Walk(target.elements, other.elements, (node) => relaxed.add(node));
  const difference = walk.compare(root, readSchema(other.elements).root);
  if (difference !== undefined) return { difference };
  if (walk.haveOtherFieldIds) ignored.push('field ids');
  if (relaxed.size === 0) return { schema: target, ignored };
  const elements = encodeElements(target.elements, relaxedTree(root, relaxed));
  return { schema: { ...target, elements, leaves: readSchema(elements).leaves }, ignored };
}

/**
 * @param target as `unify` made it of all files.
 * @param columns the selection with which the target was made: other columns of the file do not count.
 */
export function reconcile(target: TableSchema, other: TableSchema, columns?: readonly string[]): Reconciled {
  if (haveSameElements(target, other)) {
    return { leaves: target.leaves.map((_, index) => ({ index, definitionLevels: undefined })) };
  }
  const { root } = readSchema(target.elements);
  const { root: otherRoot } = readSchema(other.elements);
  const names = new Set(columns);
  const isSelected = (leaf: number) => columns === undefined || isInColumns(other.leaves[leaf], names);
  const walk = new Walk(target.elements, other.elements);
  const difference = walk.compare(root, selectNodes(otherRoot, isSelected) ?? { ...otherRoot, children: [] });
  return difference === undefined ? { leaves: walk.leaves } : { difference };
}

/** @param first whose schema is the target. */
export function schemasDiffer(difference: SchemaDifference, first: string, path: string): InputError {
  const { column, got, expected } = difference;
  const problem = `its column ${column} ${got}, but in ${first} ${expected}; all inputs must have the same columns`;
  return new InputError('ERR_INPUT_FORMAT', `${path}: ${problem}`);
}

function haveSameElements({ elements: one }: TableSchema, { elements: other }: TableSchema): boolean {
  return Buffer.compare(one, other) === 0;
}

function relaxedTree(node: SchemaNode, relaxed: ReadonlySet<SchemaNode>): SchemaNode {
  const children = node.children.map((child) => relaxedTree(child, relaxed));
  return { ...node, children, repetition: relaxed.has(node) ? 'optional' : node.repetition };
}

/** Compares two trees, from the root down. */
class Walk {
  readonly #elements: Uint8Array;
  readonly #otherElements: Uint8Array;
  readonly #relax: ((node: SchemaNode) => void) | undefined;
  /** By leaf of the target. */
  readonly leaves: LeafSource[] = [];
  haveOtherFieldIds = false;

  /** @param relax may make a required node of the target optional. */
  constructor(elements: Uint8Array, otherElements: Uint8Array, relax?: (node: SchemaNode) => void) {
    this.#elements = elements;
    this.#otherElements = otherElements;
    this.#relax = relax;
  }

  compare(target: SchemaNode, other: SchemaNode): SchemaDifference | undefined {
    return this.#compareChildren(target, other, { path: [], levels: [0] });
  }

  #compareChildren(target: SchemaNode, other: SchemaNode, above: Above): SchemaDifference | undefined {
    const unmatched = groupByName(other.children);
    for (const child of target.children) {
      const path = [...above.path, child.name];
      const match = unmatched.get(child.name)?.shift();
      if (match === undefined) return { column: shownPath(path), expected: 'exists', got: 'is missing' };
      const difference = this.#compareNodes(child, match, { path, levels: above.levels });
      if (difference !== undefined) return difference;
    }
    for (const [rest] of unmatched.values()) {
      if (rest === undefined) continue;
      return { column: shownPath([...above.path, rest.name]), expected: 'is missing', got: 'exists' };
    }
    return undefined;
  }

  #compareNodes(target: SchemaNode, other: SchemaNode, { path, levels }: Above): SchemaDifference | undefined {
    const differs = (expected: string, got: string) => ({ column: shownPath(path), expected, got });
    const [expected, got] = [annotationOf(this.#elements, target), annotationOf(this.#otherElements, other)];
    if (!meanTheSame(expected, got)) return differs(`is ${describe(expected)}`, `is ${describe(got)}`);
    if (expected.fieldId !== got.fieldId) this.haveOtherFieldIds = true;
    const repeats = [target, other].filter(({ repetition }) => repetition === 'repeated').length;
    if (repeats === 1) return differs(`is ${target.repetition}`, `is ${other.repetition}`);
    if (target.repetition === 'required' && other.repetition === 'optional') {
      if (this.#relax === undefined) return differs('is required', 'is optional');
      this.#relax(target);
    }
    const below = { path, levels: levelsBelow(levels, target, other) };
    if (target.leaf === undefined || other.leaf === undefined) return this.#compareChildren(target, other, below);
    this.leaves[target.leaf] = { index: other.leaf, definitionLevels: mapOf(below.levels) };
    return undefined;
  }
}

interface Above {
  readonly path: readonly string[];
  /** For each definition level of the other file, as far as the path goes: that of the target. */
  readonly levels: readonly number[];
}

/**
 * What is defined down to a node that is required in the other file and optional in the target has the next level there:
 * the last level of the other file means one more. A node that is optional in both adds a level to both.
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
