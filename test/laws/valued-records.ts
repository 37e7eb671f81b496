/** Inputs of which a selector finds a value in each record: of objects, of tables, of any bytes, of tar files. */
import fc from 'fast-check';
import type { ShuffleOptions } from '#src/index.js';
import { tarEntry } from '../formats/plain-tar.js';

/** A record, and what equal values have in common; undefined: the record has no value. */
export interface Valued {
  readonly record: Buffer;
  readonly identity: Buffer | undefined;
}

/** A quote and the characters of a string, or the bytes of anything else. */
export function identityOf(value: string | number | boolean | null): Buffer {
  return Buffer.from(typeof value === 'string' ? `"${value}` : JSON.stringify(value));
}

export interface ValuedInputs {
  readonly inputs: readonly (readonly Valued[])[];
  readonly header?: Buffer;
  readonly trailer?: Buffer;
  readonly job: Pick<ShuffleOptions, 'records'> & {
    readonly header?: ShuffleOptions['header'];
    readonly selector: string;
    readonly missing?: string;
  };
}

export const NO_BYTES = Buffer.alloc(0);

/** What the values of these records have in common with equal ones. */
export function identitiesIn({ inputs, job }: ValuedInputs): (record: Buffer) => Buffer {
  const identities = new Map(inputs.flat().map(({ record, identity }) => [record.toString('latin1'), identity]));
  return (record) => identities.get(record.toString('latin1')) ?? identityOf(job.missing ?? '');
}

/** Each input as it is stored. */
export function bytesOfInputs({ inputs, header = NO_BYTES, trailer = NO_BYTES }: ValuedInputs): Buffer[] {
  return inputs.map((records) => Buffer.concat([header, ...records.map(({ record }) => record), trailer]));
}

/** Few values of a field, in several spellings. */
const object = fc
  .tuple(
    fc.oneof(
      fc.constantFrom('a.com', 'é', 'c"d\\', '', '\u{1f600}x', 'y'.repeat(40)),
      fc.string({ unit: 'grapheme', maxLength: 12 }),
      fc.integer({ min: 0, max: 9 }),
      fc.constantFrom(true, null, '1', 'null', undefined),
    ),
    fc.string({ unit: 'grapheme', maxLength: 30 }),
    fc.nat({ max: 3 }),
  )
  .map(([site, text, spelling]): Valued => {
    const record = spelling === 0 ? { meta: { n: [1], site }, text } : { text, meta: { site } };
    const json = JSON.stringify(record).replaceAll('é', spelling === 1 ? '\\u00e9' : 'é');
    const escaped =
      spelling === 2 ? json.replaceAll('a.com', 'a\\u002ecom').replaceAll('\u{1f600}', '\\ud83d\\uDE00') : json;
    const line = spelling === 3 ? escaped.replace('"site":', '"s\\u0069te" : ') : escaped;
    return { record: Buffer.from(`${line}\n`), identity: site === undefined ? undefined : identityOf(site) };
  });
const objects = fc
  .array(fc.array(object, { maxLength: 60 }), { minLength: 1, maxLength: 4 })
  .map((inputs): ValuedInputs => ({ inputs, job: { selector: '.meta.site', missing: 'null' } }));

const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;
const cell = fc.oneof(
  fc.constantFrom('', 'a.com', 'a "b"', 'x,y', 'two\nlines', 'é', 'tab\there', 'z'.repeat(50)),
  fc.string({ unit: 'grapheme', maxLength: 12 }),
);
const row = fc
  .record({
    id: fc.nat({ max: 99 }),
    site: fc.option(cell, { nil: undefined }),
    note: cell,
    style: fc.constantFrom('plain', 'quoted'),
    end: fc.constantFrom('\n', '\r\n'),
  })
  .map(({ id, site, note, style, end }): Valued => {
    const write = (text: string) => (style === 'quoted' || /[",\t\r\n\ufeff]/.test(text) ? quoted(text) : text);
    const cells = site === undefined ? [`${id}`] : [`${id}`, write(site), quoted(note)];
    return {
      record: Buffer.from(cells.join(',') + end),
      identity: site === undefined ? undefined : identityOf(site),
    };
  });
const table = fc.record({
  inputs: fc.array(fc.array(row, { maxLength: 50 }), { minLength: 1, maxLength: 4 }),
  header: fc.constantFrom('id,site,note\n', '\ufeff"id","site",note\r\n', 'a comment\nid,site,"no\nte"\n'),
  selector: fc.constantFrom('csv:site', 'csv:2', 'csv:"site"'),
});
const tables = table.map(({ inputs, header, selector }): ValuedInputs => {
  const lines = header.startsWith('a comment') ? 2 : 1;
  const job = { records: { by: 'csv' }, header: { lines }, selector, missing: 'a.com' } as const;
  return { inputs, header: Buffer.from(header), job };
});

/** Any bytes, in which runs of letters are values. */
const byteLine = fc
  .array(fc.oneof(fc.constantFrom(...Buffer.from('abbc<>\r\0')), fc.integer({ min: 128, max: 255 })), { maxLength: 30 })
  .map((bytes): Valued => {
    const record = Buffer.from([...bytes, 0x0a]);
    const value = /<([a-c]*)/.exec(record.toString('latin1'))?.[1];
    return { record, identity: value === undefined ? undefined : identityOf(value) };
  });
const byteLines = fc
  .array(fc.array(byteLine, { maxLength: 60 }), { minLength: 1, maxLength: 4 })
  .map(
    (inputs): ValuedInputs => ({ inputs, job: { records: { by: 'lines' }, selector: '/<([a-c]*)/', missing: 'b' } }),
  );

const tarFiles = fc
  .tuple(
    fc.array(fc.tuple(fc.nat({ max: 6 }), fc.integer({ min: 0, max: 600 })), { minLength: 1, maxLength: 40 }),
    fc.constantFrom('key', 'key:/^p(\\d)\\//', '/^p(\\d)\\//'),
  )
  .map(([samples, selector]): ValuedInputs => {
    const inputs = samples.map(([patient, byteLength], i): Valued => {
      const key = `p${patient}/${i}`;
      const data = Buffer.alloc(byteLength, i);
      const members = [tarEntry({ name: `${key}.jpg`, data }), tarEntry({ name: `${key}.json` })];
      return { record: Buffer.concat(members), identity: identityOf(selector === 'key' ? key : `${patient}`) };
    });
    return { inputs: [inputs], trailer: Buffer.alloc(1024), job: { records: { by: 'webdataset' }, selector } };
  });

/** Inputs for each kind of selector. */
export const VALUED_INPUTS = [
  ['a field', objects],
  ['a column', tables],
  ['an expression', byteLines],
  ['the key of a sample', tarFiles],
] as const;
