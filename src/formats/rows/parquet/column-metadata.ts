/**
 * Descriptions of columns that programs store in the metadata of a file, as JSON under keys of their own: what they say of
 * the meaning of values, and how they become those of other columns.
 */
import { canonicalJson, crsNameOf, isUtc, type JsonObject, objectOf } from './canonical-text.js';

/** The names of the columns of the root that stay; false: not all of the column does. */
export type SelectedColumns = ReadonlyMap<string, boolean>;

/** Meaning of the values of each column; undefined if the column has no values. */
type Meanings = ReadonlyMap<string, string | undefined>;

/** The functions for the descriptions under one key. */
export interface ColumnMetadata {
  /** Cuts it down to some columns. @returns undefined: it cannot be. */
  cut(description: JsonObject, selected: SelectedColumns): JsonObject | undefined;
  meaningsOf(description: JsonObject): Meanings;
  /** One for the rows of both. @returns `one` if it is good for them. */
  merge(one: JsonObject, other: JsonObject): JsonObject;
}

const NO_MEANINGS: Meanings = new Map();

export const PANDAS = 'pandas';
export const SPARK = 'org.apache.spark.sql.parquet.row.metadata';

/** Descriptions of all columns, by key. Undefined: they are left out where the columns are not as they say. */
export const COLUMN_METADATA: ReadonlyMap<string, ColumnMetadata | undefined> = new Map([
  ['parquet.avro.schema', undefined],
  ['avro.schema', undefined],
  ['iceberg.schema', undefined],
  // What it says of values is compared with Arrow's schema.
  [PANDAS, { cut: cutPandas, meaningsOf: () => NO_MEANINGS, merge: (one) => one }],
  ['huggingface', { cut: cutHuggingFace, meaningsOf: featureMeanings, merge: mergeFeatures }],
  [SPARK, { cut: cutSpark, meaningsOf: sparkMeanings, merge: (one) => one }],
  ['geo', { cut: cutGeo, meaningsOf: geoMeanings, merge: mergeGeo }],
] satisfies [string, ColumnMetadata | undefined][]);

/** Cuts the description to some columns. It says nothing of fields within columns. */
function cutPandas(pandas: JsonObject, selected: SelectedColumns): JsonObject | undefined {
  const { columns, index_columns: indexColumns } = pandas;
  if (!Array.isArray(columns) || !Array.isArray(indexColumns)) return undefined;
  return {
    ...pandas,
    index_columns: indexColumns.filter((column) => typeof column !== 'string' || selected.has(column)),
    columns: columns.filter((column) => {
      const { field_name: field, name } = objectOf(column) ?? {};
      return selected.has(String(field ?? name));
    }),
  };
}

/** `info.features` has the type of each column by its name, and those of the fields in it. */
function cutHuggingFace(description: JsonObject, selected: SelectedColumns): JsonObject | undefined {
  const features = cutEntries(featuresOf(description), selected);
  return features === undefined ? undefined : withFeatures(description, features);
}

function featuresOf(description: JsonObject): JsonObject | undefined {
  return objectOf(objectOf(description['info'])?.['features']);
}

function withFeatures(description: JsonObject, features: JsonObject): JsonObject {
  return { ...description, info: { ...objectOf(description['info']), features } };
}

function cutGeo(description: JsonObject, selected: SelectedColumns): JsonObject | undefined {
  const columns = cutEntries(objectOf(description['columns']), selected, true);
  const isPrimarySelected = selected.has(String(description['primary_column']));
  return columns === undefined || !isPrimarySelected ? undefined : { ...description, columns };
}

function cutSpark(description: JsonObject, selected: SelectedColumns): JsonObject | undefined {
  const { fields } = description;
  if (!Array.isArray(fields) || !areAllWhole(selected)) return undefined;
  return { ...description, fields: fields.filter((field) => selected.has(String(objectOf(field)?.['name']))) };
}

function cutEntries(
  entries: JsonObject | undefined,
  selected: SelectedColumns,
  maybeParts = false,
): JsonObject | undefined {
  if (entries === undefined || !(maybeParts || areAllWhole(selected)) || areReordered(entries)) return undefined;
  return Object.fromEntries(Object.entries(entries).filter(([name]) => selected.has(name)));
}

/** JavaScript sorts such names to the front. */
function areReordered(entries: JsonObject): boolean {
  return Object.keys(entries).some((name) => /^\d+$/.test(name));
}

function areAllWhole(selected: SelectedColumns): boolean {
  return [...selected.values()].every((isWhole) => isWhole);
}

/** Returns what pandas knows of columns beyond Parquet's schema. */
export function columnsOfPandas({ columns }: JsonObject) {
  const described = Array.isArray(columns) ? columns.map((column) => objectOf(column) ?? {}) : [];
  return described.map(({ field_name: field, name, metadata }) => {
    const { timezone, ordered } = objectOf(metadata) ?? {};
    const isUsual = typeof timezone !== 'string' || isUtc(timezone);
    return { name: String(field ?? name), timezone: isUsual ? undefined : timezone, isOrdered: ordered === true };
  });
}

