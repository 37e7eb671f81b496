/** Gives texts of metadata one form, so that texts of one meaning are equal. */

export type JsonObject = Readonly<Record<string, unknown>>;

export function parseObject(text: string): JsonObject | undefined {
  try {
    return objectOf(JSON.parse(text));
  } catch {
    return undefined;
  }
}

export function objectOf(value: unknown): JsonObject | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
}

export function isUtc(timezone: string): boolean {
  return /^(|Z|UTC|GMT|Zulu|Etc\/(UTC|GMT|UCT|Zulu)|[+-]00:?00)$/i.test(timezone);
}

/** JSON with sorted keys, in which a coordinate reference system has its short name; other texts as they are. */
export function canonicalText(text: string): string {
  try {
    return canonicalJson(JSON.parse(text));
  } catch {
    return text;
  }
}

export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(', ')}]`;
  const object = objectOf(value);
  if (object === undefined) return JSON.stringify(value) ?? 'nothing';
  const entries = Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, each]) => `${JSON.stringify(key)}: ${key === 'crs' ? crsNameOf(each) : canonicalJson(each)}`).join(', ')}}`;
}

/**
 * Returns the name of a coordinate reference system. PROJJSON differs with the version of PROJ, authority and code do not.
 */
export function crsNameOf(crs: unknown): string {
  const { authority, code } = objectOf(objectOf(crs)?.['id']) ?? {};
  if (typeof crs === 'string') return crs;
  return authority === undefined ? canonicalJson(crs) : `${authority}:${code}`;
}
