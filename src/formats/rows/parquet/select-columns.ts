/** `--columns`: a table of some of the columns of another. */
import { UsageError } from '../../../errors.js';
import { editsBetween } from '../../../values/known-options.js';
import { annotationOf } from './annotation.js';
import { cutKeyValues, type MetadataCut } from './key-values.js';
import type { Leaf } from './leaf.js';
import { encodeElements, readSchema, type SchemaNode, shownPath, type TableSchema } from './schema.js';
import { THRIFT, ThriftReader, ThriftWriter } from './thrift.js';

/** @param columns dotted names, of leaves or of groups. */
export function isInColumns(leaf: Leaf | undefined, columns: ReadonlySet<string>): boolean {
  return leaf?.path.some((_, i) => columns.has(leaf.path.slice(0, i + 1).join('.'))) ?? false;
}

/** @returns undefined: no leaf below is selected. */
export function selectNodes(root: SchemaNode, isSelected: (leaf: number) => boolean): SchemaNode | undefined {
  if (root.leaf !== undefined) return isSelected(root.leaf) ? root : undefined;
  const children = root.children.map((child) => selectNodes(child, isSelected)).filter((child) => child !== undefined);
  if (children.length === 0) return undefined;
  return children.every((child, i) => child === root.children[i]) && children.length === root.children.length
    ? root
    : { ...root, children };
}

export interface Selection {
  readonly schema: TableSchema;
  /** Metadata that described all columns: what became of it. */
  readonly cut: MetadataCut;
}

/**
 * @param columns dotted names, of leaves or of groups; their order does not count.
 * @throws UsageError for a name that the table lacks, or that is a part of a map, list or variant that needs its other parts.
 */
export function selectColumns(schema: TableSchema, columns: readonly string[], path: string): Selection {
  const { leaves, elements, columnOrders, keyValues } = schema;
  requireColumns(leaves, columns, path);
  const names = new Set(columns);
  const isSelected = (leaf: number) => isInColumns(leaves[leaf], names);
  const { root } = readSchema(elements);
  requireWholeGroups(elements, root, isSelected);
  const selected = selectNodes(root, isSelected);
  if (selected === undefined || selected === root) return { schema, cut: { shortened: [], dropped: [] } };
  const cutElements = encodeElements(elements, selected);
  const { keyValues: cutPairs, ...cut } = cutKeyValues(keyValues, root, selected);
  return {
    schema: {
      ...schema,
      elements: cutElements,
      leaves: readSchema(cutElements).leaves,
      columnOrders: cutOrders(columnOrders, isSelected),
      keyValues: cutPairs,
    },
    cut,
  };
}

function cutOrders(orders: Uint8Array | undefined, isSelected: (leaf: number) => boolean): Uint8Array | undefined {
  if (orders === undefined) return undefined;
  const selectedOrders: Uint8Array[] = [];
  const reader = new ThriftReader(orders, 0, THRIFT.LIST);
  reader.list((leaf) => {
    if (isSelected(leaf)) selectedOrders.push(reader.raw().bytes);
  });
  const writer = new ThriftWriter();
  writer.list(THRIFT.STRUCT, selectedOrders.length, (i) => writer.raw(THRIFT.STRUCT, selectedOrders[i] ?? NO_ORDER));
  return writer.take();
}

const NO_ORDER = Uint8Array.of(0);

/**
 * Fails if a part is chosen of what programs take for one value: a variant, the keys and values of a map, the fields of
 * a list's element.
 */
function requireWholeGroups(elements: Uint8Array, root: SchemaNode, isSelected: (leaf: number) => boolean): void {
  const isAnyOf = (node: SchemaNode): boolean =>
    node.leaf === undefined ? node.children.some(isAnyOf) : isSelected(node.leaf);
  const areAllOf = (node: SchemaNode): boolean =>
    node.leaf === undefined ? node.children.every(areAllOf) : isSelected(node.leaf);
  const visit = (node: SchemaNode, path: readonly string[]): void => {
    if (node.leaf !== undefined || areAllOf(node) || !isAnyOf(node)) return;
    const { kind } = annotationOf(elements, node);
    const isOfEntries = kind === 'MAP' || kind === 'LIST';
    const lacksParts = isOfEntries && !node.children.every((entry) => entry.children.every(isAnyOf));
    if (kind === 'VARIANT' || lacksParts) {
      const name = shownPath(path);
      throw new UsageError(`\`columns\` selects a part of ${name}, a ${kind}; expected all of it: give ${name}`);
    }
    for (const child of node.children) visit(child, [...path, child.name]);
  };
  visit(root, []);
}

const MOST_NAMED = 5;

function requireColumns(leaves: readonly Leaf[], columns: readonly string[], path: string): void {
  if (columns.length === 0) throw new UsageError('`columns` is empty; expected names of columns');
  const known = new Set<string>();
  for (const { path: names } of leaves) for (const i of names.keys()) known.add(names.slice(0, i + 1).join('.'));
  const missing = columns.find((column) => !known.has(column));
  if (missing === undefined) return;
  const near = namesNear(missing, known);
  const advice =
    near.length > 0
      ? `did you mean ${near.map((name) => shownPath([name])).join(' or ')}?`
      : `it has ${listed(leaves.map((leaf) => shownPath(leaf.path)))}`;
  throw new UsageError(`\`columns\`: ${path} has no column ${shownPath([missing])}; ${advice}`);
}

function listed(names: readonly string[]): string {
  const rest = names.length - MOST_NAMED;
  return rest > 0 ? `${names.slice(0, MOST_NAMED).join(', ')} and ${rest} more` : names.join(', ');
}

/** Likewise written names, and names that end with the given one, as `text` in `document.text`. */
function namesNear(name: string, known: ReadonlySet<string>): string[] {
  const mostEdits = Math.max(1, name.length / 3);
  return [...known]
    .map((each) => ({
      each,
      edits: each.endsWith(`.${name}`) ? 0 : editsBetween(name.toLowerCase(), each.toLowerCase()),
    }))
    .filter(({ edits }) => edits <= mostEdits)
    .sort((a, b) => a.edits - b.edits)
    .slice(0, 3)
    .map(({ each }) => each);
}
