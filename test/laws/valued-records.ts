/** Inputs of which a selector finds a value in each record: of tables, of any bytes, of tar files. */
import fc from 'fast-check';
import type { ShuffleOptions } from '#src/index.js';
import { tarEntry } from '../formats/plain-tar.js';

/** A record, and the value that the selector is to find. */
export interface Valued {
  readonly record: Buffer;
  readonly value: string | Buffer | undefined;
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
    return { record: Buffer.from(cells.join(',') + end), value: site };
  });
const table = fc.record({
  inputs: fc.array(fc.array(row, { maxLength: 50 }), { minLength: 1, maxLength: 4 }),
  header: fc.constantFrom('id,site,note\n', '\ufeff"id","site",note\r\n', 'a comment\nid,site,"no\nte"\n'),
  selector: fc.constantFrom('csv:site', 'csv:2', 'csv:"site"'),
});
export const tables = table.map(({ inputs, header, selector }): ValuedInputs => {
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
    return { record, value };
  });
export const byteLines = fc
  .array(fc.array(byteLine, { maxLength: 60 }), { minLength: 1, maxLength: 4 })
  .map(
    (inputs): ValuedInputs => ({ inputs, job: { records: { by: 'lines' }, selector: '/<([a-c]*)/', missing: 'b' } }),
  );

export const tarFiles = fc
  .tuple(
    fc.array(fc.tuple(fc.nat({ max: 6 }), fc.integer({ min: 0, max: 600 })), { minLength: 1, maxLength: 40 }),
    fc.constantFrom('key', 'key:/^p(\\d)\\//', '/^p(\\d)\\//'),
  )
  .map(([samples, selector]): ValuedInputs => {
    const inputs = samples.map(([patient, byteLength], i): Valued => {
      const key = `p${patient}/${i}`;
      const data = Buffer.alloc(byteLength, i);
      const members = [tarEntry({ name: `${key}.jpg`, data }), tarEntry({ name: `${key}.json` })];
      return { record: Buffer.concat(members), value: selector === 'key' ? key : `${patient}` };
    });
    return { inputs: [inputs], trailer: Buffer.alloc(1024), job: { records: { by: 'webdataset' }, selector } };
  });
