/** Schemas: from elements to leaves, and elements written again. */
import { describe, expect, it } from 'vitest';
import { nameOfLeaf } from '#src/formats/rows/parquet/leaf.js';
import { encodeElements, readSchema, type SchemaNode, shownPath } from '#src/formats/rows/parquet/schema.js';
import { THRIFT, ThriftWriter } from '#src/formats/rows/parquet/thrift.js';
import { elementsOf, type PlainElement } from './plain-footer.js';

const tree: PlainElement = {
  name: 'schema',
  children: [
    { name: 'id', type: 'INT64', fieldId: 7, later: 'of later times' },
    {
      name: 'tags',
      repetition: 1,
      converted: 3,
      children: [{ name: 'list', repetition: 2, children: [{ name: 'element', repetition: 1, type: 'BYTE_ARRAY' }] }],
    },
    {
      name: 'at',
      children: [
        { name: 'x', type: 'FIXED_LEN_BYTE_ARRAY', typeLength: 16 },
        { name: 'y', repetition: 2, type: 'INT32' },
      ],
    },
  ],
};

describe('readSchema', () => {
  it('gives the leaves with their levels', () => {
    const { leaves } = readSchema(elementsOf(tree));
    const shown = leaves.map(
      (leaf) => `${nameOfLeaf(leaf)} ${leaf.type}${leaf.typeLength} ${leaf.maxDefinition} ${leaf.maxRepetition}`,
    );
    expect(shown).toEqual([
      'id INT640 0 0',
      'tags.list.element BYTE_ARRAY0 3 1',
      'at.x FIXED_LEN_BYTE_ARRAY16 0 0',
      'at.y INT320 1 1',
    ]);
  });

  const nested = (depth: number, repetition: number): PlainElement =>
    depth === 0 ? { name: 'x', type: 'INT32' } : { name: 'g', repetition, children: [nested(depth - 1, repetition)] };

  it('takes 254 groups in each other, and no more', () => {
    const [leaf] = readSchema(elementsOf(nested(255, 2))).leaves;
    expect(leaf).toMatchObject({ maxDefinition: 254, maxRepetition: 254 });
    expect(() => readSchema(elementsOf(nested(256, 0)))).toThrow(/groups in more than 255 groups/);
    const deep = nested(255, 2);
    const last = (of: PlainElement): PlainElement =>
      of.children?.[0]?.children === undefined
        ? { ...of, children: [{ name: 'x', type: 'INT32', repetition: 1 }] }
        : { ...of, children: [last(of.children[0])] };
    expect(readSchema(elementsOf(last(deep))).leaves[0]).toMatchObject({ maxDefinition: 255, maxRepetition: 254 });
  });

  const raw = (count: number, ...elements: ((writer: ThriftWriter) => void)[]) => {
    const writer = new ThriftWriter();
    writer.list(THRIFT.STRUCT, count, (i) => writer.struct(() => elements[i]?.(writer)));
    return writer.take();
  };
  const group = (children: number) => (writer: ThriftWriter) => void writer.field(4).binary('g').field(5).i32(children);
  const leaf = (writer: ThriftWriter) => void writer.field(1).i32(1).field(4).binary('x');

  it.each<[string, Uint8Array, RegExp]>([
    ['no elements', raw(0), /has no columns/],
    ['no columns', raw(1, group(0)), /has no columns/],
    ['too few children', raw(2, group(2), leaf), /ends before all children/],
    ['too many elements', raw(3, group(1), leaf, leaf), /belong to no group/],
    ['2^31 - 1 columns', raw(2, group(2 ** 31 - 1), leaf), /claims 2147483647 children of g/],
    ['fewer than 0 columns', raw(2, group(-1), leaf), /claims -1 children of g/],
    ['a group of nothing', raw(2, group(1), group(0)), /a column of no type, g/],
    [
      'an unknown type',
      raw(2, group(1), (writer) => void writer.field(1).i32(8).field(4).binary('x')),
      /unknown type 8/,
    ],
    [
      'values of no bytes',
      raw(2, group(1), (writer) => void writer.field(1).i32(7).field(4).binary('x')),
      /values of 0 bytes/,
    ],
    ['no name', raw(2, group(1), (writer) => void writer.field(1).i32(1)), /without a name/],
    [
      'a repetition that does not exist',
      raw(2, group(1), (writer) => void writer.field(1).i32(1).field(3).i32(3).field(4).binary('x\n')),
      /x\\u000a repeats in a way 3/,
    ],
  ])('refuses %s', (_, elements, line) => {
    expect(() => readSchema(elements)).toThrow(line);
  });

  it('refuses deep paths of many leaves', () => {
    const wide = (depth: number): PlainElement =>
      depth === 0
        ? { name: 'g', children: Array.from({ length: 20_000 }, () => ({ name: 'x', type: 'INT32' }) as const) }
        : { name: 'g', children: [wide(depth - 1)] };
    expect(() => readSchema(elementsOf(wide(250)))).toThrow(/too many, nested too deeply/);
  });
});

describe('encodeElements', () => {
  const elements = elementsOf(tree);
  const { root } = readSchema(elements);

  it('copies what did not change', () => {
    expect(encodeElements(elements, root)).toEqual(elements);
  });

  it('changes repetition and number of children, and nothing else', () => {
    const changed = (node: SchemaNode): SchemaNode => ({
      ...node,
      repetition: node.repetition === 'required' ? 'optional' : node.repetition,
      children: node.children.filter(({ name }) => name !== 'y').map(changed),
    });
    const [id, tags, at] = tree.children ?? [];
    const expected = {
      name: 'schema',
      children: [
        { ...id, name: 'id', repetition: 1 },
        { ...tags, name: 'tags' },
        {
          ...at,
          name: 'at',
          repetition: 1,
          children: [{ name: 'x', type: 'FIXED_LEN_BYTE_ARRAY', typeLength: 16, repetition: 1 }],
        },
      ],
    } as const;
    const rewritten = encodeElements(elements, { ...changed(root), repetition: 'required' });
    expect(rewritten).toEqual(elementsOf(expected));
  });
});

describe('shownPath', () => {
  it('is one line of some length', () => {
    expect(shownPath(['a', 'b c', 'é'])).toBe('a.b c.é');
    expect(shownPath(['a\u2028', 'b\n'])).toBe('a\\u2028.b\\u000a');
    expect(shownPath(['x'.repeat(1000)])).toBe(`${'x'.repeat(200)}...`);
  });
});
