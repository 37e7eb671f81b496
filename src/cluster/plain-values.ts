/**
 * Values of a plan as JSON, with what JSON lacks: whole numbers of 64 bits, infinity, bytes and lists of numbers of one
 * kind. A field that is undefined is left out.
 */
type Lists = Uint8Array | Float64Array | BigUint64Array;

/** The fields that stand for what JSON lacks; no value of a plan has a field of such a name. */
const [WHOLE, INFINITE, BYTES, NUMBERS, WHOLES] = ['#whole', '#infinite', '#bytes', '#numbers', '#wholes'] as const;

/** @throws TypeError for a value that is no plain data. */
export function toJsonValue(value: unknown): unknown {
  if (typeof value === 'bigint') return { [WHOLE]: String(value) };
  if (value === Number.POSITIVE_INFINITY) return { [INFINITE]: true };
  if (isList(value)) return listToJson(value);
  if (Array.isArray(value)) return value.map(toJsonValue);
  if (typeof value === 'function' || typeof value === 'symbol') throw new TypeError(`${typeof value} is no plain data`);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, toJsonValue(field)]));
}

/** The inverse of `toJsonValue`. */
export function fromJsonValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(fromJsonValue);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value);
  const [name, field]: [string, unknown] = entries.length === 1 && entries[0] !== undefined ? entries[0] : ['', null];
  switch (name) {
    case WHOLE:
      return BigInt(String(field));
    case INFINITE:
      return Number.POSITIVE_INFINITY;
    case BYTES:
      return new Uint8Array(Buffer.from(String(field), 'base64'));
    case NUMBERS:
      return Float64Array.from(Array.isArray(field) ? field : [], Number);
    case WHOLES:
      return BigUint64Array.from(Array.isArray(field) ? field : [], (each) => BigInt(String(each)));
    default:
      return Object.fromEntries(entries.map(([key, each]) => [key, fromJsonValue(each)]));
  }
}

function isList(value: unknown): value is Lists {
  return value instanceof Uint8Array || value instanceof Float64Array || value instanceof BigUint64Array;
}

function listToJson(list: Lists): object {
  if (list instanceof Uint8Array) return { [BYTES]: Buffer.from(list).toString('base64') };
  if (list instanceof Float64Array) return { [NUMBERS]: Array.from(list) };
  return { [WHOLES]: Array.from(list, String) };
}