/** Returns what pandas makes of a table beside its columns. */
export function frameOfPandas({ index_columns: index, attributes }: JsonObject): string {
  const names = Array.isArray(index) ? index.filter((column) => typeof column === 'string') : [];
  return canonicalJson([names, attributes ?? {}]);
}

/** How values are decoded, not what they are. */
const DECODERS = ['Value', 'Image', 'Audio', 'Video', 'Pdf', 'Nifti', 'Mesh', 'Json', 'Translation'];

function featureMeanings(description: JsonObject): Meanings {
  const meanings = new Map<string, string | undefined>();
  const visit = (feature: unknown, path: string): void => {
    const { _type: type, ...rest } = objectOf(feature) ?? {};
    if (Array.isArray(feature)) visit(feature[0], path);
    else if (typeof type !== 'string') {
      for (const [name, each] of Object.entries(rest)) visit(each, path === '' ? name : `${path}.${name}`);
    } else if (/^(Large)?(List|Sequence)$/.test(type)) {
      const length = Number(rest['length'] ?? -1);
      if (length >= 0) meanings.set(`${path}[]`, `a list of ${length}`);
      visit(rest['feature'], path);
    } else if (isNull(feature)) meanings.set(path, undefined);
    else if (Array.isArray(rest['names'])) meanings.set(path, `${type}(${rest['names'].join(', ')})`);
    else if (!DECODERS.includes(type)) meanings.set(path, `${type} ${canonicalJson({ ...rest, id: undefined })}`);
  };
  visit(featuresOf(description), '');
  return meanings;
}

/** A column of nulls has no type. */
function isNull(feature: unknown): boolean {
  const { _type: type, dtype } = objectOf(feature) ?? {};
  return type === 'Value' && dtype === 'null';
}

function mergeFeatures(one: JsonObject, other: JsonObject): JsonObject {
  const merged = (feature: unknown, match: unknown): unknown => {
    if (isNull(feature)) return match ?? feature;
    const [object, matches] = [objectOf(feature), objectOf(match)];
    if (object === undefined || matches === undefined || areReordered(object)) return feature;
    const entries = Object.entries(object).map(([name, each]) => [name, merged(each, matches[name])] as const);
    return entries.every(([name, each]) => each === object[name]) ? feature : Object.fromEntries(entries);
  };
  const features = featuresOf(one);
  const changed = objectOf(merged(features, featuresOf(other)));
  return changed === undefined || changed === features ? one : withFeatures(one, changed);
}

const NO_MEANING_IN_SPARK = ['comment', '__CHAR_VARCHAR_TYPE_STRING'];

function sparkMeanings({ fields }: JsonObject): Meanings {
  const described = Array.isArray(fields) ? fields.map((field) => objectOf(field) ?? {}) : [];
  return new Map(
    described.flatMap(({ name, type, metadata }): [string, string][] => {
      const meaningful = Object.entries(objectOf(metadata) ?? {}).filter(([key]) => !NO_MEANING_IN_SPARK.includes(key));
      const { class: userType } = objectOf(type) ?? {};
      const words = userType === undefined ? [] : [`class ${userType}`];
      if (meaningful.length > 0) words.push(canonicalJson(Object.fromEntries(meaningful)));
      return words.length === 0 ? [] : [[String(name), words.join(' with ')]];
    }),
  );
}

function geoMeanings({ columns }: JsonObject): Meanings {
  return new Map(
    Object.entries(objectOf(columns) ?? {}).map(([name, column]) => {
      const {
        geometry_types: _,
        bbox: __,
        covering: ___,
        encoding,
        crs = 'OGC:CRS84',
        ...rest
      } = objectOf(column) ?? {};
      const more = Object.keys(rest).length === 0 ? '' : ` with ${canonicalJson(rest)}`;
      return [name, `${encoding} in ${crs === null ? 'an unknown system' : crsNameOf(crs)}${more}`];
    }),
  );
}

/** Kinds of geometries are those of both; a box of the rows of one file is none of the others. */
function mergeGeo(one: JsonObject, other: JsonObject): JsonObject {
  const [columns, others] = [objectOf(one['columns']), objectOf(other['columns'])];
  if (columns === undefined || others === undefined || areReordered(columns)) return one;
  const merged = Object.entries(columns).map(([name, column]) => {
    const [own, match] = [objectOf(column) ?? {}, objectOf(others[name]) ?? {}];
    const [{ bbox, geometry_types: types, ...rest }, isSame] = [own, canonicalJson(own) === canonicalJson(match)];
    if (isSame) return [name, column] as const;
    const isSameBox = canonicalJson(bbox) === canonicalJson(match['bbox']);
    return [
      name,
      {
        ...rest,
        geometry_types: kindsOfBoth(types, match['geometry_types']),
        ...(isSameBox ? { bbox } : {}),
      },
    ] as const;
  });
  const isSame = merged.every(([name, column]) => column === columns[name]);
  return isSame ? one : { ...one, columns: Object.fromEntries(merged) };
}

/** None of them: kinds are not known. */
function kindsOfBoth(one: unknown, other: unknown): unknown[] {
  if (!Array.isArray(one) || !Array.isArray(other) || one.length === 0 || other.length === 0) return [];
  return [...new Set([...one, ...other])];
}
